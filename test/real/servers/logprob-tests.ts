// Logprobs of real servers against the embedded model, at another temperature than 1: by a server as it is started and by one
// with the other switch.

import { expect, test } from 'vitest';
import { mustServeLogprobs } from '../../../domain/rollout/logprob-meaning.ts';
import { aRequest, undisturbed } from '../../contract/backend.ts';
import { TINY_FOLDER } from '../../support/tiny.ts';
import { openScorer, worstError } from './other-weights.ts';
import type { Place } from './place.ts';

const COLD = { temperature: 0.5, topP: 1, topK: 1e8 };

export function logprobTests({ traits, first, second, open, say }: Place): void {
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
