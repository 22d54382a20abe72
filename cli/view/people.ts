// People's acts on a run, as text: verdicts beside the judge's, notes, and a line of counts. Everything that a person wrote
// is foreign text.

import { oneLine } from '../../domain/text/foreign-text.ts';
import type { SteeredCount } from '../../domain/rollout/rollout-summary.ts';
import { agreedVerdict, type NamedAct, type NoteAct, standingVerdicts } from '../../domain/run/steering.ts';
import { readActs } from '../../records/run/steering.ts';
import type { Store } from '../../records/store.ts';
import { lines, type Paint, plural } from '../format.ts';

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

export function actLines(said: readonly Said[], margin: string, paint: Paint): string[] {
  const all = said.map(({ by, verdict, reason, note }) => {
    const who = oneLine(by);
    if (note !== undefined) return `${paint('dim', `${who} notes:`)} ${oneLine(note)}`;
    const sign = verdict === 'right' ? paint('green', '✓ right') : paint('red', '✗ wrong');
    return `${paint('dim', `${who} says`)} ${sign}${reason ? paint('dim', ` (${oneLine(reason)})`) : ''}`;
  });
  const verdicts = new Set(said.flatMap(({ verdict }) => verdict ?? []));
  if (verdicts.size > 1) all.push(paint('yellow', 'People disagree: --verdicts human leaves this rollout out.'));
  return all.map((line) => margin + line);
}

/** Rollouts that statistics leave out, with the way to count them. */
export function steeredLines({ message, fork }: SteeredCount, of = ''): string[] {
  const line = (n: number, what: string) =>
    n > 0 && `${of}${plural(n, 'rollout')} ${what} left out: --include-steered counts ${n === 1 ? 'it' : 'them'}.`;
  return lines(
    line(message, 'with a person’s message in the context'),
    line(fork, 'of a fork, whose beginning a person chose,'),
  );
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

export function peopleLine(counts: Awaited<ReturnType<typeof peopleCounts>>): string[] {
  if (!counts) return [];
  const { turns, agree, differ, disagree, people, notes, retries } = counts;
  const undecided = disagree > 0 && `${disagree} on which people disagree`;
  const verdicts = lines(`${agree} as the judge`, `${differ} otherwise`, undecided);
  const parts = lines(
    turns > 0 && `verdicts on ${plural(turns, 'turn')} (${verdicts.join(', ')})`,
    notes > 0 && plural(notes, 'note'),
    retries > 0 && plural(retries, 'retry', 'retries'),
  );
  const counted = retries > 0 ? ' The counts above are of first attempts; `everturn stats` takes the last ones.' : '';
  return [`${plural(people, 'person', 'people')}: ${parts.join(', ')}.${counted}`];
}
