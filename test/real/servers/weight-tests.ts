// New weights for real servers, in the middle of a turn: which tokens they made is told, and the embedded model with
// the same weights gives the same logprobs, on either side of the change.

import { expect, test } from 'vitest';
import { updateModel } from '../../support/weights.ts';
import type { Reply } from '../../../inference/backend.ts';
import { aRequest, undisturbed } from '../../contract/backend.ts';
import { TINY_FOLDER } from '../../support/tiny.ts';
import { underWay } from './one-server-tests.ts';
import { openScorer, otherWeights, worstError, type Scorer } from './other-weights.ts';
import { LONG, type Place } from './place.ts';

/** The worst error over an answer, each span by the weights that its version names. */
export async function errorBySpans(
  context: readonly number[],
  { outputIds, logprobs, versions }: Pick<Reply, 'outputIds' | 'logprobs' | 'versions'>,
  weights: (label: string) => Scorer,
): Promise<number> {
  let worst = 0;
  for (const { versionLabel, start, end } of versions) {
    const before = [...context, ...outputIds.slice(0, start)];
    const scored = await weights(versionLabel!)(before, outputIds.slice(start, end), 1);
    worst = Math.max(worst, worstError(scored, logprobs.slice(start, end)));
  }
  return worst;
}

export function weightTests({ traits, first, backend, ask, say }: Place): void {
  const update = (from: string, version: string) => updateModel(`${traits.kind}:${first().url}`, { from, version });

  test('tells for every token which weights made it, when others are loaded under a turn', async () => {
    const folder = otherWeights();
    const [old, other] = [await openScorer(TINY_FOLDER), await openScorer(folder)];
    const asked = Promise.all(
      [1, 2].map(async (n) => {
        const request = await aRequest(backend(), `Count to ${n}.`, {
          ...LONG,
          requestId: `run/weights-${n}/0/1`,
          seed: n,
        });
        return { request, result: await backend().generate(request, undisturbed()) };
      }),
    );
    await underWay();
    const [done] = await update(folder, 'step-1');
    say(`other weights: ${JSON.stringify(done)}`);
    expect(done).toMatchObject({ state: 'updated', before: 'default', now: 'step-1' });
    const answers = await asked;
    let worst = 0;
    for (const { request, result } of answers) {
      say(`weights changed under a turn: ${JSON.stringify(result.versions)}`);
      expect(result.versions.map(({ versionLabel }) => versionLabel)).toEqual(['default', 'step-1']);
      expect(result.versions.map(({ version }) => version)).toEqual([0, 1]);
      expect(result.versions.at(-1)!.end).toBe(result.outputIds.length);
      const error = await errorBySpans(request.contextIds, result, (label) => (label === 'default' ? old : other));
      worst = Math.max(worst, error);
      // The other way round, they do not fit.
      const swapped = await errorBySpans(request.contextIds, result, (label) => (label === 'default' ? other : old));
      expect(swapped).toBeGreaterThan(0.1);
    }
    const tokens = answers.reduce((sum, { result }) => sum + result.outputIds.length, 0);
    say(
      `${tokens} logprobs of two weights, each against the embedded model's: max abs error ${worst.toExponential(2)}`,
    );
    expect(worst).toBeLessThan(1e-3);
    expect((await ask('What is 2 + 2?')).versions[0]).toMatchObject({ version: 1, start: 0 });
  });

  test('repeated, an update changes nothing; another one brings the first weights back', async () => {
    expect(await update('/not/looked/at', 'step-1')).toMatchObject([{ state: 'already' }]);
    expect(await update(TINY_FOLDER, 'step-2')).toMatchObject([{ state: 'updated', before: 'step-1' }]);
    const score = await openScorer(TINY_FOLDER);
    const request = await aRequest(backend(), 'What is 2 + 2?');
    const result = await backend().generate(request, undisturbed());
    expect(result.versions).toMatchObject([{ version: 2 }]);
    expect(await errorBySpans(request.contextIds, result, () => score)).toBeLessThan(1e-4);
  });
}
