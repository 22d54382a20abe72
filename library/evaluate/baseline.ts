// Whether the cells of an evaluation are worse than others of before: a run, or the cells of an evaluation.

import { resolvePlace } from '../../records/place.ts';
import { placeNamed, runPlace, type RunPlace } from '../../run/place.ts';
import { isWorse } from '../../domain/statistics/comparison.ts';
import { type CostOf, compareRuns } from '../compare-runs.ts';
import type { EvaluationRecord, RecordedCell } from '../../records/run/evaluation-record.ts';
import { readEvaluation } from '../../records/run/evaluation-record.ts';

export interface Baseline {
  readonly name: string;
  /** The run that a cell is compared with; undefined: none of this benchmark. */
  placeFor(cell: Pick<RecordedCell, 'benchmark' | 'label'>): RunPlace | undefined;
}

/** The evaluation of this name, or else the run. Throws a UsageError where there is neither. */
export async function findBaseline(named: string, { cwd, out }: { cwd: string; out: string }): Promise<Baseline> {
  const root = resolvePlace(cwd, out);
  const record = await readEvaluation(root, named);
  if (record) return { name: named, placeFor: (cell) => placeIn(root, record, cell) };
  const place = await placeNamed(named, { cwd, out });
  return { name: named, placeFor: () => place };
}

/** Of the same benchmark that of the same model, or the only one. */
function placeIn(
  root: string,
  { cells }: EvaluationRecord,
  { benchmark, label }: Pick<RecordedCell, 'benchmark' | 'label'>,
): RunPlace | undefined {
  const of = cells.filter((one) => one.benchmark === benchmark);
  const same = of.find((one) => one.label === label) ?? (of.length === 1 ? of[0] : undefined);
  return same && runPlace(root, same.run);
}

const FREE: CostOf = () => undefined;

/** Why the cell does not pass beside the run of before; null: it does. */
export async function whyWorse(before: RunPlace | undefined, now: RunPlace): Promise<string | null> {
  if (!before) return 'the baseline has no run of this benchmark and model';
  const places = [before, now] as const;
  const { found } = await compareRuns(places, { measure: 'right', includeSteered: false, costOf: FREE });
  if (found.pairs.length === 0) return `no query is known both here and in ${before.run}`;
  if (!isWorse(found, 0)) return null;
  const { value, p } = found.difference;
  const points = (100 * value!).toFixed(1).replace('-', '−');
  return `worse than ${before.run} by a paired test: ${points} points of ${found.pairs.length} queries, p ${p === null ? 'unknown' : p < 0.0001 ? '< 0.0001' : p.toFixed(4)}`;
}
