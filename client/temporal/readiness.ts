// Whether a worker reaches its cluster, for its health port: the last answer to a small call, asked every 20 s.

import type { Session } from './connection.ts';

const EVERY_MS = 20_000;
const DEADLINE_MS = 10_000;
/** The time that a poll may take, and a margin: a short outage takes no worker out of service. */
const SILENT_MS = 90_000;

export interface Readiness {
  /** Null while the cluster answers; else since when it does not. */
  problem(): string | null;
  close(): void;
}

export function watchCluster({ client, address }: Session, everyMs = EVERY_MS, silentMs = SILENT_MS): Readiness {
  let answeredMs = performance.now();
  const ask = () => {
    const call = () => client.connection.workflowService.getSystemInfo({});
    client.connection.withDeadline(Date.now() + DEADLINE_MS, call).then(
      () => (answeredMs = performance.now()),
      () => undefined,
    );
  };
  const timer = setInterval(ask, everyMs).unref();
  return {
    problem() {
      const silent = performance.now() - answeredMs;
      return silent < silentMs ? null : `Temporal at ${address} has not answered for ${Math.round(silent / 1000)} s`;
    },
    close: () => clearInterval(timer),
  };
}
