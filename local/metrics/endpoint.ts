// The address of the metrics of a worker, from a flag or the environment: a Prometheus endpoint on this machine, or a
// collector that they are sent to. One of them; without either they are on the health port, and without that nothing is measured.

import { UsageError } from '../../domain/errors/errors.ts';

export type MetricsTarget =
  | { readonly kind: 'prometheus'; readonly host: string; readonly port: number }
  | { readonly kind: 'otlp'; readonly url: string }
  | { readonly kind: 'health-port' };

export const METRICS_VARIABLE = 'EVERTURN_METRICS';
export const OTLP_VARIABLE = 'EVERTURN_OTLP';
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
