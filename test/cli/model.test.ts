// The model as a run keeps it: workers stand elsewhere, so its folder is absolute.

import { copyFileSync, cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { homedir, tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { checkModel, withAbsolutePaths } from '../../cli/play/model.ts';
import { DEFAULT_OPTIONS } from '../../run/options.ts';
import { surveyDataset } from '../../run/survey.ts';
import { ModelError } from '../../domain/errors/errors.ts';
import { TINY_FOLDER } from '../support/tiny.ts';
import { scriptedIo } from './scripted-io.ts';

let cwd: string;
beforeAll(() => {
  cwd = mkdtempSync(join(tmpdir(), 'everturn-model-'));
  mkdirSync(join(cwd, 'here'));
});
afterAll(() => rmSync(cwd, { recursive: true, force: true }));

describe('--model', () => {
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
      await expect(checkModel({ ...DEFAULT_OPTIONS, model }, [['user']], io)).rejects.toBeInstanceOf(ModelError);
    }
  });

  test('delta feedback is refused at once where the template cannot follow a conversation of the data set', async () => {
    const io = scriptedIo({ cwd });
    const folder = join(cwd, 'system-at-the-end');
    cpSync(TINY_FOLDER, folder, { recursive: true });
    copyFileSync(
      join(import.meta.dirname, '../fixtures/templates/mistral-0.3.jinja'),
      join(folder, 'chat_template.jinja'),
    );
    const options = { ...DEFAULT_OPTIONS, model: `transformers:${folder}`, feedback: 'delta' } as const;
    const rows = join(cwd, 'rows.jsonl');
    const user = { role: 'user', content: '1 + 1?' };
    const openingsOf = async (...prompts: object[]) => {
      writeFileSync(rows, prompts.map((prompt) => JSON.stringify({ ...prompt, answer: '2' })).join('\n'));
      return (await surveyDataset({ dataset: rows, limit: null, shuffleSeed: null })).openings;
    };

    const plain = await openingsOf({ question: '1 + 1?' }, { prompt: '1 + 1 = ' }, { messages: [user] });
    expect(plain).toEqual([['user']]);
    await checkModel(options, plain, io);

    const mixed = await openingsOf(
      { question: '1 + 1?' },
      { messages: [{ role: 'system', content: 'Be brief.' }, user] },
    );
    expect(mixed).toEqual([['user'], ['system', 'user']]);
    await expect(checkModel(options, mixed, io)).rejects.toMatchObject({ reason: 'feedback-delta' });
    await checkModel({ ...options, feedback: 'seed' }, mixed, io);
  });
});
