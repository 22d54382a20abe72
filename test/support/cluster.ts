// The command line against a namespace of its own on the shared server, and the workers that a test starts there.

import { type Client, Connection } from '@temporalio/client';
import { inject } from 'vitest';
import { type Everturn, openEverturn, type Running } from './everturn.ts';
import { openNamespace } from './namespace.ts';
import { until } from './until.ts';

export interface Cluster {
  readonly namespace: string;
  readonly client: Client;
  readonly everturn: Everturn;
  /** The command line with another home and folder. */
  openPlace(env?: Readonly<Record<string, string>>): Everturn;
  /** Kills it at the end, if it is still there. */
  keep(worker: Running): Running;
  /** Resolves once it polls. */
  startWorker(...args: string[]): Promise<Running>;
  close(): Promise<void>;
}

export async function openCluster(name: string, more: Readonly<Record<string, string>> = {}): Promise<Cluster> {
  const address = inject('temporalAddress');
  const namespace = `${name}-${process.pid}-${Date.now()}`;
  const connection = await Connection.connect({ address });
  const client = await openNamespace(connection, namespace);
  const workers: Running[] = [];
  const places: Everturn[] = [];
  const openPlace: Cluster['openPlace'] = (env = {}) => {
    const place = openEverturn({ TEMPORAL_ADDRESS: address, TEMPORAL_NAMESPACE: namespace, ...more, ...env });
    places.push(place);
    return place;
  };
  const keep = (worker: Running) => {
    workers.push(worker);
    return worker;
  };
  const everturn = openPlace();
  return {
    namespace,
    client,
    everturn,
    openPlace,
    keep,
    startWorker: (...args) => untilPolls(keep(everturn.start('worker', ...args))),
    async close() {
      for (const { child, ended } of workers) {
        child.kill('SIGKILL');
        await ended;
      }
      for (const place of places) await place.close();
      await connection.close();
    },
  };
}

/** Each of its pollers says so when it polls. */
export async function untilPolls(worker: Running): Promise<Running> {
  await until('a worker that polls', () => (worker.output().match(/RUNNING/g) ?? []).length >= 2, 240_000);
  return worker;
}
