// Blocking work on many things, in batches of a few milliseconds: between them the event loop serves requests.

import { setImmediate as breath } from 'node:timers/promises';

const BATCH_MS = 6;

export async function inBatches<T>(items: Iterable<T>, work: (item: T) => void): Promise<void> {
  let until = performance.now() + BATCH_MS;
  for (const item of items) {
    work(item);
    if (performance.now() < until) continue;
    await breath();
    until = performance.now() + BATCH_MS;
  }
}
