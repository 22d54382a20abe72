// An evaluation as it is started: its cells go on by themselves, and one record binds them.

import { resolvePlace } from '../../records/place.ts';
import type { Caller } from '../../run/caller.ts';
import {
  type Cell,
  type CellWish,
  isRefused,
  type PreparedCell,
  prepareCells,
  type RefusedCell,
  startCells,
} from './cells.ts';
import { type EvaluationPlan, planCells } from './plan.ts';
import { derivedEvaluationName, recordEvaluation } from '../../records/run/evaluation-record.ts';

export interface StartedEvaluation {
  readonly name: string;
  /** Absolute. */
  readonly out: string;
  readonly cells: readonly Cell[];
  readonly refused: readonly RefusedCell[];
}

/** Throws what refuses the first cell where none can be played. */
export async function startEvaluation(plan: EvaluationPlan, caller: Caller): Promise<StartedEvaluation> {
  const wishes = planCells(plan);
  const wanted = wishes.filter((one): one is CellWish => !isRefused(one));
  const prepared = await prepareCells(wanted, caller);
  const refused = [...wishes, ...prepared].filter(isRefused);
  const playable = prepared.filter((one): one is PreparedCell => !isRefused(one));
  if (playable.length === 0) throw refused[0]!.refused;
  const cells = await startCells(playable, caller);
  const runs = cells.map(({ benchmark, label, place: { run } }) => ({ benchmark, label, run }));
  const name = plan.name ?? derivedEvaluationName(runs);
  const out = resolvePlace(plan.cwd, plan.out);
  await recordEvaluation(out, name, runs, caller.now());
  return { name, out, cells, refused };
}
