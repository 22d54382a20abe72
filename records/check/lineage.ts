// Proves the lineage of a forked rollout from its own folder: each copy gives its original's hash, each original names the one
// before it, back to the parent's rollout.json; and nothing else is a copy. Proves a person's messages: each is the one that
// its turn answered. The parent's folder, where it is there: forked-run.ts.

import { originalOf } from '../../domain/run/copies.ts';
import type { Carried, Parent } from '../../domain/rollout/lineage.ts';
import type { SayRecord } from '../../domain/text/say.ts';
import type { EndRecord, RolloutRecord, VerdictRecord } from '../../domain/rollout/trajectory.ts';
import type { TurnRecord } from '../../domain/rollout/turn.ts';
import { ROLLOUT_FILE, sayFile, turnFile, verdictFile } from '../record/layout.ts';
import type { RecordKind } from '../record/kinds.ts';
import { encodeRecord } from '../record/text.ts';
import type { Stored } from '../store.ts';

export interface Inherited {
  readonly rollout: Stored<RolloutRecord>;
  /** Index t − 1; undefined if missing or broken. */
  readonly turns: readonly (Stored<TurnRecord> | undefined)[];
  readonly verdicts: readonly (Stored<VerdictRecord> | undefined)[];
  /** The readable messages, by turn. */
  readonly messages: ReadonlyMap<number, Stored<SayRecord>>;
  /** Turns that have a message's file. */
  readonly files: readonly number[];
  readonly end: EndRecord | undefined;
}

/** A file and its problem. */
type Problem = readonly [file: string, problem: string];

/** Ends in which a turn may have been asked for and not stored. */
const UNFINISHED = ['failed', 'cancelled', 'context-length'];

export function sayProblems({ turns, messages, files, end }: Inherited): Problem[] {
  const problems: Problem[] = [];
  const count = turns.length;
  for (const turn of files) {
    const say = (problem: string) => problems.push([sayFile(turn), problem]);
    const record = turns[turn - 1]?.record;
    const message = messages.get(turn);
    const before = turns[turn - 2];
    const mayWait = turn === count + 1 && (!end || UNFINISHED.includes(end.stopReason));
    if (turn > count && !mayWait) say(`is a message before turn ${turn}, which was never played`);
    if (!message) continue;
    const { record: claimed, hash } = message;
    if (claimed.turn !== turn) say(`says it is before turn ${claimed.turn}`);
    if (before && claimed.of !== before.hash)
      say(`follows another turn ${turn - 1}: ${claimed.of}, not ${before.hash}`);
    if (!record) continue;
    const original = record.carried ? claimed.carried?.sha256 : hash;
    if (!record.said) say(`is a message that turn ${turn} did not answer`);
    else if (record.said.hash !== original || record.said.text !== claimed.text)
      say(`is another message than the one that turn ${turn} answered`);
  }
  for (const turn of turns) {
    if (turn?.record.said && !files.includes(turn.record.turn))
      problems.push([turnFile(turn.record.turn), 'answers a message of a person that is not there']);
  }
  return problems;
}

export async function lineageProblems(inherited: Inherited): Promise<Problem[]> {
  const { rollout, turns, verdicts, messages } = inherited;
  const { parent } = rollout.record;
  const problems: Problem[] = [];
  const copies = parent ? parent.turn - 1 : 0;
  const marks: [string, Carried | undefined, number][] = [
    ...turns.map((turn, i): [string, Carried | undefined, number] => [turnFile(i + 1), turn?.record.carried, i + 1]),
    ...verdicts.map((one, i): [string, Carried | undefined, number] => [
      verdictFile(i + 1),
      one?.record.carried,
      i + 1,
    ]),
    ...[...messages].map(([turn, one]): [string, Carried | undefined, number] => [
      sayFile(turn),
      one.record.carried,
      turn,
    ]),
  ];
  for (const [file, carried, turn] of marks) {
    if (carried && turn > copies)
      problems.push([
        file,
        parent
          ? `is marked as carried over; turns before ${parent.turn} are`
          : 'is marked as carried over, and its rollout has no parent',
      ]);
  }
  if (!parent) return problems;
  if (parent.query !== rollout.record.query.queryId)
    problems.push([ROLLOUT_FILE, `goes on from the query ${JSON.stringify(parent.query)}, and plays another`]);
  let previous: string | undefined = parent.rolloutHash;
  for (let turn = 1; turn <= Math.min(copies, turns.length); turn++) {
    const copy = turns[turn - 1]?.record;
    if (!copy) {
      previous = undefined;
      continue;
    }
    const { carried } = copy;
    if (!carried) {
      problems.push([turnFile(turn), `is no copy, though turns before ${parent.turn} are carried over`]);
      previous = undefined;
      continue;
    }
    await prove(turnFile(turn), 'turn', carried, originalOf(copy, { previous: carried.previous ?? '' }), parent);
    if (previous !== undefined && carried.previous !== previous)
      problems.push([
        turnFile(turn),
        `is a copy of a turn behind ${carried.previous}; the one before it is ${previous}`,
      ]);
    previous = carried.sha256;
    await proveCopy(verdictFile(turn), 'verdict', verdicts[turn - 1]?.record, { of: carried.sha256 });
    const before = turn > 1 ? turns[turn - 2]?.record.carried?.sha256 : undefined;
    if (before !== undefined) await proveCopy(sayFile(turn), 'say', messages.get(turn)?.record, { of: before });
  }
  if (previous !== undefined && turns.length >= copies && previous !== parent.hash)
    problems.push([ROLLOUT_FILE, `goes on from ${parent.hash}; the last record that it carries over is ${previous}`]);
  return problems;

  async function proveCopy(
    file: string,
    kind: 'verdict' | 'say',
    copy: VerdictRecord | SayRecord | undefined,
    changed: { readonly of: string },
  ): Promise<void> {
    if (!copy) return;
    if (!copy.carried) problems.push([file, 'is no copy, though its turn is carried over']);
    else await prove(file, kind, copy.carried, originalOf<VerdictRecord | SayRecord>(copy, changed), parent!);
  }

  async function prove(
    file: string,
    kind: RecordKind,
    carried: Carried,
    original: object,
    { query, sample, attempt }: Parent,
  ) {
    const { hash } = await encodeRecord(kind, { query, sample, attempt }, original);
    if (hash !== carried.sha256)
      problems.push([file, `is no copy of ${carried.sha256}: without its marks it has the hash ${hash}`]);
  }
}
