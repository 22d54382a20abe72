// The reports of a run's workers about its servers: one small file per worker in `<run>/.fleet`, replaced as a whole
// from time to time. For people; not part of the run's records.

import { isServerStatus, type ServerStatus } from '../../domain/run/server-status.ts';
import { join } from '../place.ts';
import { namesIn, readText, replaceFile } from '../places/files.ts';

export interface FleetReport {
  /** Epoch milliseconds. */
  readonly at: number;
  readonly servers: readonly ServerStatus[];
}

export const FLEET = '.fleet';
const REPORT = /^status-[\w.-]+\.json$/;
/** A worker without a report for this long counts as gone. */
export const STALE_MS = 30_000;

export async function writeFleetReport(runFolder: string, worker: string, report: FleetReport): Promise<void> {
  await replaceFile(
    join(runFolder, FLEET, `status-${worker.replace(/[^\w.-]/g, '-')}.json`),
    `${JSON.stringify(report)}\n`,
  );
}

/** One report per server, over all workers that reported since `since`, ordered by url. */
export async function readFleet(runFolder: string, since: number): Promise<ServerStatus[]> {
  const names = await namesIn(join(runFolder, FLEET)).catch(() => [] as string[]);
  const byUrl = new Map<string, ServerStatus>();
  for (const name of names.filter((n) => REPORT.test(n))) {
    for (const server of await lately(join(runFolder, FLEET, name), since)) {
      const known = byUrl.get(server.url);
      byUrl.set(server.url, known ? merged(known, server) : server);
    }
  }
  return [...byUrl.values()].sort((a, b) => (a.url < b.url ? -1 : 1));
}

async function lately(path: string, since: number): Promise<readonly ServerStatus[]> {
  try {
    const report = JSON.parse((await readText(path)) ?? '') as FleetReport;
    return report.at >= since ? report.servers.filter(isServerStatus) : [];
  } catch {
    // Gone or torn: the next report will follow.
    return [];
  }
}

function merged(a: ServerStatus, b: ServerStatus): ServerStatus {
  const worst = (['down', 'trying', 'up'] as const).find((state) => a.state === state || b.state === state) ?? 'up';
  const newest = (b.version ?? -1) > (a.version ?? -1) ? b : a;
  const fallen = [a, b].find(({ fellFrom }) => fellFrom) ?? newest;
  return {
    url: a.url,
    state: worst,
    requests: a.requests + b.requests,
    failures: a.failures + b.failures,
    failuresBy: added(a.failuresBy, b.failuresBy),
    inFlight: a.inFlight + b.inFlight,
    latencyP50Ms: middle(a, b),
    version: fallen.version,
    versionLabel: fallen.versionLabel,
    fellFrom: fallen.fellFrom,
    lastFailure: a.lastFailure ?? b.lastFailure,
    rechecks: added({ ...a.rechecks }, { ...b.rechecks }),
  };
}

/** Field by field. */
function added<T extends Readonly<Record<string, number>>>(a: T, b: T): T {
  const sum: Record<string, number> = { ...a };
  for (const [name, count] of Object.entries(b)) sum[name] = (sum[name] ?? 0) + count;
  return sum as T;
}

/** Medians cannot be added; their mean, weighted by count, is close enough for display. */
function middle(a: ServerStatus, b: ServerStatus): number | null {
  if (a.latencyP50Ms === null || b.latencyP50Ms === null) return a.latencyP50Ms ?? b.latencyP50Ms;
  const requests = Math.max(1, a.requests + b.requests);
  return (a.latencyP50Ms * a.requests + b.latencyP50Ms * b.requests) / requests;
}
