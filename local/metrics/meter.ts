// The part of Temporal's metric meter that is used here: what it makes appears on the same endpoint as the SDK's own
// metrics. Units and `_total` are written into the names: the SDK would append them once more, and drops a metric whose
// unit is not a word.

export type MetricTags = Readonly<Record<string, string>>;

interface Counter {
  add(value: number, tags?: MetricTags): void;
}
interface Histogram {
  record(value: number, tags?: MetricTags): void;
}
interface Gauge {
  set(value: number, tags?: MetricTags): void;
}

export interface Meter {
  createCounter(name: string, unit?: string, description?: string): Counter;
  createHistogram(name: string, valueType?: 'int' | 'float', unit?: string, description?: string): Histogram;
  createGauge(name: string, valueType?: 'int' | 'float', unit?: string, description?: string): Gauge;
}

/** Histograms by name, with their buckets: the SDK's own end at 10,000 and are useless for seconds. */
export const BUCKETS = {
  everturn_generate_duration_seconds: [0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300, 600, 1800, 3600],
  everturn_turn_output_tokens: [16, 64, 256, 1024, 4096, 16_384, 65_536],
  everturn_judge_duration_seconds: [0.001, 0.01, 0.05, 0.1, 0.5, 1, 5, 15, 60],
  everturn_store_write_seconds: [0.0005, 0.001, 0.005, 0.01, 0.05, 0.1, 1, 10],
  // Milliseconds; a generation of minutes would be beyond the last of the SDK's.
  activity_execution_latency: [
    100, 500, 1000, 5000, 10_000, 30_000, 60_000, 120_000, 300_000, 600_000, 1_800_000, 3_600_000,
  ],
} as const;
