// A person's acts on one rollout, as records beside the run's own: a verdict, a note, a retry. Each names a record of
// the rollout by its hash. Identity is content: the same act has the same name, so recording it twice is harmless.
// Guarantees: pure; a person's verdicts on a turn form a chain by `after`, so the last one is known without clocks.
// Not covered: who somebody is. `by` is a claim.

import type { RolloutId } from '../names/ids.ts';
import { COUNT, HASH, NAME, type ObjectOf, objectOf, oneOf, orNull, PLACE } from '../schema/fields.ts';
import { sha256Hex } from '../text/sha256.ts';

/** The record that an act is about. */
const ACT_OF = objectOf({
  query: NAME,
  sample: COUNT,
  attempt: PLACE,
  /** 1-based; null: the rollout as a whole. */
  turn: orNull(PLACE),
  /** SHA-256 of the turn's record; of rollout.json for the whole rollout, of end.json for a retry. */
  hash: HASH,
});

export const HUMAN_VERDICTS = ['right', 'wrong'] as const;
type HumanVerdict = (typeof HUMAN_VERDICTS)[number];

const act = <const A extends string>(kind: A) => ({
  act: oneOf(kind),
  of: ACT_OF,
  by: NAME,
  /** The program that recorded it: `cli`. */
  via: NAME,
  /** Epoch milliseconds. */
  at: COUNT,
});
/** The fields of an act by its kind. */
export const ACT_FIELDS = {
  verdict: {
    ...act('verdict'),
    verdict: oneOf(...HUMAN_VERDICTS),
    reason: orNull(NAME),
    /** The name of this person's verdict on this turn that it replaces; null for the first. */
    after: orNull(NAME),
  },
  note: { ...act('note'), text: NAME },
  retry: { ...act('retry'), reason: orNull(NAME) },
};
export type VerdictAct = ObjectOf<typeof ACT_FIELDS.verdict>;
export type NoteAct = ObjectOf<typeof ACT_FIELDS.note>;
export type RetryAct = ObjectOf<typeof ACT_FIELDS.retry>;
export type SteeringAct = VerdictAct | NoteAct | RetryAct;

/** An act with its name, which is its file's without `.json`. */
export interface NamedAct<A extends SteeringAct = SteeringAct> {
  readonly name: string;
  readonly act: A;
}

/** `verdict-<32 hex>`: of everything but the time and the program. */
export function actName(act: SteeringAct): string {
  const { query, sample, attempt, turn, hash } = act.of;
  const statement =
    act.act === 'verdict' ? [act.verdict, act.reason, act.after] : [act.act === 'note' ? act.text : act.reason];
  const content = JSON.stringify([act.act, query, sample, attempt, turn, hash, act.by, ...statement]);
  return `${act.act}-${sha256Hex(content).slice(0, 32)}`;
}

export function isActOn({ of }: SteeringAct, { query, sample, attempt }: Omit<RolloutId, 'run'>): boolean {
  return of.query === query && of.sample === sample && of.attempt === attempt;
}

/**
 * The verdict of each person on one turn, in the order of their names. Two writers may have replaced the same verdict
 * at once: of these the later one counts, and of equal times the greater name.
 */
export function standingVerdicts(acts: readonly NamedAct[], turn: number): NamedAct<VerdictAct>[] {
  const of = acts.filter((one): one is NamedAct<VerdictAct> => one.act.act === 'verdict' && one.act.of.turn === turn);
  const replaced = new Set(of.map(({ act }) => act.after));
  const people = new Map<string, NamedAct<VerdictAct>>();
  for (const one of of) {
    if (replaced.has(one.name)) continue;
    const lastAct = people.get(one.act.by);
    if (!lastAct || isLater(one, lastAct)) people.set(one.act.by, one);
  }
  return [...people.values()].sort((a, b) => (a.act.by < b.act.by ? -1 : 1));
}

function isLater(a: NamedAct, b: NamedAct): boolean {
  return a.act.at > b.act.at || (a.act.at === b.act.at && a.name > b.name);
}

/** The verdict of all people on a turn: one verdict, or that they disagree; undefined if nobody said anything. */
export function agreedVerdict(verdicts: readonly NamedAct<VerdictAct>[]): HumanVerdict | 'disagree' | undefined {
  const verdictValues = new Set(verdicts.map(({ act }) => act.verdict));
  return verdictValues.size > 1 ? 'disagree' : [...verdictValues][0];
}
