// One seed, from its plan to its verdict: the world is made, the workflow started, people interfere, and when
// nothing is left to happen all that must hold at the end is checked.

import { openClock } from './clock.ts';
import { openPeople } from './people.ts';
import { planOf, type Plan } from './plan.ts';
import { seeded } from './random.ts';
import { startAll } from './cast.ts';
import type { Sandbox } from './sandbox.ts';
import { openStore } from './store.ts';
import { checkEnd } from './last-check.ts';
import { must } from './breach.ts';
import type { World } from './world.ts';

/** More things than this never happen in a run that ends. */
const MOST_MOMENTS = 6000;
/** After so many, nobody holds anything up any more. */
const PATIENCE_MOMENTS = 400;

export interface Played {
  readonly plan: Plan;
  readonly moments: number;
}

export async function play(
  seed: number,
  sandbox: Sandbox,
  saw: (transition: string) => void,
  trace?: (line: string) => void,
): Promise<Played> {
  const plan = planOf(seed);
  const clock = openClock();
  const begun = clock.now;
  const world: World = {
    plan,
    random: seeded(~seed),
    clock,
    store: openStore(),
    sandbox,
    executions: new Map(),
    endedInVain: new Set(),
    saw,
    ambush: (activity) => people.ambush(activity),
    trace: (line) => trace?.(`${((clock.now - begun) / 1000).toFixed(3).padStart(10)} s  ${line()}`),
  };
  const cast = startAll(world);
  const people = openPeople(world, cast);
  for (let patience = PATIENCE_MOMENTS; ;) {
    await people.interfere();
    if (clock.moments > patience) {
      patience += PATIENCE_MOMENTS;
      await people.letAllGoOn();
    }
    must(clock.moments < MOST_MOMENTS, () => `it does not end: ${MOST_MOMENTS} things have happened`);
    if (await clock.step()) continue;
    if (!(await people.letAllGoOn())) break;
  }
  // Unhandled rejections are told on the next turn of the real event loop.
  await checkEnd(world, cast);
  await cast.dispose();
  return { plan, moments: clock.moments };
}
