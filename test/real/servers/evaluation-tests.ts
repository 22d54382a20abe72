// Held-out rows of a training run whose weights a real server gets through the feed: an evaluation is answered by the version
// that it names, each row once, though the worker is killed in it and the version is published again.

import { cpSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { openEverturn } from '../../support/everturn.ts';
import { trainWithHeldOut } from '../../support/held-out.ts';
import { TINY_FOLDER } from '../../support/tiny.ts';
import { until } from '../../support/until.ts';
import { otherWeights } from './other-weights.ts';
import type { Place } from './place.ts';
import { openWitness } from './witness.ts';

const HELD = 60;

export function evaluationTests({ traits, first, say }: Place): void {
  test('an evaluation is played once by the version that it names, and by no other, though its worker is killed', async () => {
    const everturn = openEverturn();
    const witness = await openWitness(first().url);
    onTestFinished(async () => {
      await everturn.close();
      witness.close();
    });
    const folders = [join(everturn.folder, 'weights-1'), join(everturn.folder, 'weights-2')] as const;
    cpSync(otherWeights(), folders[0], { recursive: true });
    cpSync(TINY_FOLDER, folders[1], { recursive: true });
    const model = ['--model', `${traits.kind}:${witness.url}`, '--recheck-every', '0'];
    const { step, publish, turnsOf, isEvaluated, errorOf } = await trainWithHeldOut(everturn, HELD, ...model);
    const names = ['first-eval-v0', 'first-eval-line1-v1', 'first-eval-line1-v2'] as const;
    // A server has one version at a time.
    await until('the first weights are evaluated', isEvaluated(names[0]), 240_000);
    await step(1, folders[0]);
    await until('a part is answered', async () => (await turnsOf(names[1])).length >= HELD / 10, 240_000);
    process.kill(everturn.service()!.worker!.pid, 'SIGKILL');
    const [asked, stored] = [witness.of(names[1]).length, await turnsOf(names[1])];
    expect(await isEvaluated(names[1])()).toBe(false);
    await publish(1, folders[0]);
    await until('the other weights are evaluated', isEvaluated(names[1]), 240_000);
    await step(2, folders[1]);
    await until('the first weights are evaluated again', isEvaluated(names[2]), 240_000);

    const again = witness
      .of(names[1])
      .slice(asked)
      .map(({ key }) => key);
    const kept = stored.map(({ query }) => `${names[1]}_${query}_0_1`);
    expect(again.filter((key) => kept.includes(key))).toEqual([]);
    for (const [version, name] of names.entries()) {
      const turns = await turnsOf(name);
      expect([turns.length, new Set(turns.map(({ query }) => query)).size]).toEqual([HELD, HELD]);
      expect(new Set(turns.map(({ outcome }) => outcome))).toEqual(new Set(['complete']));
      if (version > 0) expect(new Set(turns.map(({ label }) => label))).toEqual(new Set([`line1:v${version}`]));
      const checked = await everturn.run('check', name);
      expect(checked.code, checked.stdout + checked.stderr).toBe(0);
    }
    const [right, wrong] = [await errorOf(names[1], folders[0]), await errorOf(names[1], folders[1])];
    say(
      `evaluation: ${HELD} rows of each of 3 versions; worker killed after ${stored.length}, none of these asked again; ` +
        `max abs error ${right.toExponential(2)} with the version's weights, ${wrong.toFixed(2)} with the others`,
    );
    expect(right).toBeLessThan(1e-3);
    expect(wrong).toBeGreaterThan(0.1);
    expect((await everturn.run('cancel', 'first')).code).toBe(0);
    const logged = await everturn.run('log', 'first');
    // The server may have had a version of its own before.
    const counts = logged.stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as { version: number; eval?: { rollouts: number } })
      .flatMap(({ version, eval: found }) => (found ? [[version, found.rollouts]] : []));
    expect(counts).toEqual([0, 1, 2].map((version) => [version, HELD]));
  });
}
