// Two real servers as one fleet, which mean different things by a logprob: together they serve where these are one, get
// other weights together, and a folder that cannot be loaded is stopped at the first.

import { expect, test } from 'vitest';
import { mustServeLogprobs } from '../../../domain/rollout/logprob-meaning.ts';
import { updateModel } from '../../support/weights.ts';
import { aRequest, undisturbed } from '../../contract/backend.ts';
import { TINY_FOLDER } from '../../support/tiny.ts';
import { openScorer, otherWeights } from './other-weights.ts';
import type { Place } from './place.ts';
import { errorBySpans } from './weight-tests.ts';

export function fleetTests({ traits, first, second, open, say }: Place): void {
  const both = () => `${traits.kind}:${first().url},${second().url}`;

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

  test('a fleet of two answers, and gets other weights in the middle of it', async () => {
    const fleet = await open(first(), second());
    const folder = otherWeights();
    const [old, other] = [await openScorer(TINY_FOLDER), await openScorer(folder)];
    let moved = 0;
    const rollout = async (n: number) => {
      const request = await aRequest(fleet, `What is ${n} * 7?`, {
        requestId: `run/fleet-${n}/0/1`,
        seed: n,
        maxNewTokens: 200,
        stopTokenIds: [],
      });
      for (;;) {
        const result = await fleet.generate(request, undisturbed()).catch((error: { reason?: string }) => {
          if (!traits.secondMayMove || error.reason !== 'version-moved') throw error;
        });
        if (result) return { request, result };
        moved++; // as Temporal would, it is asked for again
      }
    };
    const asked = Promise.all(Array.from({ length: 24 }, (_, n) => rollout(n)));
    await new Promise((resolve) => setTimeout(resolve, 500));
    const updates = await updateModel(both(), { from: folder, version: 'step-7' });
    expect(updates).toMatchObject([{ state: 'updated' }, { state: 'updated' }]);
    const answers = await asked;
    let worst = 0;
    for (const { request, result } of answers) {
      const error = await errorBySpans(request.contextIds, result, (label) => (label === 'step-7' ? other : old));
      worst = Math.max(worst, error);
    }
    const spans = answers.filter(({ result }) => result.versions.length > 1).length;
    const shares = fleet.serverStatus!().map(({ requests }) => requests);
    say(
      `fleet: requests ${shares.join(' + ')}, updates of ${updates.map(({ tookMs }) => tookMs).join(' and ')} ms under them; ` +
        `${spans} answers of two weights, ${moved} asked for again; max abs error ${worst.toExponential(2)}`,
    );
    expect(Math.min(...shares)).toBeGreaterThan(0);
    expect(worst).toBeLessThan(1e-3);
    expect(await updateModel(both(), { from: TINY_FOLDER, version: 'step-8' })).toMatchObject([
      { state: 'updated' },
      { state: 'updated' },
    ]);
    await fleet.close();
  });
}
