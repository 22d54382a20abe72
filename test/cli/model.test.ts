// The model as a run keeps it: workers stand elsewhere, so its folder is absolute.

import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { homedir, tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { checkModel, withAbsolutePaths } from '../../cli/model.ts';
import { DEFAULT_OPTIONS } from '../../options.ts';
import { ModelError } from '../../domain/errors.ts';
import { scriptedIo } from './scripted-io.ts';

let cwd: string;
beforeAll(() => {
  cwd = mkdtempSync(join(tmpdir(), 'everturn-model-'));
  mkdirSync(join(cwd, 'here'));
});
afterAll(() => rmSync(cwd, { recursive: true, force: true }));

test.each([
  ['tiny', 'tiny'],
  ['transformers:here', 'transformers:CWD/here'],
  ['transformers:./missing', 'transformers:CWD/missing'],
  ['transformers:.', 'transformers:CWD'],
  ['transformers:/models/x', 'transformers:/models/x'],
  ['transformers:~/x', `transformers:${join(homedir(), 'x')}`],
  ['transformers:org/name', 'transformers:org/name'],
])('%s is kept as %s', (model, kept) => {
  expect(withAbsolutePaths({ ...DEFAULT_OPTIONS, model }, cwd).model).toBe(kept.replace('CWD', cwd));
});

test('a tokenizer’s folder is absolute too', () => {
  expect(withAbsolutePaths({ ...DEFAULT_OPTIONS, tokenizer: 'here' }, cwd).tokenizer).toBe(join(cwd, 'here'));
});

test('a model folder that is missing, or holds no model, is refused before anything is started', async () => {
  const io = scriptedIo({ cwd });
  for (const folder of ['missing', 'here']) {
    const model = `transformers:${join(cwd, folder)}`;
    await expect(checkModel({ ...DEFAULT_OPTIONS, model }, io)).rejects.toBeInstanceOf(ModelError);
  }
});
