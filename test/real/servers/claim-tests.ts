// What real servers say of themselves: who they are, against what the same files say here, and what their logprobs mean, by a server
// as it is started, by one with the other switch, and by both as one fleet.

import { expect, test } from 'vitest';
import { mustServeLogprobs } from '../../../domain/rollout/logprob-meaning.ts';
import { CANARY_TOLERANCE, canaryDistance } from '../../../domain/weights/model-identity.ts';
import { tinyIdentity } from '../../../inference/index.ts';
import { aRequest, undisturbed } from '../../contract/backend.ts';
import { TINY_FOLDER } from '../../support/tiny.ts';
import { openScorer, worstError } from './other-weights.ts';
import type { Place } from './place.ts';

const COLD = { temperature: 0.5, topP: 1, topK: 1e8 };

export function claimTests({ traits, backend, first, second, open, say }: Place): void {
  test('is known by its name, tokenizer, template and canary, as another server of the same model is', async () => {
    const here = await tinyIdentity();
    const one = backend().facts.identity!;
    const alone = await open(second());
    const two = alone.facts.identity!;
    await alone.close();
    const size = Object.keys(one.canary?.values ?? {}).length;
    const distance = one.canary && two.canary ? canaryDistance(one.canary, two.canary) : null;
    say(`identity: name ${one.name}, canary of ${size} values at ${one.canary?.version}`);
    say(`identity: the canaries of two servers differ by ${distance?.toExponential(2)} nats on average`);
    expect(one).toMatchObject({ name: 'tiny', tokenizer: here.tokenizer, template: here.template });
    expect(two).toMatchObject({ name: 'tiny', tokenizer: here.tokenizer, template: here.template });
    expect(one.canary?.version).toBe('default');
    expect(size).toBeGreaterThan(80);
    expect(distance).toBeLessThan(CANARY_TOLERANCE / 100);
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

  test('two servers that mean different things by a logprob are refused, but where they are one', async () => {
    const fleet = await open(first(), second());
    expect(fleet.facts.logprobsBy).toEqual({
      [first().url]: traits.first.meaning,
      [second().url]: traits.second.meaning,
    });
    const cold = { ...COLD, logprobs: 'policy' } as const;
    expect(() => mustServeLogprobs(fleet.facts, cold)).toThrow(`${second().url}: ${traits.second.meaning}`);
    mustServeLogprobs(fleet.facts, { ...cold, temperature: 1 });
    await expect(fleet.generate(await aRequest(fleet, 'x', { sampling: cold }), undisturbed())).rejects.toMatchObject({
      reason: 'mixed-fleet',
    });
    await fleet.close();
  });
}
