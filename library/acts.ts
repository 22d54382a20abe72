// A person's acts on a rollout: a verdict on a turn, which stays beside the judge's, and a note on a turn or on all of it.

import { unusable } from '../domain/errors/unusable.ts';
import type { RolloutId } from '../domain/names/ids.ts';
import type { TurnRecord } from '../domain/rollout/turn.ts';
import { actName, type NoteAct, standingVerdicts, type SteeringAct, type VerdictAct } from '../domain/run/steering.ts';
import { plural } from '../domain/text/plural.ts';
import { actsOn, putAct, readActs, type StoredAct } from '../records/run/steering.ts';
import type { Stored } from '../records/store.ts';
import type { RunPlace } from '../run/place.ts';
import { findRollout, noRollout, rolloutTitle, type WhichRollout } from './find-rollout.ts';

/** Whose act it is. A dry run writes nothing. */
interface Signed extends Pick<SteeringAct, 'by' | 'via' | 'at'> {
  readonly dryRun: boolean;
}

export async function recordAct({ store }: RunPlace, act: SteeringAct, dryRun: boolean): Promise<StoredAct> {
  if (!dryRun) return putAct(store, act);
  const name = actName(act);
  return { name, act, created: true, file: `steering/${name}.json` };
}

/** `turn`: null for the rollout as a whole. */
export async function recordNote(
  place: RunPlace,
  which: WhichRollout,
  { turn, text, dryRun, ...signed }: Signed & Pick<NoteAct, 'text'> & { readonly turn: number | null },
): Promise<{ readonly id: RolloutId; readonly stored: StoredAct }> {
  const id = await findRollout(place, which);
  const about = turn === null ? await place.store.get('rollout', id) : await turnOf(place, id, turn);
  if (!about) throw await noRollout(place, which.query);
  const { query, sample, attempt } = id;
  const act: NoteAct = { act: 'note', of: { query, sample, attempt, turn, hash: about.hash }, text, ...signed };
  return { id, stored: await recordAct(place, act, dryRun) };
}

/**
 * The same verdict of the same person is recorded once. `others`: verdicts of other people that stand; `wentOn`: turns after it
 * answered feedback that it contradicts.
 */
export async function recordVerdict(
  place: RunPlace,
  which: WhichRollout,
  given: Signed & Pick<VerdictAct, 'verdict' | 'reason'> & { readonly turn: number },
) {
  const { turn, verdict, reason, by, via, at, dryRun } = given;
  const id = await findRollout(place, which);
  const { hash } = await turnOf(place, id, turn);
  const judge = (await place.store.get('verdict', id, turn))?.record;
  if (!judge) {
    throw unusable(
      `${rolloutTitle(id, turn)} is still being judged.`,
      "Give the verdict once the judge has given its own; it stays beside the judge's.",
      'still-played',
    );
  }
  const standing = standingVerdicts(actsOn(await readActs(place.store), id), turn);
  const own = standing.find(({ act }) => act.by === by);
  const { query, sample, attempt } = id;
  const of = { query, sample, attempt, turn, hash };
  const act: VerdictAct = { act: 'verdict', of, verdict, reason, after: own?.name ?? null, by, via, at };
  const isSame = own?.act.verdict === verdict && own.act.reason === reason;
  const before = isSame && { ...own, created: false, file: `steering/${own.name}.json` };
  const stored = before || (await recordAct(place, act, dryRun));
  const others = standing.flatMap(({ act: one }) =>
    one.by === by ? [] : [{ by: one.by, verdict: one.verdict, reason: one.reason }],
  );
  const ended = (await place.store.get('end', id))?.record;
  const wentOn = verdict !== judge.verdict && (!ended || turn < ended.turns.length);
  return { id, stored, judge: { verdict: judge.verdict, reason: judge.reason }, others, wentOn };
}

/** The record of a turn; throws a UsageError if the rollout has no such turn. */
async function turnOf({ store }: RunPlace, id: RolloutId, turn: number): Promise<Stored<TurnRecord>> {
  const found = await store.get('turn', id, turn);
  if (found) return found;
  let there = 0;
  while (await store.get('turn', id, there + 1)) there++;
  const open = (await store.get('end', id)) === undefined;
  throw unusable(
    `--turn ${turn}: that rollout has ${plural(there, 'turn')}${open ? ' so far' : ''}.`,
    there === 0 ? 'Wait for its first turn.' : `Give a turn from 1 to ${there}.`,
    'no-such-turn',
  );
}
