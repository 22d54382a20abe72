// A model that would lie, or cannot be read, is refused before anything is asked of it.

import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { explain } from '../../domain/errors/errors.ts';
import { createTokenBackend } from '../support/kinds.ts';
import { TINY_FOLDER } from '../support/tiny.ts';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'everturn-model-'));
  cpSync(TINY_FOLDER, folder, { recursive: true });
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const open = (target = folder) =>
  createTokenBackend(`transformers:${target}`, { tokenizer: null, log: () => undefined });

/** Renames inside the ONNX file: of equal length, so that nothing else moves. */
function rename(from: string, to: string): void {
  const path = join(folder, 'onnx/model.onnx');
  const text = readFileSync(path, 'latin1');
  expect(text).toContain(from);
  writeFileSync(path, text.replaceAll(from, to), 'latin1');
}

function editJson(file: string, edit: (json: Record<string, unknown>) => void): void {
  const json = JSON.parse(readFileSync(join(folder, file), 'utf8')) as Record<string, unknown>;
  edit(json);
  writeFileSync(join(folder, file), JSON.stringify(json));
}

async function refusal(target?: string): Promise<string> {
  const error: unknown = await open(target).then(
    async (backend) => {
      await backend.close();
      return 'it was accepted';
    },
    (e: unknown) => e,
  );
  expect(error).toMatchObject({ name: 'ModelError', retryable: false });
  return explain(error);
}

describe('a model that cannot be opened', () => {
  test('names the folder that does not exist, and what it would hold', async () => {
    const text = await refusal(join(folder, 'nowhere'));
    expect(text).toContain(join(folder, 'nowhere'));
    expect(text).toContain('onnx/model.onnx');
  });

  test.each(['config.json', 'onnx/model.onnx', 'tokenizer.json', 'tokenizer_config.json'])(
    'names %s when the folder lacks it',
    async (file) => {
      rmSync(join(folder, file));
      expect(await refusal()).toContain(`lacks ${file}`);
    },
  );

  test('names an input or output that is missing', async () => {
    rename('past_key_values.3.value', 'past_key_values.9.value');
    expect(await refusal()).toContain('past_key_values.3.value');
  });

  test('refuses a tokenizer that knows tokens which the model does not', async () => {
    editJson('tokenizer.json', (json) => {
      (json['added_tokens'] as unknown[]).push({
        ...{ id: 5000, content: '<|alien|>', special: true, normalized: false },
        ...{ single_word: false, lstrip: false, rstrip: false },
      });
    });
    // Its id is the next one, whatever the file says.
    expect(await refusal()).toContain('ids up to 692');
  });

  test('says which file is no model, and which no tokenizer', async () => {
    writeFileSync(join(folder, 'tokenizer.json'), '{"version": ');
    expect(await refusal()).toContain('tokenizer');
    cpSync(join(TINY_FOLDER, 'tokenizer.json'), join(folder, 'tokenizer.json'));
    writeFileSync(join(folder, 'onnx/model.onnx'), 'not a model');
    expect(await refusal()).toContain(`The model in ${folder} cannot be loaded`);
  });

  test('refuses a configuration without a length', async () => {
    editJson('config.json', (json) => delete json['max_position_embeddings']);
    expect(await refusal()).toContain('max_position_embeddings');
  });

  test('refuses a model of which nothing says how an answer ends', async () => {
    editJson('tokenizer_config.json', (json) => {
      json['eos_token'] = null;
      json['pad_token'] = null;
    });
    editJson('config.json', (json) => delete json['eos_token_id']);
    rmSync(join(folder, 'generation_config.json'));
    expect(await refusal()).toContain('eos_token');
  });

  test('reads the chat template from a file of its own, and says so where there is none', async () => {
    editJson('tokenizer_config.json', (json) => delete json['chat_template']);
    const messages = [{ role: 'user', content: 'hi' }];
    const without = await open();
    await expect(without.tokenizer.encodeChat(messages)).rejects.toThrow('no chat template');
    await without.close();
    writeFileSync(
      join(folder, 'chat_template.jinja'),
      '{% for m in messages %}[{{ m.role }}] {{ m.content }}{% endfor %}',
    );
    const withFile = await open();
    expect(withFile.tokenizer.renderChat(messages)).toBe('[user] hi');
    await withFile.close();
  });

  test('answers with a tokenizer from another folder', async () => {
    for (const file of ['tokenizer.json', 'tokenizer_config.json']) rmSync(join(folder, file));
    const backend = await createTokenBackend(`transformers:${folder}`, {
      tokenizer: TINY_FOLDER,
      log: () => undefined,
    });
    const ids = await backend.tokenizer.encode('2 + 2');
    expect(await backend.tokenizer.decode(ids, { skipSpecialTokens: false })).toBe('2 + 2');
    await backend.close();
  });
});
