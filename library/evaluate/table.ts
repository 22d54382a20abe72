// The numbers of an evaluation: for each benchmark the table that `compare` makes of its runs, and what they were played with.

import type { RecordedSetting } from '../../records/format/run-record.ts';
import type { RunPlace } from '../../run/place.ts';
import { type CostOf, tableOfRuns, type TableOfRuns } from '../compare-runs.ts';

interface PlacedCell {
  readonly benchmark: string;
  readonly label: string;
  readonly place: RunPlace;
}

export interface BenchmarkTable extends TableOfRuns {
  readonly benchmark: string;
}

export interface InForce {
  readonly name: string;
  readonly value: unknown;
}

export interface EvaluationTable {
  readonly benchmarks: readonly BenchmarkTable[];
  /** What all of its runs were played with. */
  readonly settings: readonly InForce[];
  /** What differs, by run. */
  readonly differing: Readonly<Record<string, readonly InForce[]>>;
}

export async function evaluationTable(cells: readonly PlacedCell[], costOf: CostOf): Promise<EvaluationTable> {
  const names = [...new Set(cells.map(({ benchmark }) => benchmark))];
  const benchmarks: BenchmarkTable[] = [];
  for (const benchmark of names) {
    const own = cells.filter((cell) => cell.benchmark === benchmark);
    const places = own.map(({ place }) => place);
    const labels = own.map(({ label }) => label);
    benchmarks.push({ benchmark, ...(await tableOfRuns(places, { labels, costOf, includeSteered: false })) });
  }
  return { benchmarks, ...settingsInForce(benchmarks.flatMap(({ runs }) => runs)) };
}

/** They decide answers: shown whatever their source. */
const ALWAYS: ReadonlySet<string> = new Set(['numTurns', 'samples', 'temperature', 'topP', 'topK', 'maxNewTokens']);
/** The model is in the table, and the seed follows from a run's name. */
const NEVER: ReadonlySet<string> = new Set(['model', 'seed']);

function settingsInForce(runs: TableOfRuns['runs']): Pick<EvaluationTable, 'settings' | 'differing'> {
  const shown = (all: readonly RecordedSetting[]) =>
    all.filter(({ name, origin }) => ALWAYS.has(name) || (origin !== 'default' && !NEVER.has(name)));
  const names = [...new Set(runs.flatMap(({ settings }) => shown(settings).map(({ name }) => name)))];
  const valueIn = ({ settings }: (typeof runs)[number], name: string) =>
    settings.find((one) => one.name === name)?.value ?? null;
  const differs = (name: string) => new Set(runs.map((run) => JSON.stringify(valueIn(run, name)))).size > 1;
  const given = (of: readonly string[], run: (typeof runs)[number]) =>
    of.map((name) => ({ name, value: valueIn(run, name) }));
  const [first] = runs;
  const others = names.filter(differs);
  return {
    settings: first
      ? given(
          names.filter((name) => !differs(name)),
          first,
        )
      : [],
    differing: others.length === 0 ? {} : Object.fromEntries(runs.map((run) => [run.run, given(others, run)])),
  };
}
