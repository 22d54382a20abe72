// Files that a user names, where each is read: a pipe that nobody writes is not waited for, and a device that never ends is
// not read. Links, as a shell's <(…) gives them, are followed to what they name.

import { execFileSync } from 'node:child_process';
import { copyFileSync, mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { openDataset } from '../../../formats/datasets/index.ts';
import { readPairs } from '../../../formats/datasets/pairs.ts';
import { describeRubric } from '../../../environments/own/rubric/rubric-environment.ts';
import { weightsHash } from '../../../inference/tokenizer/model-files.ts';
import { loadTokenizer } from '../../../inference/tokenizer/tokenizer.ts';
import { readRegular, streamRegular } from '../../../local/machine/regular-file.ts';
import { resolveOptions } from '../../../run/config.ts';
import { streamOf } from '../../../records/disk/facts.ts';
import { scratchFolder } from '../../support/scratch-folder.ts';

const folder = scratchFolder();
const pipe = join(folder, 'pipe');
execFileSync('mkfifo', [pipe]);
let names = 0;
const linked = (to: string, end: string): string => {
  const path = join(folder, `${names++}${end}`);
  symlinkSync(to, path);
  return path;
};
async function all(items: AsyncIterable<unknown>): Promise<void> {
  for await (const _ of items);
}
const READERS: Readonly<Record<string, readonly [end: string, read: (path: string) => unknown]>> = {
  '--config': ['.yaml', (path) => resolveOptions({ configFile: path })],
  'a data set': ['.jsonl', (path) => all(openDataset(path).rows())],
  'a packed data set': ['.jsonl.gz', (path) => all(openDataset(path).rows())],
  'a table': ['.csv', (path) => all(openDataset(path).rows())],
  'a data set of Parquet': ['.parquet', (path) => all(openDataset(path).rows())],
  'pairs to judge': ['.jsonl', (path) => all(readPairs(path, path, undefined))],
  'a rubric': ['.json', (path) => describeRubric(path)],
  'an export to check': ['.jsonl', (path) => all(streamOf(path))],
};

describe.each(Object.entries(READERS))('%s', (_, [end, read]) => {
  test.each([
    [pipe, 'is a pipe, not a regular file.'],
    ['/dev/zero', 'is a device, not a regular file.'],
  ])('is not read from %s', async (to, said) => {
    await expect((async () => read(linked(to, end)))()).rejects.toThrow(said);
  });
});

describe("a model's folder", () => {
  const model = join(folder, 'model');
  mkdirSync(join(model, 'onnx'), { recursive: true });
  test.each(['tokenizer.json', 'tokenizer_config.json', 'chat_template.jinja', 'onnx/model.onnx'])(
    'is not waited for where %s is a pipe',
    async (name) => {
      for (const file of ['tokenizer.json', 'tokenizer_config.json']) {
        rmSync(join(model, file), { force: true });
        copyFileSync(join(import.meta.dirname, '../../../models/tiny', file), join(model, file));
      }
      rmSync(join(model, name), { force: true });
      symlinkSync(pipe, join(model, name));
      const reading = name.startsWith('onnx') ? weightsHash(model) : loadTokenizer(model);
      // The template is optional.
      if (name === 'chat_template.jinja') await expect(reading).resolves.toBeDefined();
      else await expect(reading).rejects.toThrow();
      rmSync(join(model, name));
    },
  );
});

describe('a regular file', () => {
  test('has a most, and is read as far as it was long', async () => {
    const path = join(folder, 'plain');
    writeFileSync(path, 'grüße');
    expect(readRegular(path, 7)).toBe('grüße');
    expect(() => readRegular(path, 6)).toThrow('has 7 bytes');
    const stream = streamRegular(path);
    writeFileSync(path, 'and more', { flag: 'a' });
    const parts: Buffer[] = [];
    for await (const part of stream) parts.push(part as Buffer);
    expect(Buffer.concat(parts).toString()).toBe('grüße');
    writeFileSync(path, '');
    expect(readRegular(path, 0)).toBe('');
    await expect(all(streamRegular(path))).resolves.toBeUndefined();
    expect(() => readRegular(folder, 1)).toThrow('is a folder, not a regular file');
  });
});
