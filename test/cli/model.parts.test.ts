// The model as a run keeps it: workers stand elsewhere, so its folder is absolute.

import { copyFileSync, cpSync, mkdirSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { Io } from '../../cli/io.ts';
import { callerOf } from '../../cli/play/say-event.ts';
import { checkModel, withAbsolutePaths } from '../../run/model.ts';
import { DEFAULT_OPTIONS } from '../../run/options.ts';
import { readRows } from '../../run/rows.ts';
import { ModelError } from '../../domain/errors/errors.ts';
import { type HttpListener, listenHttp } from '../support/http-listener.ts';
import { scratchFolder } from '../support/scratch-folder.ts';
import { TINY_FOLDER } from '../support/tiny.ts';
import { scriptedIo } from './scripted-io.ts';

/** A reply of an endpoint to the first question. */
const YES = { model: 'm', choices: [{ message: { content: 'Yes.' }, finish_reason: 'stop' }] };

const cwd = scratchFolder();
mkdirSync(join(cwd, 'here'));

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

  describe('of a server', () => {
    let server: HttpListener;
    let replies: (readonly [number, Record<string, string>?])[] = [];
    let asked = 0;
    beforeAll(async () => {
      server = await listenHttp((_, response) => {
        asked++;
        const [status = 200, headers = {}] = replies.shift() ?? [];
        response.writeHead(status, { 'content-type': 'application/json', ...headers });
        response.end(status === 200 ? JSON.stringify(YES) : '{"error": {"message": "the words"}}');
      });
    });
    afterAll(() => server.close());
    beforeEach(() => void (asked = 0));
    const opened = (io: Io) =>
      checkModel({ ...DEFAULT_OPTIONS, model: `openai:${server.url}/v1#m` }, [['user']], callerOf(io));

    test('is asked again, and the command says so, where the server is busy or starts again', async () => {
      const io = scriptedIo({ cwd });
      replies = [[502], [429, { 'retry-after-ms': '20' }], [503, { 'retry-after-ms': '20' }]];
      await opened(io);
      expect(asked).toBe(4);
      expect(io.text.err.match(/answered (?:502|429|503): the words\. It is asked again in \d s\./g)).toHaveLength(3);
    });

    test.each([
      ['refuses the key', [401], 'server-auth'],
      ['asks for a long pause', [429, { 'retry-after': '600' }], 'server-busy'],
      ['has none of that name', [404], 'server-lacks'],
    ] as const)('is refused at once where the server %s', async (_, reply, reason) => {
      replies = [reply as (typeof replies)[number]];
      await expect(opened(scriptedIo({ cwd }))).rejects.toMatchObject({ reason });
      expect(asked).toBe(1);
    });
  });

  test('a model folder that is missing, or holds no model, is refused before anything is started', async () => {
    const io = scriptedIo({ cwd });
    for (const folder of ['missing', 'here']) {
      const model = `transformers:${join(cwd, folder)}`;
      await expect(checkModel({ ...DEFAULT_OPTIONS, model }, [['user']], callerOf(io))).rejects.toBeInstanceOf(
        ModelError,
      );
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
      return (await readRows({ dataset: rows, limit: null, shuffleSeed: null })).openings;
    };

    const plain = await openingsOf({ question: '1 + 1?' }, { prompt: '1 + 1 = ' }, { messages: [user] });
    expect(plain).toEqual([['user']]);
    await checkModel(options, plain, callerOf(io));

    const mixed = await openingsOf(
      { question: '1 + 1?' },
      { messages: [{ role: 'system', content: 'Be brief.' }, user] },
    );
    expect(mixed).toEqual([['user'], ['system', 'user']]);
    await expect(checkModel(options, mixed, callerOf(io))).rejects.toMatchObject({ reason: 'feedback-delta' });
    await checkModel({ ...options, feedback: 'seed' }, mixed, callerOf(io));
  });

  test('a template that shows earlier answers otherwise, and a variable that it lacks, are told; neither is refused', async () => {
    const folder = join(cwd, 'thinking');
    cpSync(TINY_FOLDER, folder, { recursive: true });
    copyFileSync(join(import.meta.dirname, '../fixtures/templates/qwen3.jinja'), join(folder, 'chat_template.jinja'));
    const chatTemplateKwargs = { enable_thinking: false, enable_thinkin: false };
    const options = {
      ...DEFAULT_OPTIONS,
      model: `transformers:${folder}`,
      feedback: 'delta',
      chatTemplateKwargs,
    } as const;
    const told = async (more: object) => {
      const io = scriptedIo({ cwd });
      await checkModel({ ...options, ...more }, [['user']], callerOf(io));
      return io.text.err;
    };
    const several = await told({});
    expect(several).toContain('does not name enable_thinkin, and shows the same without');
    expect(several).toContain('shows earlier answers otherwise');
    expect(several).toContain('keeps the ids that were sampled');
    expect(await told({ feedback: 'seed' })).toContain('shows earlier answers otherwise');
    expect(await told({ numTurns: 1, chatTemplateKwargs: { enable_thinking: false } })).not.toMatch(
      /otherwise|Warning/,
    );
  });
});
