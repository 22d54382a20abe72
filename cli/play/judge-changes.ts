// The changes between two judgements of a run: numbers of turns by old and new verdict, and the first changed ones.

import { oneLine } from '../../domain/text/foreign-text.ts';
import { VERDICTS, type VerdictValue } from '../../domain/rollout/verdict.ts';
import type { VerdictRow } from '../../records/judgements.ts';
import { count, plural } from '../view/format.ts';
import type { Paint } from '../view/paint.ts';
import { table } from '../view/table.ts';

interface Change {
  readonly was: VerdictValue;
  readonly now: VerdictValue;
  readonly turns: number;
}

export interface ChangesSummary {
  readonly turns: number;
  readonly changed: number;
  /** The same verdict with another reason. */
  readonly otherReason: number;
  /** Every pair of verdicts that occurs, unchanged ones included. */
  readonly verdicts: readonly Change[];
  /** The first changed turns. */
  readonly examples: readonly VerdictRow[];
}

export interface Changes {
  add(row: VerdictRow): void;
  summary(): ChangesSummary;
  text(paint: Paint): string;
}

const ORDER: readonly VerdictValue[] = VERDICTS;
const EXAMPLES = 10;
const SHOWN_CHARS = 60;

export function openChanges(): Changes {
  const counts = new Map<string, number>();
  const examples: VerdictRow[] = [];
  let otherReason = 0;

  function summary(): ChangesSummary {
    const verdicts = ORDER.flatMap((was) =>
      ORDER.flatMap((now) => {
        const turns = counts.get(`${was} ${now}`) ?? 0;
        return turns > 0 ? [{ was, now, turns }] : [];
      }),
    );
    const sum = (changes: readonly Change[]) => changes.reduce((total, { turns }) => total + turns, 0);
    const changed = sum(verdicts.filter(({ was, now }) => was !== now));
    return { turns: sum(verdicts), changed, otherReason, verdicts, examples };
  }

  return {
    add(row) {
      const key = `${row.was.verdict} ${row.verdict}`;
      counts.set(key, (counts.get(key) ?? 0) + 1);
      if (row.was.verdict === row.verdict) otherReason += row.was.reason === row.reason ? 0 : 1;
      else if (examples.length < EXAMPLES) examples.push(row);
    },
    summary,
    text: (paint) => textOf(summary(), paint),
  };
}

function textOf({ turns, changed, otherReason, verdicts, examples }: ChangesSummary, paint: Paint): string {
  const cells = verdicts.map((change) => [change.was, change.now, count(change.turns)]);
  const rows = table(['was', 'now', '>turns'], cells, paint, (row) =>
    isChange(verdicts[row]!) ? 'yellow' : undefined,
  );
  const reasons = otherReason > 0 ? `; ${plural(otherReason, 'other')} for another reason` : '';
  const lines = [
    rows,
    '',
    `${plural(turns, 'turn')}, ${changed === 0 ? 'none' : count(changed)} judged differently${reasons}.`,
  ];
  for (const row of examples) lines.push(`  ${exampleText(row)}`);
  if (changed > examples.length) lines.push(`  … and ${count(changed - examples.length)} more`);
  return lines.join('\n');
}

const isChange = ({ was, now }: Change): boolean => was !== now;

function exampleText({ query, sample, attempt, turn, was, verdict, reason, extracted }: VerdictRow): string {
  const again = attempt > 1 ? `, attempt ${attempt}` : '';
  const found = extracted === undefined ? '' : `: ${oneLine(extracted).slice(0, SHOWN_CHARS)}`;
  const change = `${was.verdict} (${was.reason}) → ${verdict} (${reason})`;
  return `${oneLine(query)}, sample ${sample}${again}, turn ${turn}: ${change}${found}`;
}
