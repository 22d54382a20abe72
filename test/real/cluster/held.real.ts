// The promise of held.chaos.ts on PostgreSQL: one run holds thousands of rollouts in flight, in blocks, and is one run to
// every command; one cancel ends and counts all. `HELD` says how many; EVERTURN_CHAOS=full judges what took how long.

import { describe, test } from 'vitest';
import { HELD, hold } from '../../chaos/held.ts';
import { type ClusterRig, useCluster } from './cluster-rig.ts';

let rig: ClusterRig;
useCluster({ file: import.meta.filename, workers: 2, slots: 64, latencyMs: 86_000_000 }, (opened) => (rig = opened));

describe(`${HELD} rollouts held in flight in one run, on PostgreSQL`, () => {
  test('are one run to every command, cost no more with time, and end with one cancel', { timeout: 7_200_000 }, () =>
    hold(rig.workload, rig.postgres.pids),
  );
});
