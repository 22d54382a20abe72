// Answers of models and observations of servers, as the adapter for OpenEnv reads and shows them: it is spoken with in lines.

import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { JsonObject } from '../../domain/text/json.ts';
import { rowsOf } from '../support/rows.ts';
import { openEnvServer } from './own/openenv-server.ts';

const ADAPTER = join(import.meta.dirname, '../../examples/environments/openenv.mjs');
let server: Awaited<ReturnType<typeof openEnvServer>>;
beforeEach(async () => {
  server = await openEnvServer();
});
afterEach(() => server.close());

interface Case {
  readonly name: string;
  readonly answer: string;
  /** Undefined: the answer is none, and the model is told what is wanted. */
  readonly action?: object;
}
const ANSWERS = rowsOf<{ schema: JsonObject; cases: Case[] }>('./openenv-answers.jsonl', import.meta.url);

/** One process of the adapter with lines alone: its results, one for each answer. */
async function spoken(options: readonly string[], answers: readonly string[]): Promise<unknown[]> {
  const child = spawn(process.execPath, [ADAPTER, server.url, ...options], { stdio: ['pipe', 'pipe', 'inherit'] });
  const params = { episode: { key: 'k', query: 'q', row: {} }, messages: [] };
  const calls = [
    { method: 'begin', params },
    ...answers.map((answer) => ({ method: 'respond', params: { ...params, answer } })),
  ];
  child.stdin.end(calls.map((call, id) => `${JSON.stringify({ id, ...call })}\n`).join(''));
  const lines: unknown[] = [];
  for await (const line of createInterface({ input: child.stdout })) {
    lines.push(JSON.parse(line));
    if (lines.length === calls.length + 1) child.kill();
  }
  return lines.slice(2).map((line) => (line as { result: unknown }).result);
}

describe('an answer', () => {
  test('becomes an action by the schema, or says what is wanted', async () => {
    server.faults.free = true;
    for (const { schema, cases } of ANSWERS) {
      server.faults.schema = schema;
      const before = server.seen.length;
      const answers = cases.map(({ answer }) => answer);
      const results = await spoken([], answers);
      const steps = server.seen.slice(before).filter(({ type }) => type === 'step');
      for (const [i, { name, action }] of cases.entries()) {
        if (action === undefined) expect(JSON.stringify(results[i]), name).toMatch(/bad_action.*Reply with/);
        else expect(steps.shift()?.data, name).toEqual(action);
      }
    }
  });
});

describe('an observation', () => {
  test('is shown as text, without what no record can hold', async () => {
    const shown: readonly [string[], string[], string[]][] = [
      [
        [],
        [
          '{"text": "Hi", "more": null, "list": []}',
          '{"text": "Hi", "n": 0}',
          '{"messages": [{"content": "a"}, {"content": "b", "sender_id": 1}]}',
          '{}',
          '{"text": "Hi", "metadata": {"answer": 42}}',
          '{"text": "a\\u0000b\\ud800"}',
        ],
        ['Hi', '{"text":"Hi","n":0}', 'a\nb', '(nothing to see)', 'Hi', 'a\ufffdb\ufffd'],
      ],
      [
        ['--show', 'messages,prompt'],
        ['{"prompt": "P", "messages": [{"content": "a"}], "n": 1}', '{"prompt": "", "n": 1}'],
        ['a\n\nP', '(nothing to see)'],
      ],
    ];
    for (const [options, observations, texts] of shown) {
      server.faults.observations = [...observations];
      const results = await spoken(
        options,
        observations.map(() => '1'),
      );
      expect(results).toEqual(texts.map((content) => ({ messages: [{ role: 'user', content }] })));
    }
  });
});
