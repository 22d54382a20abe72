// A rubric's file: each that cannot be used is refused by the field that is wrong.

import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { describeEnvironment } from '../../environments/own/own-environments.ts';
import { parseSpec } from '../../environments/own/spec.ts';

const EXAMPLE = readFileSync(join(import.meta.dirname, '../../examples/environments/rubric.json'), 'utf8');
const folder = mkdtempSync(join(tmpdir(), 'everturn-rubric-file-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

function described(changes: object) {
  const file = join(folder, 'rubric.json');
  writeFileSync(file, JSON.stringify({ ...(JSON.parse(EXAMPLE) as object), ...changes }));
  return describeEnvironment(parseSpec(`rubric:${file}`, '/'), () => undefined);
}

describe('a rubric', () => {
  test.each([
    [{ choices: [{ choice: 'only', verdict: 'right' }] }, 'choices'],
    [{ choices: [{ choice: 'a', verdict: 'right' }, { choice: 'b' }] }, 'choices.1'],
    [
      {
        choices: [
          { choice: 'a', verdict: 'right' },
          { choice: ' A', verdict: 'wrong' },
        ],
        examples: [],
      },
      'choices.1.choice',
    ],
    [{ examples: [{ answer: 'x', choice: 'perfect' }] }, 'examples.0.choice'],
    [{ server: 'ftp://x' }, 'server'],
    [{ server: 'https://me:secret@x/v1' }, 'server'],
    [{ apiKeyEnv: 'not a name' }, 'apiKeyEnv'],
    [{ name: 'Not A Name' }, 'name'],
    [{ instructions: '' }, 'instructions'],
    [{ temperature: 1 }, 'temperature'],
    [{ model: undefined }, '`model` is missing: it takes a text'],
    [{ choices: 'right' }, '`choices` takes a list'],
    [{ model: undefined, modle: 'm' }, 'it has the unknown field `modle`'],
  ])('that cannot be used is refused by its field: %j', async (changes, field) => {
    const refused = await described(changes).catch((error: unknown) => error as Error);
    expect(refused).toMatchObject({ reason: 'environment-unloadable' });
    expect((refused as Error).message).toContain(field);
    expect((refused as Error).message).not.toContain('secret');
  });

  test('that is no JSON, or no file, is refused', async () => {
    const file = join(folder, 'bad.json');
    writeFileSync(file, '{"name": ');
    await expect(describeEnvironment(parseSpec(`rubric:${file}`, '/'), () => undefined)).rejects.toMatchObject({
      reason: 'environment-unloadable',
    });
    expect(() => parseSpec('rubric:./none.json', folder)).toThrow('is no file');
  });
});
