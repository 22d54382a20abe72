// Logprobs of real servers against the embedded model: greedy answers, and drawn ones at another temperature, by a
// server as it is started and by one with the other switch.

import { expect, test } from 'vitest';
import { mustServeLogprobs } from '../../../domain/rollout/logprob-meaning.ts';
import { aRequest, undisturbed } from '../../contract/backend.ts';
import { openTiny, TINY_FOLDER } from '../../support/tiny.ts';
import { openScorer, worstError } from './other-weights.ts';
import type { Place } from './place.ts';

const COLD = { temperature: 0.5, topP: 1, topK: 1e8 };

export function logprobTests({ traits, first, second, open, ask, say }: Place): void {
  test('answers greedily as the embedded model does, with its logprobs', async () => {
    const embedded = await openTiny();
    let worst = 0;
    let compared = 0;
    let alike = 0;
    const questions = Array.from(
      { length: 20 },
      (_, i) => `What is ${((i * 37) % 90) + 10} * ${((i * 53) % 90) + 10}?`,
    );
    for (const question of questions) {
      const changes = { sampling: { temperature: 0, topP: 1, topK: 1e8 }, maxNewTokens: 64 };
      const theirs = await ask(question, changes);
      const ours = await embedded.generate(await aRequest(embedded, question, changes), undisturbed());
      const same = ours.outputIds.findIndex((id, i) => id !== theirs.outputIds[i]);
      const upTo = same < 0 ? ours.outputIds.length : same;
      if (same < 0 && ours.outputIds.length === theirs.outputIds.length) alike++;
      for (let i = 0; i < upTo; i++) worst = Math.max(worst, Math.abs(ours.logprobs[i]! - theirs.logprobs[i]!));
      compared += upTo;
    }
    await embedded.close();
    say(
      `greedy: ${alike} of ${questions.length} answers alike, ${compared} logprobs, max abs error ${worst.toExponential(2)}`,
    );
    expect(alike).toBeGreaterThanOrEqual(19);
    expect(worst).toBeLessThan(1e-4);
  });

  test('logprobs are what they were found to be, as it is started and with its other switch', async () => {
    const score = await openScorer(TINY_FOLDER);
    for (const [server, { meaning }] of [
      [first(), traits.first],
      [second(), traits.second],
    ] as const) {
      const backend = await open(server);
      expect(backend.facts.logprobs).toBe(meaning);
      let worst = 0;
      let compared = 0;
      for (let seed = 0; seed < 8; seed++) {
        const request = await aRequest(backend, `What is ${seed + 20} * 31?`, {
          sampling: COLD,
          seed,
          maxNewTokens: 48,
        });
        const { outputIds, logprobs } = await backend.generate(request, undisturbed());
        const temperature = meaning === 'raw' ? 1 : COLD.temperature;
        worst = Math.max(worst, worstError(await score(request.contextIds, outputIds, temperature), logprobs));
        compared += outputIds.length;
      }
      say(`temperature 0.5, ${meaning}: ${compared} logprobs, max abs error ${worst.toExponential(2)}`);
      expect(worst).toBeLessThan(1e-4);
      const wanted = meaning === 'raw' ? 'policy' : 'raw';
      expect(() => mustServeLogprobs(backend.facts, { ...COLD, logprobs: wanted })).toThrow(meaning);
      mustServeLogprobs(backend.facts, { ...COLD, logprobs: meaning === 'raw' ? 'raw' : 'policy' });
      await backend.close();
    }
  });
}
