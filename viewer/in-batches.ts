// Blocking work on many things, in batches of a few milliseconds: between them the event loop serves requests.

import { setImmediate as breath, setTimeout as sleep } from 'node:timers/promises';

const BATCH_MS = 6;
/** A request takes several rounds of the event loop; between long parts there is time for a whole one. */
const REST_MS = 10;

/** Called after each piece of work; a promise when a batch is over. */
export function pauses(): () => Promise<void> | undefined {
  let until = performance.now() + BATCH_MS;
  return () =>
    performance.now() < until ? undefined : breath().then(() => void (until = performance.now() + BATCH_MS));
}

/** Runs it to its end, with other work between its parts. */
export async function inParts<T>(parts: Generator<void, T, void>): Promise<T> {
  for (;;) {
    const part = parts.next();
    if (part.done) return part.value;
    await sleep(REST_MS);
  }
}
