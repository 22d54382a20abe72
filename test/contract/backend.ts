// The promises of every inference backend: every ending named, nothing answered that was not asked for. Of one that gives
// tokens: ids in, ids and finite logprobs out. Of one that gives text: no ids, no vocabulary, no tokenizer.

import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { DEFAULT_SAMPLING } from '../../domain/rollout/sampling.ts';
import type {
  Backend,
  BackendOf,
  GenerateRequest,
  Kind,
  Kinds,
  TextBackend,
  TextRequest,
  TokenBackend,
} from '../../inference/backend.ts';

export interface BackendPlace<K extends Kind = 'tokens'> {
  readonly open: () => Promise<BackendOf<K>>;
  /** A question as its user would ask it. */
  readonly question: string;
  /** False for a server that draws its own random numbers. */
  readonly seeded?: boolean;
  /** False for a scripted part that answers anything. */
  readonly checksRequests?: boolean;
  /** False where an answer is there at once, so that nothing can be interrupted. */
  readonly takesTime?: boolean;
}

export async function aRequest(
  backend: TokenBackend,
  question: string,
  changes: Partial<GenerateRequest> = {},
): Promise<GenerateRequest> {
  return {
    requestId: 'run/query/0/1',
    contextIds: await backend.tokenizer.encodeChat([{ role: 'user', content: question }]),
    maxNewTokens: 48,
    sampling: DEFAULT_SAMPLING,
    seed: 7,
    deterministic: true,
    stopTokenIds: backend.facts.stopTokenIds,
    ...changes,
  };
}

export function aTextRequest(question: string, changes: Partial<TextRequest> = {}): TextRequest {
  return {
    requestId: 'run/query/0/1',
    messages: [{ role: 'user', content: question }],
    maxNewTokens: 48,
    sampling: DEFAULT_SAMPLING,
    seed: 7,
    ...changes,
  };
}

export const undisturbed = () => ({ signal: new AbortController().signal });

/** A question whose answer has at most four tokens, of either kind of backend. */
export const askShortly = async (backend: Backend) =>
  'tokenizer' in backend
    ? backend.generate(await aRequest(backend, 'What is 2 + 2?', { maxNewTokens: 4, stopTokenIds: [] }), undisturbed())
    : backend.generate(aTextRequest('2 + 2?', { maxNewTokens: 4 }), undisturbed());

type Shared = Pick<TextRequest, 'maxNewTokens' | 'sampling' | 'seed'>;

interface Made<K extends Kind> {
  readonly request: (backend: BackendOf<K>, changes?: Partial<Shared>) => Promise<Kinds[K]['request']>;
  /** A request whose answer takes long. */
  readonly long: (backend: BackendOf<K>) => Promise<Kinds[K]['request']>;
}

/** The promises of both kinds. Returns the backend that they ask. */
function everyBackend<K extends Kind>(name: string, place: BackendPlace<K>, { request, long }: Made<K>) {
  const { open, checksRequests = true, takesTime = true } = place;
  const promise = (title: string, body: () => Promise<void>) => test(`${name}: ${title}`, body);
  let backend: BackendOf<K>;
  beforeAll(async () => {
    backend = await open();
  });
  afterAll(() => backend.close());
  const ask = async (changes: Partial<Shared> = {}) => backend.generate(await request(backend, changes), undisturbed());

  promise('names how each of many answers at once ended', async () => {
    const all = await Promise.all([1, 2, 3, 5, 8, 13].map((maxNewTokens) => ask({ maxNewTokens })));
    for (const { finish } of all) expect(['stop', 'length', 'abort']).toContain(finish);
  });

  promise('does not start what is aborted already', async () => {
    const reason = new Error('enough');
    const aborted = backend.generate(await request(backend), { signal: AbortSignal.abort(reason) });
    await expect(aborted).rejects.toBe(reason);
  });

  if (takesTime) {
    promise('stops when aborted, with the reason it was given, and goes on answering', async () => {
      const controller = new AbortController();
      const reason = new Error('enough');
      const asked = backend.generate(await long(backend), {
        signal: controller.signal,
        onProgress: () => controller.abort(reason), // at the first sign of life
      });
      await expect(asked).rejects.toBe(reason);
      expect(await ask()).toMatchObject({ finish: expect.stringMatching(/stop|length/) });
    });
  }

  if (checksRequests) {
    promise('refuses a budget, a sampling and a seed that cannot be, for good', async () => {
      const refused: [Partial<Shared>, string][] = [
        [{ maxNewTokens: 0 }, 'bad-budget'],
        [{ maxNewTokens: 1.5 }, 'bad-budget'],
        [{ sampling: { temperature: -1, topP: 1, topK: 5 } }, 'bad-sampling'],
        [{ sampling: { temperature: Number.NaN, topP: 1, topK: 5 } }, 'bad-sampling'],
        [{ sampling: { temperature: 1, topP: 0, topK: 5 } }, 'bad-sampling'],
        [{ sampling: { temperature: 1, topP: 1, topK: 0 } }, 'bad-sampling'],
        [{ seed: -1 }, 'bad-seed'],
      ];
      for (const [changes, reason] of refused) {
        await expect(ask(changes)).rejects.toMatchObject({ name: 'ModelError', reason, retryable: false });
      }
    });
  }

  promise('rejects what is in flight when it is closed, and what comes after', async () => {
    const closing = await open();
    if (takesTime) {
      const asked = await long(closing);
      const [outcome] = await Promise.allSettled([closing.generate(asked, undisturbed()), closing.close()]);
      expect(outcome).toMatchObject({ status: 'rejected', reason: { name: 'ModelError' } });
      await expect(closing.generate(asked, undisturbed())).rejects.toMatchObject({ name: 'ModelError' });
    }
    await closing.close();
  });

  return () => backend;
}

export function textBackendContract(name: string, place: BackendPlace<'text'>): void {
  const backend = everyBackend<'text'>(name, place, {
    request: async (_, changes) => aTextRequest(place.question, changes),
    long: async () => aTextRequest(place.question, { maxNewTokens: 5000 }),
  });
  const promise = (title: string, body: () => Promise<void>) => test(`${name}: ${title}`, body);
  const ask = (of: TextBackend, changes: Partial<TextRequest> = {}) =>
    of.generate(aTextRequest(place.question, changes), undisturbed());

  promise('gives well-formed text and no ids, and says that it has none', async () => {
    const reply = await ask(backend());
    expect(reply.text).not.toBe('');
    expect(reply.text.isWellFormed()).toBe(true);
    expect(reply.textLogprobs.every(({ logprob }) => logprob <= 0)).toBe(true);
    for (const invented of ['outputIds', 'logprobs', 'versions']) expect(reply).not.toHaveProperty(invented);
    expect(backend().facts.kind).toBe('text');
    for (const invented of ['vocabSize', 'contextLength', 'stopTokenIds'])
      expect(backend().facts).not.toHaveProperty(invented);
    expect(backend()).not.toHaveProperty('tokenizer');
  });

  if (place.checksRequests ?? true) {
    promise('refuses a conversation without a message, and a cut that it cannot make, for good', async () => {
      const never = { name: 'ModelError', retryable: false };
      await expect(ask(backend(), { messages: [] })).rejects.toMatchObject({ ...never, reason: 'no-messages' });
      const cut = ask(backend(), { sampling: { ...DEFAULT_SAMPLING, topK: 50 } });
      await expect(cut).rejects.toMatchObject({ ...never, reason: 'bad-sampling' });
    });
  }
}

export function backendContract(name: string, place: BackendPlace): void {
  const { question, seeded = true, checksRequests = true } = place;
  const promise = (title: string, body: () => Promise<void>) => test(`${name}: ${title}`, body);
  const backendNow = everyBackend<'tokens'>(name, place, {
    request: (of, changes) => aRequest(of, question, changes),
    long: (of) => aRequest(of, question, { maxNewTokens: of.facts.contextLength - 200, stopTokenIds: [] }),
  });
  let backend: TokenBackend;
  beforeAll(() => {
    backend = backendNow();
  });
  const ask = async (changes: Partial<GenerateRequest> = {}) =>
    backend.generate(await aRequest(backend, question, changes), undisturbed());

  promise('gives one finite logprob per token and versions that cover them all', async () => {
    const { outputIds, logprobs, versions } = await ask();
    expect(outputIds.length).toBeGreaterThan(0);
    expect(outputIds.every((id) => Number.isInteger(id) && id >= 0 && id < backend.facts.vocabSize)).toBe(true);
    expect(logprobs).toHaveLength(outputIds.length);
    expect(logprobs.every((logprob) => Number.isFinite(logprob) && logprob <= 0)).toBe(true);
    expect(versions[0]!.start).toBe(0);
    expect(versions.at(-1)!.end).toBe(outputIds.length);
    for (const [i, span] of versions.entries()) if (i > 0) expect(span.start).toBe(versions[i - 1]!.end);
  });

  promise('ends at a stop token and keeps it, or at the budget', async () => {
    for (const maxNewTokens of [1, 3, 48]) {
      const { outputIds, finish } = await ask({ maxNewTokens });
      const stops = outputIds.map((id) => backend.facts.stopTokenIds.includes(id));
      expect(stops.slice(0, -1)).not.toContain(true);
      expect(finish).toBe(stops.at(-1) ? 'stop' : 'length');
      if (finish === 'length') expect(outputIds).toHaveLength(maxNewTokens);
    }
  });

  promise(
    'names the ids that a token was drawn from where it leaves some out, if it says so, and else none',
    async () => {
      const sampling = { temperature: 1, topP: 0.8, topK: 1e8 };
      const { outputIds, kept } = await ask({ sampling, maxNewTokens: 12, stopTokenIds: [] });
      if (backend.facts.givesKept) {
        expect(kept).toHaveLength(12);
        for (const [i, id] of outputIds.entries()) if (kept![i]) expect(kept![i]).toContain(id);
      } else expect(kept).toBeUndefined();
      for (const whole of [DEFAULT_SAMPLING, { ...sampling, temperature: 0 }])
        expect(await ask({ sampling: whole, maxNewTokens: 3 })).not.toHaveProperty('kept');
    },
  );

  promise('answers many requests at once, each its own', async () => {
    const budgets = [1, 2, 3, 5, 8, 13];
    const all = await Promise.all(budgets.map((maxNewTokens) => ask({ maxNewTokens, stopTokenIds: [] })));
    expect(all.map(({ outputIds }) => outputIds.length)).toEqual(budgets);
  });

  if (seeded) {
    promise('gives the same tokens and logprobs for the same seed', async () => {
      expect(await ask()).toEqual(await ask());
    });
  }

  if (checksRequests) {
    promise('refuses what the model cannot hold or does not know, for good', async () => {
      const { vocabSize, contextLength } = backend.facts;
      const refused: [Partial<GenerateRequest>, string][] = [
        [{ contextIds: [1, vocabSize] }, 'token-out-of-vocabulary'],
        [{ contextIds: [-1] }, 'token-out-of-vocabulary'],
        [{ contextIds: [1.5] }, 'token-out-of-vocabulary'],
        [{ contextIds: [] }, 'empty-context'],
        [{ maxNewTokens: contextLength }, 'context-length'],
      ];
      for (const [changes, reason] of refused) {
        await expect(ask(changes)).rejects.toMatchObject({ name: 'ModelError', reason, retryable: false });
      }
    });
  }

  promise('gives back any text from its tokens', async () => {
    const { tokenizer } = backend;
    const text = fc.string({ unit: 'grapheme', maxLength: 60 });
    await fc.assert(
      fc.asyncProperty(text, async (s) => {
        expect(await tokenizer.decode(await tokenizer.encode(s), { skipSpecialTokens: false })).toBe(s);
      }),
    );
    expect(await tokenizer.decode([], { skipSpecialTokens: false })).toBe('');
    expect(await tokenizer.decode(backend.facts.stopTokenIds, { skipSpecialTokens: true })).toBe('');
  });

  promise('renders a chat to text whose tokens are the chat', async () => {
    const { tokenizer } = backend;
    const messages = [
      { role: 'user', content: question },
      { role: 'assistant', content: '42' },
      { role: 'user', content: 'Again?' },
    ];
    const text = tokenizer.renderChat(messages);
    expect(text).toContain(question);
    expect(await tokenizer.decode(await tokenizer.encodeChat(messages), { skipSpecialTokens: false })).toBe(text);
  });
}
