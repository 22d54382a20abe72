// Proves the parent that a fork's run.json names, where the parent's run is beside it. A parent that was removed, or made again
// later under the same name, is not compared. The records that its rollouts carry over: carried.ts.

import { isRunName } from '../../domain/run/ids.ts';
import { dirname } from '../place.ts';
import { openFileStore } from '../file-store.ts';
import type { RunRecord } from '../format/run-record.ts';
import type { Store } from '../store.ts';

export async function* parentProblems(store: Store, run: RunRecord, clockSkewMs: number): AsyncGenerator<string> {
  const from = run.forkedFrom;
  if (!from) return;
  if (from.at - run.createdAt > clockSkewMs) yield `was made at ${run.createdAt}, before it was forked at ${from.at}`;
  if (from.said !== null && from.turn === 1) yield 'has a person’s message before turn 1, which shows the question';
  if (from.turn > run.settings.numTurns) yield `goes on with turn ${from.turn} of ${run.settings.numTurns}`;
  if (!isRunName(from.run)) return yield `was forked from ${JSON.stringify(from.run)}, which names no run`;
  if (from.run === run.run) return yield 'was forked from itself';
  const parent = openFileStore(dirname(store.folder), from.run);
  // A parent that cannot be read is for its own check to name.
  const there = await parent.getRun().catch(() => undefined);
  if (!there) return;
  if (there.hash !== from.runHash) {
    if (there.record.createdAt <= from.at) yield `was forked from another run "${from.run}" than the one beside it`;
    return;
  }
  const id = { run: from.run, query: from.query, sample: from.sample, attempt: from.attempt };
  const rollout = await parent.getRollout(id).catch(() => null);
  const last = from.turn > 1 ? await parent.getTurn(id, from.turn - 1).catch(() => null) : rollout;
  if (rollout === undefined || (rollout && rollout.hash !== from.rolloutHash))
    yield `was forked from a rollout that run "${from.run}" beside it does not have`;
  else if (last === undefined || (last && last.hash !== from.hash))
    yield `goes on behind a turn ${from.turn - 1} that run "${from.run}" beside it does not have`;
}
