// The text format of Prometheus, parsed strictly: a line that is neither a comment of a known kind nor a sample throws.

export interface Sample {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

export interface Exposition {
  readonly samples: readonly Sample[];
  readonly help: ReadonlySet<string>;
  readonly types: ReadonlyMap<string, string>;
}

const NAME = '[a-zA-Z_:][a-zA-Z0-9_:]*';
const LABEL = `[a-zA-Z_][a-zA-Z0-9_]*="(?:[^"\\\\\\n]|\\\\["\\\\n])*"`;
const SAMPLE = new RegExp(`^(${NAME})(?:\\{((?:${LABEL})(?:,${LABEL})*),?\\})? (\\S+)$`);

export function parseExposition(text: string): Exposition {
  const samples: Sample[] = [];
  const help = new Set<string>();
  const types = new Map<string, string>();
  for (const line of text.split('\n').filter((one) => one !== '')) {
    const comment = new RegExp(`^# (HELP|TYPE) (${NAME}) (.*)$`).exec(line);
    if (comment) {
      const [, kind, name, rest] = comment;
      if (kind === 'HELP') help.add(name!);
      else types.set(name!, rest!);
      continue;
    }
    const [, name, labels = '', number] = SAMPLE.exec(line) ?? [];
    const value = number === '+Inf' ? Infinity : Number(number);
    if (name === undefined || Number.isNaN(value)) throw new Error(`not of the format: ${line}`);
    const pairs = [...labels.matchAll(/([a-zA-Z_][a-zA-Z0-9_]*)="((?:[^"\\]|\\.)*)"/g)];
    samples.push({ name, value, labels: Object.fromEntries(pairs.map(([, key, text]) => [key!, text!])) });
  }
  return { samples, help, types };
}

/** Σ over all samples of a name whose labels hold these. */
export function total({ samples }: Exposition, name: string, labels: Readonly<Record<string, string>> = {}): number {
  return samples
    .filter((one) => one.name === name && Object.entries(labels).every(([key, text]) => one.labels[key] === text))
    .reduce((sum, { value }) => sum + value, 0);
}

/** Buckets that fall, or whose last is not the count: each as a line. */
export function brokenHistograms({ samples, types }: Exposition): string[] {
  const broken: string[] = [];
  for (const [name, type] of types) {
    if (type !== 'histogram') continue;
    const series = new Map<string, Sample[]>();
    for (const sample of samples.filter((one) => one.name === `${name}_bucket`)) {
      const { le: _, ...rest } = sample.labels;
      series.set(JSON.stringify(rest), [...(series.get(JSON.stringify(rest)) ?? []), sample]);
    }
    for (const [labels, buckets] of series) {
      const counts = buckets.map(({ value }) => value);
      const count = samples.find((one) => one.name === `${name}_count` && JSON.stringify(one.labels) === labels);
      if (counts.some((value, i) => i > 0 && value < counts[i - 1]!)) broken.push(`${name} ${labels} falls`);
      if (buckets.at(-1)?.labels['le'] !== '+Inf' || counts.at(-1) !== count?.value)
        broken.push(`${name} ${labels} count`);
    }
  }
  return broken;
}
