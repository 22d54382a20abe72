// The numbers of an evaluation: for each benchmark the table that `compare` makes of its runs, and what they were played with.

import { settingsInForce, type SettingsInForce } from '../../records/format/settings-in-force.ts';
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

export interface EvaluationTable extends SettingsInForce {
  readonly benchmarks: readonly BenchmarkTable[];
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
