// A turn of a model that takes and gives token ids: whatever its server takes of the budget, the record holds the answer that
// fits, and its budget is what fitted.

import { MockActivityEnvironment } from '@temporalio/testing';
import { describe, expect, test } from 'vitest';
import type { ActivityDeps } from '../../activities/deps.ts';
import { createActivities } from '../../activities/index.ts';
import { ModelError } from '../../domain/errors/errors.ts';
import { flawOfSlices } from '../../domain/rollout/experts.ts';
import { unpackedKept } from '../../domain/rollout/kept-sets.ts';
import type { ChunkRecord, TurnRecord } from '../../domain/rollout/turn.ts';
import { DEFAULT_SETTINGS } from '../../domain/rollout/settings.ts';
import type { Reply, TokenBackend } from '../../inference/backend.ts';
import { scriptedBackend } from '../support/scripted-model.ts';
import { heldStore } from '../support/held-store.ts';

const ID = { out: '/runs', run: 'r', query: 'q', sample: 0, attempt: 1 };
const prompt = { kind: 'messages', messages: [{ role: 'user', content: '2 + 2?' }] };
const EARLIER = { turn: 1, answer: '5', outputIds: [53, 256], contextIds: [1, 2], finish: 'stop', contextLength: 2 };
const ANSWER = 'It is \\boxed{4}.';

async function play(turn: number, backend: Pick<TokenBackend, 'generate'> & Partial<TokenBackend>, own: object = {}) {
  const whole: TokenBackend = { ...scriptedBackend({ answer: () => ANSWER }), ...backend };
  const turns: TurnRecord[] = [];
  const chunks: ChunkRecord[] = [];
  const settings = { ...DEFAULT_SETTINGS, seed: 1, maxNewTokens: 100, ...own };
  const deps = {
    openStore: () =>
      heldStore(
        {
          turn: (number) => (number < turn ? EARLIER : undefined),
          verdict: () => ({ verdict: 'wrong' }),
          rollout: () => ({ query: { prompt, environment: 'e' }, settings }),
        },
        { chunk: chunks, turn: turns },
      ),
    isStopping: async () => false,
    backend: async () => whole,
    now: () => 5,
  };
  const { generate } = createActivities(deps as unknown as ActivityDeps);
  const ran = new MockActivityEnvironment().run(generate as never, { rollout: ID, turn }) as Promise<unknown>;
  const result = await ran.catch((error: unknown) => error);
  return { result, record: turns[0], chunks };
}

const honest = scriptedBackend({ answer: (_, context) => ANSWER.slice(saidIn(context).length) });
const saidIn = (context: string) => context.slice(context.lastIndexOf('<start>assistant\n') + 17);
const full = () => new ModelError('too long', { reason: 'context-length' });

/** A server that gives no more than so many tokens at once. */
const inParts =
  (most: number): TokenBackend['generate'] =>
  (request, options) =>
    honest.generate({ ...request, maxNewTokens: Math.min(most, request.maxNewTokens) }, options);

/** A server whose context ends after so many tokens of the answer. */
function endsAfter(tokens: number): TokenBackend['generate'] {
  let left = tokens;
  return async (request, options) => {
    if (left === 0) throw full();
    const reply = await inParts(left)(request, options);
    left -= reply.outputIds.length;
    return reply;
  };
}

/** The settings of a run whose environment speaks of parts of answers. */
const SPEAKS = { environments: [{ name: 'e', credits: true }] };

describe.each([1, 2])('turn %i of a token backend', (turn) => {
  test('is the whole answer where the server gives it in parts, by a limit of its own', async () => {
    const { record, chunks } = await play(turn, { generate: inParts(7) });
    expect(record).toMatchObject({ answer: ANSWER, finish: 'stop', maxNewTokens: 100 });
    expect(chunks.map(({ outputIds }) => outputIds.length)).toEqual([7, 7]);
  });

  test('holds the sets of each part where the server says what tokens were drawn from, and none where it does not', async () => {
    const parts = inParts(7);
    const sets = (ids: readonly number[]) => ids.map((id, i) => (i === 2 ? null : [id, id + 9]));
    const given = await play(turn, {
      async generate(request, options) {
        const reply = await parts(request, options);
        return { ...reply, kept: sets(reply.outputIds) };
      },
    });
    const ofParts = given.chunks.map(({ kept, outputIds }) => [unpackedKept(kept!), sets(outputIds)]);
    expect(ofParts).toHaveLength(2);
    for (const [is, right] of ofParts) expect(is).toEqual(right);
    const { kept, outputIds } = given.record!;
    const last = sets(outputIds.slice(14));
    expect(unpackedKept(kept!)).toEqual([...ofParts.flatMap(([is]) => is!), ...last]);
    const { record, chunks } = await play(turn, { generate: parts });
    for (const one of [record!, ...chunks]) expect(one).not.toHaveProperty('kept');
  });

  test('has the logprobs over its sets where the run wants the policy’s, and the server’s own where it wants those', async () => {
    const { facts } = scriptedBackend({ answer: () => ANSWER });
    const parts = inParts(7);
    const backend = (part: object): Pick<TokenBackend, 'facts' | 'generate'> => ({
      facts: { ...facts, logprobs: 'temperature', givesKept: true },
      async generate(request, options) {
        const reply = await parts(request, options);
        const sets = { kept: reply.outputIds.map((id) => [id]), keptLogprobs: reply.outputIds.map(() => -0.25) };
        return { ...reply, logprobs: reply.outputIds.map(() => -0.5), ...sets, ...part };
      },
    });
    const cut = { topP: 0.9, temperature: 1 };
    const wanted = { policy: ['policy', -0.25], raw: ['temperature', -0.5] } as const;
    for (const [logprobs, [found, value]] of Object.entries(wanted)) {
      const { record, chunks } = await play(turn, backend({}), { ...cut, logprobs });
      expect(record).toMatchObject({ logprobsOf: logprobs, logprobsFound: found });
      for (const one of [record!, ...chunks]) expect(new Set(one.logprobs)).toEqual(new Set([value]));
    }
    for (const part of [{ kept: undefined }, { keptLogprobs: undefined }])
      expect((await play(turn, backend(part), cut)).result).toMatchObject({
        type: 'no-kept-sets',
        nonRetryable: false,
      });
    const whole = await play(turn, backend({ kept: undefined, keptLogprobs: undefined }));
    expect(whole.record).toMatchObject({ logprobsFound: 'temperature' });
  });

  test('says of a mixture of experts that the experts of its tokens are missing, and of no other model', async () => {
    const { facts } = scriptedBackend({ answer: () => ANSWER });
    const { generate } = honest;
    const identity = { name: null, tokenizer: null, template: null, weights: null, canary: null } as const;
    const { record } = await play(turn, { facts: { ...facts, identity: { ...identity, hasExperts: true } }, generate });
    expect(record).toMatchObject({ expertsMissing: true });
    const dense = await play(turn, { facts: { ...facts, identity }, generate });
    expect(dense.record).not.toHaveProperty('expertsMissing');
  });

  test('names the experts of its tokens end to end, in parts, and says so where a part has none', async () => {
    const { facts } = scriptedBackend({ answer: () => ANSWER });
    const asked: number[] = [];
    const shape = { layers: 1, perToken: 1, type: 'uint8' as const };
    /** The bytes say which tokens they are of. */
    const giving = (isGiven: (part: number) => boolean): Pick<TokenBackend, 'facts' | 'generate'> => ({
      facts: { ...facts, givesExperts: true },
      async generate(request, options) {
        const reply = await inParts(7)(request, options);
        const start = request.expertsFrom!;
        const rows = request.contextIds.length + reply.outputIds.length - 1 - start;
        const data = Uint8Array.from({ length: rows }, (_, i) => start + i);
        return { ...reply, ...(isGiven(asked.push(start)) && { experts: { ...shape, start, rows, data } }) };
      },
    });
    const { record, chunks } = await play(
      turn,
      giving(() => true),
    );
    const old = record!.contextLength - record!.contextIds.length;
    expect(asked).toEqual([Math.max(0, old - 1), record!.contextLength + 6, record!.contextLength + 13]);
    expect(flawOfSlices(record!)).toBeNull();
    expect(record!.experts).toHaveLength(3);
    expect(chunks.flatMap(({ experts }) => experts)).toEqual(record!.experts!.slice(0, 2));
    expect(record).not.toHaveProperty('expertsMissing');
    const identity = {
      name: null,
      tokenizer: null,
      template: null,
      weights: null,
      canary: null,
      hasExperts: true,
    } as const;
    const some = giving((calls) => calls % 3 !== 2);
    const without = (await play(turn, { ...some, facts: { ...some.facts, identity } })).record;
    expect(without).toMatchObject({ expertsMissing: true });
    expect(without).not.toHaveProperty('experts');
  });

  test('says where its tokens begin where an environment speaks of parts of it, in parts and cut too, and nowhere else', async () => {
    const places = [...ANSWER].map((_, i) => i);
    const whole = await play(turn, { generate: inParts(7) }, SPEAKS);
    expect(whole.record!.tokenStarts).toEqual([...places, ANSWER.length]);
    expect((await play(turn, { generate: endsAfter(9) }, SPEAKS)).record!.tokenStarts).toEqual(places.slice(0, 9));
    expect((await play(turn, { generate: inParts(7) })).record).not.toHaveProperty('tokenStarts');
  });

  test('is the answer as far as it fits, cut by length, where the context ends within it', async () => {
    const { record, result } = await play(turn, { generate: endsAfter(9) });
    expect(record).toMatchObject({ answer: ANSWER.slice(0, 9), finish: 'length', maxNewTokens: 9 });
    expect(result).toMatchObject({ noRoom: false, outputTokens: 9 });
  });

  test('is an answer where the model ended it before its first token', async () => {
    const reply: Reply = {
      ...{ outputIds: [], logprobs: [], finish: 'stop', server: 'http://scripted' },
      versions: [{ version: 7, versionLabel: 'step-7', start: 0, end: 0 }],
    };
    const { record, result } = await play(turn, { generate: async () => reply });
    const versions = { versions: reply.versions, versionStart: 7, versionEnd: 7 };
    expect(record).toMatchObject({ answer: '', outputIds: [], logprobs: [], finish: 'stop', ...versions });
    expect(record).not.toHaveProperty('trainable');
    expect(result).toMatchObject({ noRoom: false, outputTokens: 0 });
  });
});

describe('a context that takes no token', () => {
  test('ends a later turn as one without room, and fails a first one by the words of the server', async () => {
    expect((await play(2, { generate: endsAfter(0) })).result).toMatchObject({ noRoom: true });
    const first = (await play(1, { generate: endsAfter(0) })).result;
    expect(first).toMatchObject({ type: 'context-length', nonRetryable: true });
  });
});
