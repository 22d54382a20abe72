// Proves the copies in a forked rollout from its own folder: each gives its original's hash, each original turn names the one
// before it, back to the parent's rollout.json, and nothing else is a copy. The parent's folder: forked-run.ts.

import { originalOf } from '../../domain/rollout/copy-records.ts';
import type { Carried } from '../../domain/rollout/lineage.ts';
import { ROLLOUT_FILE, turnFile, verdictFile } from '../format/layout.ts';
import type { RecordKind } from '../format/kinds.ts';
import { encodeRecord } from '../format/text.ts';
import type { CheckedRollout, Problem } from './checked.ts';

interface Copy {
  readonly turn: number;
  readonly carried?: Carried;
}

export function* carriedProblems({ rollout, turns, verdicts, messages }: CheckedRollout): Generator<Problem> {
  const { parent } = rollout;
  const copies = parent ? parent.turn - 1 : 0;
  const markOf = (turn: number) => turns[turn - 1]?.record.carried;
  for (const [i, turn] of turns.entries()) if (turn) yield* proved(turnFile(i + 1), 'turn', turn.record);
  for (const [i, verdict] of verdicts.entries()) if (verdict) yield* proved(verdictFile(i + 1), 'verdict', verdict);
  for (const [file, { record }] of messages) yield* proved(file, 'say', record);
  if (!parent) return;
  if (parent.query !== rollout.query.queryId)
    yield [ROLLOUT_FILE, `goes on from the query ${JSON.stringify(parent.query)}, and plays another`];
  let previous = parent.rolloutHash;
  for (let turn = 1; turn <= copies; turn++) {
    const mark = markOf(turn);
    // Broken, not a copy, or not there yet.
    if (!mark) return;
    if (mark.previous !== previous)
      yield [turnFile(turn), `is a copy of a turn behind ${mark.previous}; the one before it is ${previous}`];
    previous = mark.sha256;
  }
  if (previous !== parent.hash)
    yield [ROLLOUT_FILE, `goes on from ${parent.hash}; the last record that it carries over is ${previous}`];

  function* proved(file: string, kind: RecordKind, copy: Copy): Generator<Problem> {
    const { turn, carried } = copy;
    if (!carried || !parent || turn > copies) {
      if (carried) yield [file, `is marked as carried over, and its rollout carries ${copies} turns over`];
      else if (turn <= copies) yield [file, 'is no copy, though its turn is carried over'];
      return;
    }
    const changed =
      kind === 'turn' ? { previous: carried.previous ?? '' } : { of: markOf(kind === 'say' ? turn - 1 : turn)?.sha256 };
    const { query, sample, attempt } = parent;
    const { hash } = encodeRecord(kind, { query, sample, attempt }, originalOf(copy, changed as Partial<Copy>));
    if (hash !== carried.sha256)
      yield [file, `is no copy of ${carried.sha256}: without its marks it has the hash ${hash}`];
  }
}
