// An evaluation as it is started: its cells go on by themselves, and one record binds them.

import { unusable } from '../../domain/errors/unusable.ts';
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
import { derivedEvaluationName, readEvaluation, recordEvaluation } from '../../records/run/evaluation-record.ts';

export interface StartedEvaluation {
  readonly name: string;
  /** Absolute. */
  readonly out: string;
  readonly cells: readonly Cell[];
  readonly refused: readonly RefusedCell[];
}

/** Throws what refuses the first cell where none can be played. */
export async function startEvaluation(plan: EvaluationPlan, caller: Caller): Promise<StartedEvaluation> {
  const out = resolvePlace(plan.cwd, plan.out);
  // A damaged record is told before anything is played.
  const known = plan.name === undefined ? undefined : (await readEvaluation(out, plan.name))?.cells;
  const wishes = planCells({ ...plan, known });
  const wanted = wishes.filter((one): one is CellWish => !isRefused(one));
  const prepared = await prepareCells(wanted, caller);
  const refused = [...wishes, ...prepared].filter(isRefused);
  const playable = prepared.filter((one): one is PreparedCell => !isRefused(one));
  if (playable.length === 0) throw refused[0]!.refused;
  mustDiffer(playable);
  const cells = await startCells(playable, caller);
  const runs = cells.map(({ benchmark, label, of, place: { run } }) => ({ benchmark, label, run, of }));
  const name = plan.name ?? derivedEvaluationName(runs);
  await recordEvaluation(out, name, runs, caller.now());
  return { name, out, cells, refused };
}

/** Two cells that are one run would be two rows of the same numbers. */
function mustDiffer(cells: readonly PreparedCell[]): void {
  for (const [i, { label, prepared }] of cells.entries()) {
    const same = cells.slice(0, i).find((other) => other.prepared.place.run === prepared.place.run);
    if (!same) continue;
    for (const one of cells) one.prepared.close();
    const message = `"${same.label}" and "${label}" are one run, ${prepared.place.run}: what differs changes no answer.`;
    throw unusable(message, 'Vary another option.');
  }
}
