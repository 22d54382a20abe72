// Two real servers as one fleet, which mean different things by a logprob: together they serve where these are one.

import { expect, test } from 'vitest';
import { mustServeLogprobs } from '../../../domain/rollout/logprob-meaning.ts';
import { aRequest, undisturbed } from '../../contract/backend.ts';
import type { Place } from './place.ts';

export function fleetTests({ traits, first, second, open }: Place): void {
  test('two servers that mean different things by a logprob are refused, but where they are one', async () => {
    const fleet = await open(first(), second());
    expect(fleet.facts.logprobsBy).toEqual({
      [first().url]: traits.first.meaning,
      [second().url]: traits.second.meaning,
    });
    const cold = { temperature: 0.5, topP: 1, topK: 1e8, logprobs: 'policy' } as const;
    expect(() => mustServeLogprobs(fleet.facts, cold)).toThrow(`${second().url}: ${traits.second.meaning}`);
    mustServeLogprobs(fleet.facts, { ...cold, temperature: 1 });
    await expect(fleet.generate(await aRequest(fleet, 'x', { sampling: cold }), undisturbed())).rejects.toMatchObject({
      reason: 'mixed-fleet',
    });
    await fleet.close();
  });
}
