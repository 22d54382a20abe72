// The shipped model by the real runtime, against PyTorch's account of it and against itself.

import { beforeAll, describe, expect, test } from 'vitest';
import type { TokenBackend, GenerateRequest, Reply } from '../../inference/backend.ts';
import { DecodeEngine } from '../../inference/decode/engine.ts';
import { uniformAt } from '../../inference/decode/philox.ts';
import { openForcedPass } from '../../inference/decode/forced-pass.ts';
import { loadModel, type LoadedModel } from '../../inference/embedded/load.ts';
import { aRequest, backendContract, undisturbed } from '../contract/backend.ts';
import { fixture, openTiny, TINY_FOLDER } from '../support/tiny.ts';

/** The first one that the contract opens answers all other tests too: each loads the model once more. */
let first: Promise<TokenBackend> | undefined;
const open = (): Promise<TokenBackend> => (first ? openTiny() : (first = openTiny()));
backendContract('tiny', { open, question: 'What is 34 * 27?' });

interface LogprobFixture {
  readonly model: string;
  readonly sequences: readonly { readonly ids: readonly number[]; readonly logprobs: readonly number[] }[];
}

interface TokenizerFixture {
  readonly strings: readonly { readonly text: string; readonly ids: readonly number[] }[];
  readonly chats: readonly {
    readonly messages: readonly { readonly role: string; readonly content: string }[];
    readonly add_generation_prompt: boolean;
    readonly text: string;
    readonly ids: readonly number[];
  }[];
}

describe('the model', () => {
  let backend: TokenBackend;
  let loaded: LoadedModel;
  beforeAll(async () => {
    backend = await first!;
    const source = { kind: 'folder', path: TINY_FOLDER, name: 'tiny' } as const;
    loaded = await loadModel({ type: 'load', source, tokenizerSize: 0 });
  });

  /** Logprobs at temperature 1 of ids[1…], each token fed to the cache of those before it. */
  async function score(sequences: readonly (readonly number[])[]): Promise<number[][]> {
    const { model } = loaded;
    const scores = sequences.map(() => [] as number[]);
    let past = null;
    for (let at = 0; at < Math.max(...sequences.map((ids) => ids.length)) - 1; at++) {
      const ids = sequences.map((sequence) => sequence[at] ?? 0);
      const { logits, kv } = await model.step({ rows: ids.length, width: 1, ids, pads: ids.map(() => 0), past });
      past = kv;
      for (const [row, sequence] of sequences.entries()) {
        const next = sequence[at + 1];
        if (next === undefined) continue;
        const own = logits.subarray(row * model.vocabSize, (row + 1) * model.vocabSize);
        const max = own.reduce((most, logit) => Math.max(most, logit));
        const sum = own.reduce((total, logit) => total + Math.exp(logit - max), 0);
        scores[row]!.push(own[next]! - max - Math.log(sum));
      }
    }
    return scores;
  }

  test('gives the log-probabilities that PyTorch gives, to 1e-4', async () => {
    const { model, sequences } = fixture('tiny-logprobs.json') as LogprobFixture;
    expect(model).toBe(backend.facts.fingerprint);
    expect(sequences.length).toBeGreaterThanOrEqual(20);
    // The others take a minute of a busy machine.
    const some = process.env['EVERTURN_TESTS'] === 'all' ? sequences : sequences.slice(0, 6);
    const scores = await score(some.map(({ ids }) => ids));
    for (const [i, { logprobs }] of some.entries()) {
      expect(scores[i]).toHaveLength(logprobs.length);
      for (const [j, logprob] of logprobs.entries()) expect(Math.abs(scores[i]![j]! - logprob)).toBeLessThan(1e-4);
    }
  });

  test('reports the logprobs that scoring its answer again gives', async () => {
    const requests = await Promise.all([1, 2, 3, 4].map((seed) => aRequest(backend, `What is ${seed} + 5?`, { seed })));
    const results = await Promise.all(requests.map((request) => backend.generate(request, undisturbed())));
    const scores = await score(requests.map(({ contextIds }, i) => [...contextIds, ...results[i]!.outputIds]));
    for (const [i, { logprobs }] of results.entries()) {
      const own = scores[i]!.slice(-logprobs.length);
      for (const [j, logprob] of logprobs.entries()) expect(Math.abs(own[j]! - logprob)).toBeLessThan(1e-5);
    }
  });

  test('gives sets over which recomputed logprobs are the sampler’s, as those over the whole vocabulary are not', async () => {
    const sampling = { temperature: 1, topP: 0.8, topK: 1e8 };
    // Contexts that it does not know leave it unsure.
    const requests = await Promise.all(
      Array.from({ length: 8 }, async (_, seed) => {
        const more = { seed, sampling, maxNewTokens: 60, stopTokenIds: [] };
        const contextIds = Array.from({ length: 40 }, (_, i) => 3 + Math.floor(uniformAt(seed, i) * 400));
        return { ...(await aRequest(backend, 'What?', more)), contextIds };
      }),
    );
    const replies = await Promise.all(requests.map((request) => backend.generate(request, undisturbed())));
    const { model } = loaded;
    const pass = openForcedPass(model);
    const ratios = { whole: [] as number[], kept: [] as number[] };
    for (const [i, { contextIds }] of requests.entries()) {
      const { outputIds, logprobs, kept } = replies[i]!;
      expect(kept).toHaveLength(outputIds.length);
      let past = null;
      for (const [k, id] of outputIds.entries()) {
        const ids = k === 0 ? [...contextIds] : [outputIds[k - 1]!];
        const { logits, kv } = await model.step({ rows: 1, width: ids.length, ids, pads: [0], past });
        past = kv;
        const over = (some: Iterable<number>) => Math.log([...some].reduce((sum, j) => sum + Math.exp(logits[j]!), 0));
        const ratioOver = (some: Iterable<number>) => Math.exp(logits[id]! - over(some) - logprobs[k]!);
        ratios.whole.push(ratioOver(Array(model.vocabSize).keys()));
        ratios.kept.push(ratioOver(kept![k]!));
      }
      const answer = { contextIds, outputIds, sets: kept!, sampling };
      expect(await pass(answer)).toBeNull();
      // One id is missing that is far from the edge of the set.
      const at = kept!.findIndex((set) => set!.length > 3);
      const lacking = kept!.map((set, k) => (k === at ? set!.filter((id) => id === outputIds[k]) : set));
      expect(await pass({ ...answer, sets: lacking })).toBe(at);
      const wider = kept!.map((set, k) => (k === at ? Array.from(Array(500).keys()) : set));
      expect(await pass({ ...answer, sets: wider })).toBe(at);
    }
    const mean = (some: readonly number[]) => some.reduce((sum, one) => sum + one, 0) / some.length;
    expect(mean(ratios.whole)).toBeLessThan(0.95);
    for (const ratio of ratios.kept) expect(Math.abs(ratio - 1)).toBeLessThan(0.01);
  });

  test('tokenizes and renders as Python does', async () => {
    const { strings, chats } = fixture('tiny-tokenizer.json') as TokenizerFixture;
    expect(strings.length).toBeGreaterThan(20);
    for (const { text, ids } of strings) {
      expect(await backend.tokenizer.encode(text)).toEqual(ids);
      expect(await backend.tokenizer.decode(ids, { skipSpecialTokens: false })).toBe(text);
    }
    for (const { messages, add_generation_prompt, text, ids } of chats) {
      if (!add_generation_prompt) continue;
      expect(backend.tokenizer.renderChat(messages)).toBe(text);
      expect(await backend.tokenizer.encodeChat(messages)).toEqual(ids);
    }
  });

  /** By an engine that has answered nothing before. */
  async function fresh(request: GenerateRequest): Promise<Reply> {
    const result = await new DecodeEngine(loaded.model, loaded.traits).generate(0, request);
    return { ...result, versions: [{ version: 0, start: 0, end: result.outputIds.length }], server: null };
  }

  test('gives a seeded request the same ids and logprobs in random companies', async () => {
    expect(loaded.traits).toMatchObject({ padding: true });
    expect(loaded.traits.exactUpTo).toBeGreaterThan(0);
    let draws = 0;
    const random = (below: number) => Math.floor(uniformAt(20_26, draws++) * below);
    const drawn = Array.from({ length: 8 }, (_, seed) => {
      const question = Array.from({ length: 1 + random(12) }, () => `What is ${random(500)} * ${random(500)}?`);
      const sampling = [
        { temperature: 1, topP: 1, topK: 1e8 },
        { temperature: 1.5, topP: 0.95, topK: 50 },
        { temperature: 0, topP: 1, topK: 1e8 },
      ][random(3)]!;
      return aRequest(backend, question.join(' '), { seed, sampling, maxNewTokens: 1 + random(40), stopTokenIds: [] });
    });
    const requests: GenerateRequest[] = await Promise.all(drawn);
    const long = Array.from({ length: 30 }, () => `What is ${random(500)} * ${random(500)}?`).join(' ');
    requests.push(await aRequest(backend, long, { seed: 24, maxNewTokens: 20, stopTokenIds: [] }));
    const alone: Reply[] = [];
    for (const request of requests) alone.push(await fresh(request));
    for (const turn of [0, 8]) {
      // a second turn, whose beginning a process that has answered the first remembers
      const { contextIds } = requests[turn]!;
      requests.push({ ...requests[turn]!, contextIds: [...contextIds, ...alone[turn]!.outputIds, 5, 6, 7] });
      alone.push(await fresh(requests.at(-1)!));
    }

    for (let company = 0; company < 6; company++) {
      const members = Array.from({ length: 2 + random(9) }, () => random(requests.length));
      await Promise.all(
        members.map(async (member) => {
          await new Promise((resolve) => setTimeout(resolve, random(25)));
          const controller = new AbortController();
          if (random(6) === 0) setTimeout(() => controller.abort(), random(20));
          const result = await backend
            .generate(requests[member]!, { signal: controller.signal })
            .catch((error: unknown) => {
              if (!controller.signal.aborted) throw error;
            });
          if (result) expect(result).toEqual(alone[member]);
        }),
      );
    }
  });
});
