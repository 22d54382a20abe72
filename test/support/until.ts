// Waiting for what a test needs. Tests wait for conditions, never for milliseconds: the limit only ends a test whose
// condition will never hold, so it is long enough for any machine.

import { setTimeout as sleep } from 'node:timers/promises';

/** The first answer that is neither undefined, null nor false. */
export async function until<T>(
  what: string,
  ask: () => T | Promise<T>,
  withinMs = 60_000,
): Promise<Exclude<NonNullable<T>, false>> {
  for (const end = performance.now() + withinMs; ; await sleep(20)) {
    const answer = await ask();
    if (answer !== undefined && answer !== null && answer !== false) return answer as Exclude<NonNullable<T>, false>;
    if (performance.now() > end) throw new Error(`not within ${withinMs / 1000} s: ${what}`);
  }
}
