// The numbers of ended runs in the list, counted from their rows in the background, one run after the other, and kept until
// the files of its ended rollouts change. A list waits a moment for those that are new, and shows the others when it asks
// again. Memory: some numbers of each run.

import { setTimeout as sleep } from 'node:timers/promises';
import { join } from 'node:path';
import type { RunSize } from '../domain/rollout/rollout-summary.ts';
import { ENDED } from '../records/format/layout.ts';
import type { Store } from '../records/store.ts';
import { inParts } from './in-batches.ts';
import { type HeadNumbers, headNumbers, summaryInParts } from './model/summary.ts';
import { sizesIn } from './plain-files.ts';
import { RunIndex } from './run-index.ts';

const SOON_MS = 300;

interface Counted {
  readonly run: string;
  readonly store: Store;
  readonly shape: RunSize;
}

interface Known {
  readonly stamp: string;
  /** Undefined while they are counted. */
  numbers?: HeadNumbers;
}

export function openHeadNumbers() {
  const known = new Map<string, Known>();
  let counting: Promise<void> = Promise.resolve();

  async function count({ store, shape }: Counted, into: Known): Promise<void> {
    const index = new RunIndex(store);
    await index.refresh();
    into.numbers = headNumbers(await inParts(summaryInParts(index.rows(), shape)));
  }

  return {
    /** Undefined: not counted yet, which is begun. */
    of(run: Counted): HeadNumbers | undefined {
      const stamp = sizesIn(join(run.store.folder, ENDED));
      const found = known.get(run.run);
      if (found?.stamp === stamp) return found.numbers;
      const fresh: Known = { stamp };
      known.set(run.run, fresh);
      // A run that cannot be counted has no numbers here; its page says why.
      counting = counting.then(() => count(run, fresh)).catch(() => {});
      return undefined;
    },
    /** A moment for those that are being counted. */
    soon: (): Promise<void> => Promise.race([counting, sleep(SOON_MS, undefined, { ref: false })]),
  };
}
