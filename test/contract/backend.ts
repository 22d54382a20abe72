// What every inference backend keeps: token ids in, token ids and finite logprobs out, every ending named,
// nothing answered that was not asked for.

import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { DEFAULT_SAMPLING } from '../../domain/sampling.ts';
import type { Backend, GenerateRequest } from '../../inference/backend.ts';

export interface BackendPlace {
  readonly open: () => Promise<Backend>;
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
  backend: Backend,
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

export const undisturbed = () => ({ signal: new AbortController().signal });

export function backendContract(name: string, place: BackendPlace): void {
  const { open, question, seeded = true, checksRequests = true, takesTime = true } = place;
  const promise = (title: string, body: () => Promise<void>) => test(`${name}: ${title}`, body);
  let backend: Backend;
  beforeAll(async () => {
    backend = await open();
  });
  afterAll(() => backend.close());
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

  promise('does not start what is aborted already', async () => {
    const reason = new Error('enough');
    const aborted = backend.generate(await aRequest(backend, question), { signal: AbortSignal.abort(reason) });
    await expect(aborted).rejects.toBe(reason);
  });

  if (takesTime) {
    promise('stops when aborted, with the reason it was given, and goes on answering', async () => {
      const controller = new AbortController();
      const reason = new Error('enough');
      const request = await aRequest(backend, question, {
        maxNewTokens: backend.facts.contextLength - 200,
        stopTokenIds: [],
      });
      const long = backend.generate(request, {
        signal: controller.signal,
        onProgress: () => controller.abort(reason), // at the first sign of life
      });
      await expect(long).rejects.toBe(reason);
      expect((await ask()).outputIds.length).toBeGreaterThan(0);
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
        [{ maxNewTokens: 0 }, 'bad-budget'],
        [{ sampling: { temperature: -1, topP: 1, topK: 5 } }, 'bad-sampling'],
        [{ sampling: { temperature: 1, topP: 0, topK: 5 } }, 'bad-sampling'],
        [{ sampling: { temperature: 1, topP: 1, topK: 0 } }, 'bad-sampling'],
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

  promise('rejects what is in flight when it is closed, and what comes after', async () => {
    const closing = await open();
    if (takesTime) {
      const request = await aRequest(closing, question, { maxNewTokens: 1000, stopTokenIds: [] });
      const [outcome] = await Promise.allSettled([closing.generate(request, undisturbed()), closing.close()]);
      expect(outcome).toMatchObject({ status: 'rejected', reason: { name: 'ModelError' } });
      await expect(closing.generate(request, undisturbed())).rejects.toMatchObject({ name: 'ModelError' });
    }
    await closing.close();
  });
}
