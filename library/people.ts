// What people said of a run's rollouts: the verdicts that stand, beside the judge's, and notes.

import { agreedVerdict, type NamedAct, type NoteAct, standingVerdicts } from '../domain/run/steering.ts';
import { readActs } from '../records/run/steering.ts';
import type { Store } from '../records/store.ts';

/** A person's verdict or note, for JSON. */
export interface Said {
  readonly by: string;
  readonly at: number;
  readonly turn: number | null;
  readonly verdict?: string;
  readonly reason?: string | null;
  readonly note?: string;
}

/** Verdicts that stand, and notes, on one turn (null: the rollout as a whole). */
export function saidOf(acts: readonly NamedAct[], turn: number | null): Said[] {
  const verdicts = turn === null ? [] : standingVerdicts(acts, turn);
  const notes = acts
    .flatMap(({ act }) => (act.act === 'note' && act.of.turn === turn ? [act] : []))
    .sort((a: NoteAct, b: NoteAct) => a.at - b.at);
  return [
    ...verdicts.map(({ act: { by, at, verdict, reason } }) => ({ by, at, turn, verdict, reason })),
    ...notes.map(({ by, at, text }) => ({ by, at, turn, note: text })),
  ];
}

/**
 * `turns`: with a verdict that stands, as the judge's, otherwise, or on which people disagree. Null where nobody did anything.
 * Damaged files are for `check` to name.
 */
export async function peopleCounts(store: Store) {
  const acts = await readActs(store, () => {});
  const all = [...acts.values()].flat();
  if (all.length === 0) return null;
  const counts = { agree: 0, differ: 0, disagree: 0 };
  for (const on of acts.values()) {
    const { query, sample, attempt } = on[0]!.act.of;
    const turns = new Set(on.flatMap(({ act }) => (act.act === 'verdict' && act.of.turn ? [act.of.turn] : [])));
    for (const turn of turns) {
      const said = agreedVerdict(standingVerdicts(on, turn));
      const judge = await store.get('verdict', { run: '', query, sample, attempt }, turn).catch(() => undefined);
      if (said === 'disagree') counts.disagree++;
      else if (said !== undefined) counts[said === judge?.record.verdict ? 'agree' : 'differ']++;
    }
  }
  return {
    turns: counts.agree + counts.differ + counts.disagree,
    ...counts,
    people: new Set(all.map(({ act }) => act.by)).size,
    notes: all.filter(({ act }) => act.act === 'note').length,
    retries: all.filter(({ act }) => act.act === 'retry').length,
  };
}
