// Answers of models and observations of servers, as the adapter for OpenEnv reads and shows them: it is spoken with in lines.

import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { JsonObject } from '../../domain/text/json.ts';
import { openEnvServer } from './own/openenv-server.ts';

const ADAPTER = join(import.meta.dirname, '../../examples/environments/openenv.mjs');
let server: Awaited<ReturnType<typeof openEnvServer>>;
beforeEach(async () => {
  server = await openEnvServer();
});
afterEach(() => server.close());

const schemaOf = (properties: JsonObject, required: string[] = Object.keys(properties), $defs: JsonObject = {}) =>
  ({ type: 'object', properties: { metadata: { type: 'object' }, ...properties }, required, $defs }) as JsonObject;
const MOVE = schemaOf({ action: { $ref: '#/$defs/Move' } }, undefined, {
  Move: { type: 'string', enum: ['UP', 'DOWN', 'LEFT', 'LEFT_UP'] },
});
const PLACE = schemaOf({ x: { type: 'integer' }, y: { type: 'integer' } });

const MANY = schemaOf({ message: { type: 'string' } });
const INTEGER = schemaOf({ action: { type: 'integer' } });
const TRUTH = schemaOf({ stop: { type: 'boolean' } });

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

const ANSWERS: readonly [string, JsonObject, string, unknown][] = [
  ['the whole text of a text', MANY, ' [crane] \n', { message: '[crane]' }],
  ['without the thinking', MANY, '<think>[a]</think>\n[b]', { message: '[b]' }],
  ['a JSON object of its fields', MANY, '{"message": "x"}', { message: 'x' }],
  ['text, if its JSON has other fields', MANY, '{"a": 1}', { message: '{"a": 1}' }],
  ['the last number', INTEGER, 'Not 3, but -12.', { action: -12 }],
  ['the last member of a list', MOVE, 'Not up; left_up', { action: 'LEFT_UP' }],
  ['the last member as a whole', MOVE, 'Go down, uphill', { action: 'DOWN' }],
  ['true or false', TRUTH, 'It is not false: True.', { stop: true }],
  ['an optional field, if it is the only one', schemaOf({ code: { type: 'string' } }, []), 'x = 1', { code: 'x = 1' }],
  ['one object of several fields', PLACE, 'I go to\n```json\n{"x": 1, "y": 2}\n```', { x: 1, y: 2 }],
  ['an object among words', PLACE, 'So {"x": 1, "y": 2}.', { x: 1, y: 2 }],
  ['no action without a number', INTEGER, 'none', undefined],
  ['no action without a member', MOVE, 'sideways', undefined],
  ['no action without true or false', TRUTH, 'perhaps', undefined],
  ['no action of words for several fields', PLACE, '1, 2', undefined],
  ['no action nested too deep', PLACE, `{"x": ${'['.repeat(99)}${']'.repeat(99)}}`, undefined],
];

describe('an answer', () => {
  test('becomes an action by the schema, or says what is wanted', async () => {
    server.faults.free = true;
    for (const schema of new Set(ANSWERS.map(([, of]) => of))) {
      const cases = ANSWERS.filter(([, of]) => of === schema);
      server.faults.schema = schema;
      const before = server.seen.length;
      const results = await spoken(
        [],
        cases.map(([, , answer]) => answer),
      );
      const steps = server.seen.slice(before).filter(({ type }) => type === 'step');
      for (const [i, [name, , , action]] of cases.entries()) {
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
