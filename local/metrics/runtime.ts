// The SDK's runtime of a worker process: its log, on stderr, and its metrics. One a process; installed before anything
// else of the SDK is used.

import { IllegalStateError } from '@temporalio/common';
import { DefaultLogger, Runtime, type RuntimeOptions } from '@temporalio/worker';
import { explain, UsageError } from '../../domain/errors/errors.ts';
import type { Metrics } from '../machine/health-port.ts';
import { hiddenPlace } from '../machine/ports.ts';
import { BUCKETS, type Meter } from './meter.ts';

/** The SDK's warnings about queues that serve only some kinds of work, as intended here. */
const EXPECTED = /^No (?:Nexus services|workflows) registered, not polling/;

/** Somebody else may take a free one before it is bound. */
const FREE_PORTS = 5;

interface InstalledRuntime {
  /** Undefined: nothing is measured. */
  readonly meter: Meter | undefined;
  /** The address of the text, or why there is none: the health port says it. */
  readonly metrics: Metrics;
}

/** A port that is taken is said, and the worker works without metrics. */
export async function installRuntime(target: MetricsTarget | null): Promise<InstalledRuntime> {
  const options: RuntimeOptions = {
    logger: new DefaultLogger('INFO', ({ level, timestampNanos, message, meta }) => {
      if (EXPECTED.test(message)) return;
      const time = new Date(Number(timestampNanos / 1_000_000n)).toISOString();
      process.stderr.write(`${time} ${level} ${message}${meta ? ` ${JSON.stringify(meta)}` : ''}\n`);
    }),
    shutdownSignals: [],
  };
  let why = 'nothing is measured';
  for (let tries = target?.kind === 'health-port' ? FREE_PORTS : 1; target && tries > 0; tries--) {
    try {
      const goal = target.kind === 'health-port' ? { kind: 'prometheus' as const, ...(await hiddenPlace()) } : target;
      Runtime.install({ ...options, telemetryOptions: { metrics: metricsOptions(goal) } });
      if (target.kind === 'prometheus') console.error(`Metrics at http://${target.host}:${target.port}/metrics`);
      return { meter: Runtime.instance().metricMeter, metrics: textOf(goal) };
    } catch (error) {
      why = explain(error);
    }
  }
  if (target) {
    const fix = target.kind === 'prometheus' ? '; give it another --metrics-port' : '';
    console.error(`No metrics: ${why}. This worker works without them${fix}.`);
  }
  Runtime.install(options);
  return { meter: undefined, metrics: { kind: 'none', status: 503, why: `no metrics: ${why}` } };
}

/** In a program of the user's, which may have installed its own: warnings alone, to `log`, and no signal is caught. */
export function installQuietRuntime(log: (line: string) => void): void {
  try {
    const logger = new DefaultLogger('WARN', ({ message }) => void (EXPECTED.test(message) || log(message)));
    Runtime.install({ logger, shutdownSignals: [] });
  } catch (error) {
    // One is installed already, and stays.
    if (!(error instanceof IllegalStateError)) throw error;
  }
}

type Goal = Exclude<MetricsTarget, { kind: 'health-port' }>;

/** `unitSuffix`, `countersTotalSuffix` and seconds stay off: public dashboards of Temporal expect the names without. */
function metricsOptions(goal: Goal) {
  const histogramBucketOverrides = Object.fromEntries(Object.entries(BUCKETS).map(([name, to]) => [name, [...to]]));
  return goal.kind === 'otlp'
    ? { otel: { url: goal.url, http: true, histogramBucketOverrides } }
    : { prometheus: { bindAddress: `${goal.host}:${goal.port}`, histogramBucketOverrides } };
}

/** The origin alone of a collector: its path may hold a key. */
function textOf(goal: Goal): Metrics {
  if (goal.kind === 'otlp') {
    const why = `not found: the metrics go to ${new URL(goal.url).origin} (${OTLP_VARIABLE})`;
    return { kind: 'none', status: 404, why };
  }
  const host = goal.host.replace(/^\[|\]$/g, '');
  return { kind: 'at', host: HERE[host] ?? host, port: goal.port };
}

/** An address that stands for all of this machine, and one of them. */
const HERE: Readonly<Record<string, string>> = { '0.0.0.0': '127.0.0.1', '::': '::1' };

export type MetricsTarget =
  | { readonly kind: 'prometheus'; readonly host: string; readonly port: number }
  | { readonly kind: 'otlp'; readonly url: string }
  | { readonly kind: 'health-port' };

const METRICS_VARIABLE = 'EVERTURN_METRICS';
const OTLP_VARIABLE = 'EVERTURN_OTLP';
const LOOPBACK = '127.0.0.1';

export function metricsTarget(
  env: Readonly<Record<string, string | undefined>>,
  flagPort: string | undefined,
): MetricsTarget | null {
  const given = env[METRICS_VARIABLE];
  const url = env[OTLP_VARIABLE];
  if (flagPort !== undefined) return { kind: 'prometheus', host: LOOPBACK, port: portOf('--metrics-port', flagPort) };
  if (given) {
    const [, host = LOOPBACK, port = ''] = /^(?:(.+):)?(\d+)$/.exec(given) ?? [];
    return { kind: 'prometheus', host, port: portOf(METRICS_VARIABLE, port, given) };
  }
  if (!url) return null;
  if (!URL.canParse(url) || !/^https?:$/.test(new URL(url).protocol)) {
    throw new UsageError(`${OTLP_VARIABLE} is no http url.`, {
      reason: 'bad-value',
      fix: 'Write the address of a collector, such as http://127.0.0.1:4318/v1/metrics.',
    });
  }
  return { kind: 'otlp', url };
}

function portOf(what: string, text: string, shown = text): number {
  const port = Number(text);
  if (/^\d{1,5}$/.test(text) && port >= 1 && port <= 65_535) return port;
  throw new UsageError(`${what} is ${JSON.stringify(shown)}.`, {
    reason: 'bad-value',
    fix: 'It takes a port, such as 9464, or host:port in the variable. The host is 127.0.0.1 unless one is named.',
  });
}
