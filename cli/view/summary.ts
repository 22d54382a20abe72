// The summary of a run, from its counts: accuracy by turn, outcomes, and the reasons of failures.

import { oneLine } from '../../domain/text/foreign-text.ts';
import { rewardCells } from '../../domain/run/collection-table.ts';
import { countEnded } from '../../domain/run/progress.ts';
import { type CountedTurn, countedTurns } from '../../domain/statistics/headline.ts';
import { OUTCOMES } from '../../domain/rollout/ending.ts';
import type { CollectionResult } from '../../domain/run/messages.ts';
import type { CheckSummary } from '../../records/check/check.ts';
import { type Column, count, lines, type Paint, percent, plural, table, tokensText } from '../format.ts';

type Counted = Pick<CollectionResult, 'counts' | 'total'>;

export function accuracyTable({ counts, total }: Counted, paint: Paint): string {
  const columns: Column<CountedTurn>[] = [
    ['>turn', ({ turn }) => String(turn)],
    ['>judged', ({ judged }) => count(judged)],
    ['>right', ({ right }) => count(right)],
    ['>accuracy', ({ right, judged }) => percent(right, judged), 'bold'],
    ['>right so far, of all', ({ rightBy, of }) => `${count(rightBy)}  ${percent(rightBy, of).padStart(7)}`],
  ];
  return table(countedTurns(counts, total), columns, paint);
}

const REWARD_COLUMNS = ['>turn', '>rewarded', '>mean', '>spread', '>least', '>most'].map(
  (title, i): Column<readonly string[]> => [title, (cells) => cells[i]!, () => (i === 2 ? 'bold' : undefined)],
);

/** The accuracy of the turns that have a verdict, and the rewards of those that have one of their own. */
function turnTables(result: Counted, paint: Paint): string[] {
  const { judgedAt, rewardAt = [] } = result.counts;
  const rewards = rewardAt.map((at, i) => [String(i + 1), count(at.count), ...rewardCells(at)]);
  const tables = lines(
    judgedAt.length > 0 && accuracyTable(result, paint),
    rewards.length > 0 && table(rewards, REWARD_COLUMNS, paint),
  );
  return tables.flatMap((text) => [text, '']);
}

/** All of a run's counts. `run`: as a command names it; `ending`: behind the outcomes; `more`: lines after that. */
export function summaryLines(
  result: Counted,
  run: string,
  paint: Paint,
  ending = '',
  more: readonly string[] = [],
): string[] {
  return [
    ...turnTables(result, paint),
    outcomeLine(result) + ending,
    ...more,
    ...steeredLines(result, `everturn stats ${run}`),
    ...reasonLines(result, paint),
    ...wrongReasonsLine(result, `everturn judge --run ${run}`),
  ];
}

/** `60 of 60 rollouts: 58 complete, 2 failed. 300 turns, 12,345 tokens.` */
export function outcomeLine({ counts, total }: Counted): string {
  const outcomes = OUTCOMES.filter((o) => counts.outcomes[o] > 0).map((o) => `${count(counts.outcomes[o])} ${o}`);
  const done = countEnded(counts);
  const of = done === total ? plural(total, 'rollout') : `${count(done)} of ${plural(total, 'rollout')}`;
  const said = outcomes.join(', ') || 'none ended';
  return `${of}: ${said}. ${plural(counts.turns, 'turn')}, ${tokensText(counts.tokens)}.`;
}

/** Rollouts that count in no accuracy, because a person wrote into them. */
function steeredLines({ counts: { steered = 0 } }: Counted, stats: string): string[] {
  if (steered === 0) return [];
  const message = `${plural(steered, 'rollout')} with a person’s message in the context: left out of the accuracy`;
  return [`${message} (\`${stats} --include-steered\` counts ${steered === 1 ? 'it' : 'them'})`];
}

/** Reasons of `wrong` that need no second look, or that Everturn's own judges cannot take. */
const SETTLED: ReadonlySet<string> = new Set(['different', 'environment', 'not-followed', 'rubric']);

/** Reasons of `wrong` that say how far the judge sees: another one may decide otherwise. */
const BEYOND: ReadonlySet<string> = new Set(['unreadable', 'too-big', 'not-shown']);

/** Reasons why answers are wrong without being shown to differ: false negatives would be among them. */
export function wrongReasonsLine({ counts }: Pick<CollectionResult, 'counts'>, judgeAgain: string): string[] {
  const reasons = Object.entries(counts.verdicts?.wrong ?? {})
    .filter(([reason]) => !SETTLED.has(reason))
    .sort(([, a], [, b]) => b - a);
  if (reasons.length === 0) return [];
  const said = reasons.map(([reason, n]) => `${oneLine(reason)} ${count(n)}`).join(', ');
  const another = `  (\`${judgeAgain} --environment <judge>\` has another judge decide)`;
  return [`wrong, but not shown to differ: ${said}${reasons.some(([reason]) => BEYOND.has(reason)) ? another : ''}`];
}

/** One line per reason, with the queries that it affected. */
export function reasonLines({ counts }: Pick<CollectionResult, 'counts'>, paint: Paint): string[] {
  return Object.entries(counts.reasons)
    .sort(([, a], [, b]) => b - a)
    .map(([reason, n]) => {
      const met = counts.failures.filter((f) => f.reason === reason);
      const some = met.slice(0, 3).map(({ query, sample }) => oneLine(query) + (sample > 0 ? ` sample ${sample}` : ''));
      // Only some rollouts are listed by name; the reasons of verdicts are counted for all.
      const judged = Object.hasOwn(counts.verdicts?.undecided ?? {}, reason) ? 'undecided' : 'failed';
      const outcome = met[0]?.outcome ?? judged;
      const more = n > some.length ? ', …' : '';
      const where = some.length > 0 ? ` (${some.join(', ')}${more})` : '';
      return `${paint(outcome === 'failed' ? 'red' : 'yellow', `${count(n)} ${outcome}`)}: ${oneLine(reason)}${where}`;
    });
}

/** The counts of a check. */
export function countsText({ rollouts, turns, ended, unfinished }: CheckSummary): string {
  const open = unfinished > 0 ? `, ${unfinished} not ended` : '';
  return `${plural(rollouts, 'rollout')} (${ended} ended${open}), ${plural(turns, 'turn')}`;
}
