// A cluster for the tests of a file: PostgreSQL, a Temporal server on it, workers of which one may have a network of its
// own, and a model server that all reach. A failing test leaves its logs and says where they are.

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll } from 'vitest';
import { openWorkload, type Workload, type WorkloadOptions } from '../../chaos/workload.ts';
import { type Network, openNetwork } from './network.ts';
import { type Postgres, startPostgres } from './postgres.ts';
import { type RealTemporal, startRealTemporal } from './real-temporal.ts';

export interface ClusterRig {
  readonly postgres: Postgres;
  readonly network: Network;
  readonly temporal: RealTemporal;
  readonly workload: Workload;
}

export interface ClusterOptions extends Pick<WorkloadOptions, 'file' | 'workers' | 'slots' | 'env'> {
  readonly latencyMs: number;
  /** The worker in a network of its own. */
  readonly cutOff?: number;
}

export function useCluster({ latencyMs, cutOff, ...options }: ClusterOptions, use: (rig: ClusterRig) => void): void {
  const folder = mkdtempSync(join(tmpdir(), 'everturn-cluster-'));
  const opened: { -readonly [part in keyof ClusterRig]?: ClusterRig[part] } = {};
  let failed = false;
  beforeAll(async () => {
    const network = openNetwork();
    if ('problem' in network) throw new Error(`these tests need root: ${network.problem}`);
    opened.network = network;
    const postgres = (opened.postgres = await startPostgres(join(folder, 'postgres.log')));
    const cluster = { folder: join(folder, 'temporal'), postgres, host: network.host };
    const temporal = (opened.temporal = await startRealTemporal(cluster));
    const workload = (opened.workload = await openWorkload({
      ...options,
      model: { kind: 'sglang', latencyMs, host: network.host },
      cluster: temporal,
      within: (worker) => (worker === cutOff ? network.within : []),
    }));
    use({ network, postgres, temporal, workload });
  });
  afterEach(({ task }) => {
    failed ||= task.result?.state === 'fail';
  });
  afterAll(async () => {
    const whole = opened.workload !== undefined && !failed;
    await opened.workload?.close(failed);
    await opened.temporal?.stop();
    await opened.postgres?.stop();
    opened.network?.close();
    if (whole) rmSync(folder, { recursive: true, force: true });
    else console.error(`Logs of the server and its database: ${folder}`);
  });
}
