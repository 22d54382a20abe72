// A worker's settings, from its environment and its flags: one that the local service started serves one user only.

import { UsageError } from './domain/errors/errors.ts';
import { unsafeCodeAllowed } from './environments/code/consent.ts';
import { metricsTarget, type MetricsTarget } from './local/metrics/runtime.ts';
import { type Operator, operatorOf, type OperatorWords } from './local/permissions/operator.ts';
import { newToken } from './client/feed/feed-http.ts';
import type { SessionsOptions } from './endpoint/index.ts';
import { readPrivate, writePrivate } from './local/machine/private-file.ts';
import { type Home, homeOf } from './local/service/home.ts';
import { type DeploymentVersion, deploymentOf } from './client/temporal/deployment.ts';

export interface WorkerSettings {
  /** Concurrent generations: the model's slots. */
  readonly slots: number;
  /** Runs model-written programs without a sandbox. */
  readonly unsafeCode: boolean;
  /** Permissions of workflows beyond the runs of the user's own commands. */
  readonly operator: Operator;
  /** Seconds that work in flight may take to finish once the worker is asked to stop. */
  readonly drainSeconds: number;
  /** The version of a worker deployment that it is; undefined: all workers share all work. */
  readonly version?: DeploymentVersion | undefined;
  /** Serves `/live`, `/ready` and `/metrics`. */
  readonly health?: { readonly host: string; readonly port: number };
  /** Null: nothing is measured, unless there is a health port. */
  readonly metrics?: MetricsTarget | null;
  /** Serves the feeds of this user's runs, for a local service of this home. */
  readonly feeds?: Home | undefined;
  /** Hands out sessions to agents that run elsewhere. */
  readonly sessions?: SessionsOptions | undefined;
}

export const DEFAULT_SLOTS = 64;
/** What is cancelled then is generated again, elsewhere. */
export const DEFAULT_DRAIN_SECONDS = 2;

/** The environment's settings; for the operator's lists, flags have precedence. */
export function workerSettings(
  env: NodeJS.ProcessEnv,
  flags: OperatorWords & { readonly metricsPort?: string; readonly sessions?: string } = {},
  at: { readonly local?: boolean; readonly cwd?: string } = {},
): WorkerSettings {
  const operator = operatorOf(env, flags, at);
  const metrics = metricsTarget(env, flags.metricsPort);
  const unsafeCode = unsafeCodeAllowed(env);
  const slots = readWholeNumber('EVERTURN_SLOTS', env['EVERTURN_SLOTS'], 1) ?? DEFAULT_SLOTS;
  // The local service ends its worker after 10 s, whatever it does.
  const wanted = at.local ? undefined : readWholeNumber('EVERTURN_DRAIN_SECONDS', env['EVERTURN_DRAIN_SECONDS'], 0);
  // A local service has no two versions.
  const version = at.local ? undefined : deploymentOf(env);
  const feeds = at.local ? homeOf(env) : undefined;
  const sessions = sessionsOf(env, flags.sessions, feeds);
  const drain = wanted ?? DEFAULT_DRAIN_SECONDS;
  return { slots, unsafeCode, operator, drainSeconds: drain, version, metrics, feeds, sessions };
}

/** The local service has the address and the key that it had before, so that agents find it again. */
function sessionsOf(env: NodeJS.ProcessEnv, given: string | undefined, home?: Home): SessionsOptions | undefined {
  const named = given ?? (env['EVERTURN_SESSIONS'] || undefined);
  const address = named === undefined ? undefined : listenAddress('The address of sessions', named, '127.0.0.1');
  const own = env['EVERTURN_SESSIONS_KEY'];
  if (home) {
    const kept = JSON.parse(readPrivate(home.sessionsFile) ?? '{}') as {
      readonly port?: number;
      readonly key?: string;
    };
    const key = own || kept.key || newToken();
    return {
      ...(address ?? { host: '127.0.0.1', port: kept.port ?? 0, orAny: true }),
      key,
      onListening: (url) =>
        writePrivate(home.sessionsFile, `${JSON.stringify({ url, key, port: Number(new URL(url).port) })}\n`),
    };
  }
  if (!address) return undefined;
  if (own) return { ...address, key: own, onListening: (url) => console.error(`Sessions   ${url}`) };
  throw new UsageError('Sessions go to those who have their key, and EVERTURN_SESSIONS_KEY is not set.', {
    reason: 'no-token',
    fix: 'Set it to a secret, for the worker and for the agents.',
  });
}

/** `[host:]port` */
export function listenAddress(what: string, text: string, fallback: string) {
  const [, host = fallback, port = ''] = /^(?:(.+):)?(\d{1,5})$/.exec(text) ?? [];
  if (port !== '' && Number(port) <= 65_535) return { host: host.replace(/^\[|\]$/g, ''), port: Number(port) };
  throw new UsageError(`${what} is ${JSON.stringify(text)}.`, {
    reason: 'bad-value',
    fix: 'It takes a port, or a host and a port: 9000, 127.0.0.1:9000.',
  });
}

/** The number of a flag or variable; undefined where it is not set. */
function readWholeNumber(name: string, text: string | undefined, least: number): number | undefined {
  if (!text) return undefined;
  if (/^\d{1,5}$/.test(text) && Number(text) >= least) return Number(text);
  throw new UsageError(`${name} is "${text}".`, {
    reason: 'bad-value',
    fix: `It takes a whole number of at least ${least}.`,
  });
}
