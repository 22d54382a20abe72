// Honest replies with one lie in them: a number, a name or a token that contradicts what was sent, what was received, or
// what the server says of itself. Each is refused by a name of its own, the same for every server of the kind.

import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { ModelError } from '../../domain/errors/errors.ts';
import type { Backend } from '../../inference/backend.ts';
import { createBackend } from '../../inference/index.ts';
import { askShortly } from '../contract/backend.ts';
import { modelServer, type ModelServer } from '../support/model-server.ts';
import { TINY_FOLDER } from '../support/tiny.ts';

type Json = Record<string, unknown>;
type Lie = readonly [name: string, flaw: RegExp, change: (whole: Json) => void];
const IMPOSSIBLE = [-1, -5, 1.5, 1e300, 1e12, false, true, '7', [], {}];

/** `choices.0.message`; objects that are absent are made. */
function holder(whole: Json, path: string): [Json, string] {
  const keys = path.split('.');
  const last = keys.pop()!;
  return [keys.reduce((at, key) => (at[key] ??= {}) as Json, whole), last];
}
const get = (whole: Json, path: string): unknown => {
  const [at, key] = holder(whole, path);
  return at[key];
};
const set = (path: string, value: unknown) => (whole: Json) => {
  const [at, key] = holder(whole, path);
  at[key] = value;
};

const countLies = (under: string, keys: readonly string[]): Lie[] =>
  keys.flatMap((key) =>
    IMPOSSIBLE.map((value): Lie => [
      `${key} ${JSON.stringify(value)}`,
      new RegExp(`^${key} that cannot be$`),
      set(`${under}.${key}`, value),
    ]),
  );
const offByOne = (under: string, keys: readonly string[]): Lie[] =>
  keys.flatMap((key) =>
    [1, -1].map((by): Lie => [
      `${key} ${by > 0 ? 'above' : 'below'} what is true`,
      new RegExp(`^another number of ${key}`),
      (whole) => set(`${under}.${key}`, (get(whole, `${under}.${key}`) as number) + by)(whole),
    ]),
  );

const USAGE = ['prompt_tokens', 'completion_tokens', 'total_tokens'];
const CACHED = 'usage.prompt_tokens_details';
const OF_USAGE: Lie[] = [
  ...countLies('usage', USAGE),
  ...countLies(CACHED, ['cached_tokens']),
  ['another choice', /choices\.0\.index/, set('choices.0.index', 1)],
  [
    'choices in another order',
    /choices/,
    (whole) =>
      void (whole['choices'] as Json[]).unshift({ ...structuredClone((whole['choices'] as Json[])[0]!), index: 1 }),
  ],
  ['another model', /^a reply of another model$/, set('model', 'gpt-nano-cheap')],
];
const ANOTHER_REQUEST = /^the answer to another request$/;
const nameWithMore = (path: string): Lie => [
  'a name that holds ours',
  ANOTHER_REQUEST,
  (whole) => set(path, `${get(whole, path) as string}-2`)(whole),
];
const NO_VERSION = /^no weight version$/;
const OF_VLLM: Lie[] = [
  ...OF_USAGE,
  ...offByOne('usage', USAGE),
  ['cached tokens beyond all tokens', /^more cached_tokens/, set(`${CACHED}.cached_tokens`, 1e9)],
  ['other prompt ids', /^other prompt tokens/, set('prompt_token_ids', [1, 2, 3])],
  ['other prompt ids in its choice', /^other prompt tokens/, set('choices.0.prompt_token_ids', [1, 2, 3])],
  ['a stop token beside another end', /^a stop at another token/, set('choices.0.stop_reason', 7)],
];
const OF_GENERATE: Lie[] = [
  ...OF_VLLM,
  ['the name of another request', ANOTHER_REQUEST, set('request_id', 'generate-tokens-run_q_0_1-12345678')],
  nameWithMore('request_id'),
  ['spans without a version', NO_VERSION, set('choices.0.weight_versions.0.version', null)],
  ['spans of an empty version', NO_VERSION, set('choices.0.weight_versions.0.version', '')],
  ['spans that end early', /^versions that do not cover/, set('choices.0.weight_versions.0.end', 3)],
  ['spans that begin late', /^versions that do not cover/, set('choices.0.weight_versions.0.start', 1)],
];
const OF_COMPLETIONS: Lie[] = [
  ...OF_VLLM,
  ['the name of another request', ANOTHER_REQUEST, set('id', 'cmpl-run_q_0_1-12345678')],
  nameWithMore('id'),
];
const SGLANG_COUNTS = ['prompt_tokens', 'completion_tokens'];
const OF_SGLANG: Lie[] = [
  ['the name of another request', ANOTHER_REQUEST, set('meta_info.id', 'run_q_0_1-12345678')],
  nameWithMore('meta_info.id'),
  ...countLies('meta_info', [...SGLANG_COUNTS, 'cached_tokens']),
  ...offByOne('meta_info', SGLANG_COUNTS),
  ['cached tokens beyond all tokens', /^more cached_tokens/, set('meta_info.cached_tokens', 1e9)],
  [
    'a stop at a token that is not there',
    /^(?:a stop at another token than the last|stop without a stop token)$/,
    set('meta_info.finish_reason', { type: 'stop', matched: 5 }),
  ],
];
const OF_SPANS: Lie[] = [
  ...OF_SGLANG,
  ['spans without a version', NO_VERSION, set('meta_info.weight_versions.0.version', undefined)],
  ['spans that overlap', /^versions that do not cover/, set('meta_info.weight_versions.0.start', -1)],
];
const OF_OPENAI: Lie[] = [
  ['another model', /^a reply of another model$/, set('model', 'gpt-nano-cheap')],
  ['an answer of the user', /role/, set('choices.0.message.role', 'user')],
  ['calls of tools', /tool_calls/, set('choices.0.message.tool_calls', [{ id: 'x' }])],
];
const SHAPES = [
  { of: 'sglang', kind: 'sglang', lies: OF_SPANS },
  { of: 'sglang without spans', kind: 'sglang', spans: false, lies: OF_SGLANG },
  { of: 'vllm', kind: 'vllm', lies: OF_GENERATE },
  { of: 'vllm by completions', kind: 'vllm', scaleOut: false, lies: OF_COMPLETIONS },
  { of: 'openai', kind: 'openai', lies: OF_OPENAI },
] as const;

describe.each(SHAPES)('a reply of $of', ({ lies, ...shape }) => {
  let server: ModelServer;
  let backend: Backend;
  const ask = () => askShortly(backend);
  beforeAll(async () => {
    server = await modelServer({ modelPath: TINY_FOLDER, ...shape });
    const spec = shape.kind === 'openai' ? `openai:${server.url}/v1#tiny` : `${shape.kind}:${server.url}`;
    backend = await createBackend(spec, { tokenizer: null, log: () => undefined });
  });
  afterAll(async () => {
    await backend.close();
    await server.close();
  });

  test('with one lie in it is refused by the name of the lie', async () => {
    for (const [name, flaw, change] of lies) {
      server.fail({ change });
      const error = await ask().then(
        () => null,
        (thrown: unknown) => thrown,
      );
      server.heal();
      expect(error, name).toBeInstanceOf(ModelError);
      const { retryable, flaw: said, message } = error as ModelError;
      expect({ retryable, said }, `${name}: ${message}`).toEqual({
        retryable: true,
        said: expect.stringMatching(flaw),
      });
      expect(message, name).not.toContain('\u001b');
    }
    expect(backend.serverStatus!()[0]).toMatchObject({ state: 'up' });
  }, 300_000);

  test('that says nothing of its counts is taken', async () => {
    server.fail({
      change(body) {
        delete body['usage'];
        const meta = (body['meta_info'] ?? {}) as Json;
        for (const key of Object.keys(meta)) if (key.endsWith('_tokens')) delete meta[key];
      },
    });
    expect((await ask()).server).toContain(server.url);
  }, 60_000);
});
