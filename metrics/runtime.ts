// The SDK's runtime of a worker process: its log, on stderr, and its metrics. One a process; installed before anything
// else of the SDK is used.

import { DefaultLogger, Runtime, type RuntimeOptions } from '@temporalio/worker';
import { explain } from '../domain/errors.ts';
import type { MetricsTarget } from './endpoint.ts';
import { BUCKETS, type Meter } from './meter.ts';

/** The SDK's warnings about queues that serve only some kinds of work, as intended here. */
const EXPECTED = /^No (?:Nexus services|workflows) registered, not polling/;

/** The runtime's meter; undefined if nothing is measured. A taken port is said, and the worker works without metrics. */
export function installRuntime(target: MetricsTarget | null): Meter | undefined {
  const options: RuntimeOptions = {
    logger: new DefaultLogger('INFO', ({ level, timestampNanos, message, meta }) => {
      if (EXPECTED.test(message)) return;
      const time = new Date(Number(timestampNanos / 1_000_000n)).toISOString();
      process.stderr.write(`${time} ${level} ${message}${meta ? ` ${JSON.stringify(meta)}` : ''}\n`);
    }),
    shutdownSignals: [],
  };
  if (target) {
    try {
      Runtime.install({ ...options, telemetryOptions: { metrics: metricsOptions(target) } });
      if (target.kind === 'prometheus') console.error(`Metrics at http://${target.host}:${target.port}/metrics`);
      return Runtime.instance().metricMeter;
    } catch (error) {
      console.error(`No metrics: ${explain(error)}. This worker works without them; give it another --metrics-port.`);
    }
  }
  Runtime.install(options);
  return undefined;
}

/** `unitSuffix`, `countersTotalSuffix` and seconds stay off: public dashboards of Temporal expect the names without. */
function metricsOptions(target: MetricsTarget) {
  const histogramBucketOverrides = Object.fromEntries(Object.entries(BUCKETS).map(([name, to]) => [name, [...to]]));
  return target.kind === 'otlp'
    ? { otel: { url: target.url, http: true, histogramBucketOverrides } }
    : { prometheus: { bindAddress: `${target.host}:${target.port}`, histogramBucketOverrides } };
}
