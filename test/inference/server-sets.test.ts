// What servers say of the ids that tokens were drawn from: asked for where tokens are left out, taken as the server's own log has
// them, refused where they cannot be, and of a server that says none nothing is asked.

import { afterEach, describe, expect, test } from 'vitest';
import { mustGiveSets } from '../../domain/rollout/kept-sets.ts';
import { mustServeLogprobs } from '../../domain/rollout/logprob-meaning.ts';
import { setBound, withSets } from '../../inference/servers/set-limits.ts';
import { ask, closeAll, fleet, request, serverAndBackend, serverOf } from '../support/fleet-rig.ts';
import type { ModelServer } from '../support/model-server.ts';
import type { Shape } from '../support/toy-engine.ts';

afterEach(closeAll);

const CUT = { temperature: 0.7, topP: 0.3, topK: 1e8 };
const asked = ({ seen }: ModelServer) => seen.findLast(({ path }) => path.endsWith('/generate'))!.body;
const KINDS: Shape[] = [
  { kind: 'sglang' },
  { kind: 'sglang', meaning: 'raw' },
  { kind: 'vllm', sets: true, meaning: 'policy' },
];

describe.each(KINDS)('a server that says what it draws from: %j', (shape) => {
  test('is trained on with truncated sampling, by logprobs over the sets that it drew from', async () => {
    const { server, backend } = await serverAndBackend(shape, { recheckEvery: 0 });
    const settings = { ...CUT, logprobs: 'policy' } as const;
    mustServeLogprobs(backend.facts, settings);
    mustGiveSets(backend.facts, settings);
    for (const sampling of [CUT, { ...CUT, topP: 1, topK: 7 }, { ...CUT, topK: 40 }]) {
      const { kept, keptLogprobs, logprobs } = await ask(backend, 'run/q/0', { sampling, maxNewTokens: 20 });
      const { outputs } = server.engine.log.at(-1)!;
      expect(kept).toEqual(outputs.map((one) => one.kept.toSorted((a, b) => a - b)));
      expect(kept!.some((set) => set!.length > 1)).toBe(true);
      const over = outputs.map(({ keptLogprob }) => keptLogprob);
      expect(keptLogprobs ?? logprobs).toEqual(over);
      expect(logprobs).toEqual(outputs.map(({ logprob }) => logprob));
      expect(asked(server)).toMatchObject({ sampling_params: { top_k: Math.min(sampling.topK, 692) } });
    }
  });

  test('is asked for none where none are left out', async () => {
    const { server, backend } = await serverAndBackend(shape);
    const reply = await ask(backend, 'run/q/0');
    expect(reply).not.toHaveProperty('kept');
    expect(reply).not.toHaveProperty('keptLogprobs');
    expect(asked(server)).not.toHaveProperty('return_sampling_mask');
  });
});

type Meta = Record<string, unknown> & {
  output_token_sampling_mask: number[][];
  output_token_sampling_logprobs: number[];
};
const lie = (change: (meta: Meta) => void) => ({
  change: (whole: Record<string, unknown>) => void change(whole['meta_info'] as Meta),
});

describe('SGLang', () => {
  test.each<[string, (meta: Meta) => void]>([
    ['kept sets missing', (meta) => delete (meta as Partial<Meta>).output_token_sampling_mask],
    ['kept sets missing', (meta) => delete (meta as Partial<Meta>).output_token_sampling_logprobs],
    ['kept sets that cannot be', (meta) => meta.output_token_sampling_mask.pop()],
    ['kept sets that cannot be', (meta) => meta.output_token_sampling_logprobs.pop()],
    ['kept sets that cannot be', (meta) => (meta.output_token_sampling_logprobs[1] = 0.5)],
    ['kept sets that cannot be', (meta) => (meta.output_token_sampling_mask[1] = [])],
    ['kept sets that cannot be', (meta) => meta.output_token_sampling_mask[0]!.push(692)],
    ['kept sets that cannot be', (meta) => (meta.output_token_sampling_mask[0] = Array.from(Array(300).keys()))],
  ])('is refused for %s', async (flaw, change) => {
    const { server, backend } = await serverAndBackend({ kind: 'sglang' });
    server.fail(lie(change));
    const sampling = { ...CUT, topK: 60 };
    await expect(ask(backend, 'run/q/0', { sampling })).rejects.toMatchObject({ flaw });
  });

  test('may keep more than the top-k, as probable as the last of them', async () => {
    const { server, backend } = await serverAndBackend({ kind: 'sglang' });
    const twins = lie(({ output_token_sampling_mask: sets }) =>
      sets[0]!.push(...[1, 2, 3].filter((id) => !sets[0]!.includes(id))),
    );
    server.fail(twins);
    const { kept } = await ask(backend, 'run/q/0', { sampling: { ...CUT, topP: 1, topK: 5 } });
    expect(kept![0]!.length).toBeGreaterThan(5);
  });

  test('that is older, or cannot say it, answers as it did, and is not trained on with truncated sampling', async () => {
    const cannot = await serverOf({ kind: 'sglang' });
    cannot.instead = (_, body) =>
      'return_sampling_mask' in body
        ? { status: 400, body: { error: { message: 'not with speculative decoding' } } }
        : null;
    const older = await serverOf({ kind: 'sglang', sets: false });
    for (const of of [[cannot], [older], [await serverOf({ kind: 'sglang' }), older]]) {
      const backend = await fleet(of, { fleetPolicy: 'round_robin' });
      expect(backend.facts.givesKept).toBe(false);
      const settings = { ...CUT, logprobs: 'policy' } as const;
      expect(() => mustServeLogprobs(backend.facts, settings)).toThrow(/another distribution/);
      expect(() => mustGiveSets(backend.facts, settings)).toThrow(/biased/);
      for (const rollout of ['run/a/0', 'run/b/0'])
        expect((await ask(backend, rollout, { sampling: CUT })).outputIds).toHaveLength(4);
    }
  });
});

describe('the limits of a request for sets', () => {
  test('are the server’s, with room for ids as probable as the last, and none where no vocabulary is larger', () => {
    expect([setBound(null, 692), setBound(null, 4096), setBound(null, 150_000)]).toEqual([692, 4096, 3072]);
    expect([setBound(100, 692), setBound(1, 692)]).toEqual([75, 1]);
  });

  test('cut a long answer into parts where its sets come with it, and no other', () => {
    const long = request('run/q/0', { maxNewTokens: 30_000, sampling: CUT });
    expect(withSets(long, 692, 692)).toMatchObject({ request: { maxNewTokens: 4096 }, most: 692 });
    expect(withSets(long, 692, null)).toEqual({ request: long, most: null });
    const whole = { ...long, sampling: { ...CUT, topP: 1 } };
    expect(withSets(whole, 692, 692)).toEqual({ request: whole, most: null });
  });
});
