// Held-out evaluations of a training run on a real server: which versions are evaluated, by runs of their own, once.

import { afterAll, describe, expect, test } from 'vitest';
import { feedWorkflowId } from '../../domain/names/ids.ts';
import { openFileStore } from '../../records/file-store.ts';
import { evaluationPlace } from '../../run/evaluations.ts';
import { openEvaluations } from '../../viewer/evaluations.ts';
import { openFeedRig } from '../support/feed-rig.ts';
import { until } from '../support/until.ts';
import { breachesOf } from '../records/breaches.ts';

const { rig, start, begin, ask, lease } = await openFeedRig();
afterAll(() => rig.close());

const evaluationsOf = openEvaluations();
const evaluated = (run: string) => evaluationsOf(`${rig.out}/${run}`);
const ended = (run: string, name: string) =>
  until(`${name} has ended`, async () =>
    (await evaluated(run)).some((one) => one.run === name && one.state === 'ended'),
  );

async function step(run: string, version: number, line?: number): Promise<void> {
  const sent = line === undefined ? {} : { line };
  const { id } = await lease(run, sent);
  await ask(run, 'acknowledge', { lease: id, version, ...sent });
  await ask(run, 'version', { version, ...sent });
}
/** The requests of held-out rows to the model, by run. */
const asked = (run: string) => rig.backend.requests.filter(({ requestId }) => requestId.startsWith(`${run}/`)).length;

describe('a training run with held-out rows', { timeout: 240_000 }, () => {
  test('has them played once at version 0 and at each second one, also behind a lost feed, and leases none', async () => {
    const collection = await begin('held', { queries: 10, heldOut: { queries: 3, every: 2 } });
    for (let version = 1; version <= 4; version++) {
      await step('held', version);
      if (version % 2 > 0) continue;
      await ended('held', `held-eval-v${version}`);
      await rig.client.workflow.getHandle(feedWorkflowId('held')).terminate();
      await start('feed', 'held');
    }
    await step('held', 5);
    await collection.result();
    const found = await evaluated('held');
    expect(found.map(({ run, version, rollouts, right }) => [run, version, rollouts, right])).toEqual([
      ['held-eval-v0', 0, 3, 1],
      ['held-eval-v2', 2, 3, 1],
      ['held-eval-v4', 4, 3, 1],
    ]);
    for (const { run } of found) expect(asked(run)).toBe(3);
    // The seeds are the same at each version.
    const seeds = new Set(
      rig.backend.requests.filter(({ requestId }) => requestId.startsWith('held-eval')).map((r) => r.seed),
    );
    expect(seeds.size).toBe(3);
    // All that was leased is of the run itself: ten groups of two.
    expect([asked('held'), await ask('held', 'lease', { consumer: 't', groups: 1, wait: 0 })]).toEqual([
      20,
      { lease: null, why: 'finished' },
    ]);
    for (const { version } of found) {
      const { out, run } = evaluationPlace({ run: 'held', out: rig.out, version, line: 0 });
      expect(await breachesOf(openFileStore(out, run))).toEqual([]);
    }
  });

  test('evaluates a version again only where a rewind gave it other weights', async () => {
    await begin('lines', { queries: 14, heldOut: { queries: 2, every: 2 } });
    await ask('lines', 'rewind', { version: 0 });
    for (let version = 1; version <= 3; version++) await step('lines', version, 1);
    await ask('lines', 'rewind', { version: 2 });
    await rig.client.workflow.getHandle(feedWorkflowId('lines')).terminate();
    await start('feed', 'lines');
    await step('lines', 3, 2);
    await step('lines', 4, 2);
    await ended('lines', 'lines-eval-line2-v4');
    expect((await evaluated('lines')).map(({ run }) => run)).toEqual([
      'lines-eval-v0',
      'lines-eval-line1-v2',
      'lines-eval-line2-v4',
    ]);
    await ask('lines', 'rewind', { version: 1 });
    await step('lines', 2, 3);
    await ended('lines', 'lines-eval-line3-v2');
    expect([asked('lines-eval-line1-v2'), asked('lines-eval-line3-v2')]).toEqual([2, 2]);
  });
});
