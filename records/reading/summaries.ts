// The summaries of a run's rollouts, read from its folder: of each sample the last attempt, in data set order. Memory:
// one rollout's. `check` proves, exports read whole records.

import { setImmediate as breath } from 'node:timers/promises';
import type { RolloutSummary } from '../../domain/rollout/rollout-summary.ts';
import { mapAhead, readAhead } from '../map-ahead.ts';
import type { Breach, Store } from '../store.ts';
import { type SummaryOptions, summaryOf } from './summary.ts';
import { type OrderedRollout, orderedRollouts } from './trajectories.ts';

/** Files are read by blocking calls; between batches others get the event loop. */
const BATCH_MS = 8;

export async function* readSummaries(store: Store, options: SummaryOptions = {}): AsyncGenerator<RolloutSummary> {
  let until = Date.now() + BATCH_MS;
  const rest = async () => {
    if (Date.now() < until) return;
    await breath();
    until = Date.now() + BATCH_MS;
  };
  const summary = async ({ id: { run, query, sample, attempt }, index }: OrderedRollout) => {
    const owner = { query, sample, attempt };
    const { found, breaches } = await store.readRecords({ run, ...owner }, (files) => {
      const breaches: Breach[] = [];
      const onBroken = (breach: Breach) => void breaches.push(breach);
      return { found: summaryOf(files, owner, index, { ...options, onBroken }), breaches };
    });
    for (const breach of breaches) options.onBroken?.(breach);
    return found;
  };
  for await (const one of mapAhead(orderedRollouts(store), readAhead(store.folder), summary)) {
    if (one) yield one;
    await rest();
  }
}
