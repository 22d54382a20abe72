// The reports of a run's workers about its servers: one small file per worker in `<run>/.fleet`, replaced as a whole
// from time to time. For people; not part of the run's records.

import { join } from '../place.ts';
import { readText, replaceFile } from '../disk/write-once.ts';
import { namesIn } from '../in-flight/listing.ts';

export interface ServerReport {
  readonly url: string;
  readonly state: 'up' | 'trying' | 'down';
  readonly requests: number;
  readonly failures: number;
  /** The same by reason. */
  readonly failuresBy: Readonly<Record<string, number>>;
  readonly inFlight: number;
  readonly latencyP50Ms: number | null;
  readonly version: number | null;
  readonly versionLabel: string | null;
  /** The later version that it had before; null unless it went back. */
  readonly fellFrom: string | null;
  readonly lastFailure: string | null;
  /** Answers whose logprobs were asked for again. */
  readonly rechecks?: Rechecks;
}

export interface Rechecks {
  readonly answers: number;
  readonly tokens: number;
  /** The waits of these answers in sum: they wait beside each other. */
  readonly waitedMs: number;
  readonly differed: number;
}

export interface FleetReport {
  /** Epoch milliseconds. */
  readonly at: number;
  readonly servers: readonly ServerReport[];
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
export async function readFleet(runFolder: string, since: number): Promise<ServerReport[]> {
  const names = await namesIn(join(runFolder, FLEET)).catch(() => [] as string[]);
  const byUrl = new Map<string, ServerReport>();
  for (const name of names.filter((n) => REPORT.test(n))) {
    for (const server of await lately(join(runFolder, FLEET, name), since)) {
      const known = byUrl.get(server.url);
      byUrl.set(server.url, known ? merged(known, server) : server);
    }
  }
  return [...byUrl.values()].sort((a, b) => (a.url < b.url ? -1 : 1));
}

async function lately(path: string, since: number): Promise<readonly ServerReport[]> {
  try {
    const report = JSON.parse((await readText(path)) ?? '') as FleetReport;
    return report.at >= since ? report.servers : [];
  } catch {
    // Gone or torn: the next report will follow.
    return [];
  }
}

function merged(a: ServerReport, b: ServerReport): ServerReport {
  const worst = (['down', 'trying', 'up'] as const).find((state) => a.state === state || b.state === state) ?? 'up';
  const newest = (b.version ?? -1) > (a.version ?? -1) ? b : a;
  const fallen = [a, b].find(({ fellFrom }) => fellFrom) ?? newest;
  return {
    url: a.url,
    state: worst,
    requests: a.requests + b.requests,
    failures: a.failures + b.failures,
    failuresBy: added(a.failuresBy ?? {}, b.failuresBy ?? {}),
    inFlight: a.inFlight + b.inFlight,
    latencyP50Ms: middle(a, b),
    version: fallen.version,
    versionLabel: fallen.versionLabel,
    fellFrom: fallen.fellFrom,
    lastFailure: a.lastFailure ?? b.lastFailure,
    rechecks: addedRechecks(a.rechecks, b.rechecks),
  };
}

function added(a: Readonly<Record<string, number>>, b: Readonly<Record<string, number>>): Record<string, number> {
  const sum: Record<string, number> = { ...a };
  for (const [reason, count] of Object.entries(b)) sum[reason] = (sum[reason] ?? 0) + count;
  return sum;
}

function addedRechecks(a = NO_RECHECKS, b = NO_RECHECKS): Rechecks {
  return {
    answers: a.answers + b.answers,
    tokens: a.tokens + b.tokens,
    waitedMs: a.waitedMs + b.waitedMs,
    differed: a.differed + b.differed,
  };
}
const NO_RECHECKS: Rechecks = { answers: 0, tokens: 0, waitedMs: 0, differed: 0 };

/** Medians cannot be added; their mean, weighted by count, is close enough for display. */
function middle(a: ServerReport, b: ServerReport): number | null {
  if (a.latencyP50Ms === null || b.latencyP50Ms === null) return a.latencyP50Ms ?? b.latencyP50Ms;
  const requests = Math.max(1, a.requests + b.requests);
  return (a.latencyP50Ms * a.requests + b.latencyP50Ms * b.requests) / requests;
}
