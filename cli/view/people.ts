// People's acts on a run, as text: verdicts beside the judge's, notes, and a line of counts. Everything that a person wrote
// is foreign text.

import { oneLine } from '../../domain/text/foreign-text.ts';
import type { peopleCounts, Said } from '../../library/people.ts';
import { lines, type Paint, plural } from '../format.ts';

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
