// Two runs compared, as text: accuracy by turn with the paired difference, the 2×2 of queries, tests, and the settings
// that differ. Differences are second run − first run, in percentage points.

import { oneLine, short } from '../../domain/text/foreign-text.ts';
import { type Comparison, shownInterval } from '../../domain/statistics/comparison.ts';
import type { Interval } from '../../domain/statistics/mean.ts';
import { costText } from '../find/prices.ts';
import {
  type Column,
  lines,
  type Paint,
  plural,
  fourDigits,
  share,
  table,
  clock,
  count,
  paintFor,
  percents,
} from '../format.ts';
import type { AtTurn } from '../../domain/statistics/side-by-side.ts';
import type { Answer } from '../command.ts';
import type { Io } from '../io.ts';
import type { ComparedRuns, TableOfRuns } from '../../library/compare-runs.ts';
import { damageCode, damageLines } from './left-out.ts';

type Names = readonly [a: string, b: string];

export function comparisonText(
  names: Names,
  { found: comparison, settings, spent }: ComparedRuns,
  paint: Paint,
): string {
  const [a, b] = names.map((name) => oneLine(name)) as unknown as Names;
  const { pairs, measure, atTurn, signTest, visible, difference } = comparison;
  const unit = measure === 'right' ? points : fourDigits;
  const what = measure === 'right' ? `right at any turn up to ${atTurn}` : 'return G_1 of complete rollouts';
  const tests = `paired t-test ${pSaid(difference.p)}, sign test ${pSaid(signTest)}`;
  const interval = intervalText(shownInterval(difference.interval, measure), unit);
  return lines(
    `${paint('bold', `${a} → ${b}`)}: ${plural(pairs.length, 'query', 'queries')} in both; ${what}`,
    '',
    differenceTable(comparison, [a, b], paint),
    '',
    ownLine(comparison, [a, b]),
    `${paint('bold', unit(difference.value))} (95 %: ${interval}); ${tests}.`,
    visible !== null && `These queries can show differences of about ${unit(visible).replace(/^\+/, '')}.`,
    comparison.named.length > 0 && ['', meansTable('mean of a turn', comparison.named, [a, b], paint)],
    comparison.table && ['', cellTable(comparison.table, [a, b], pairs.some(isDivided), paint)],
    '',
    ratioLine(
      'Tokens of an answer, mean',
      spent.map(({ outputTokens }) => outputTokens),
    ),
    ratioLine(
      'Seconds of an answer, median',
      spent.map(({ seconds }) => seconds),
    ),
    spent.some(({ cost }) => cost !== undefined) &&
      `Cost: ${spent.map(({ cost }) => (cost ? costText(cost) : '–')).join(' → ')}`,
    settings.length === 0 ? 'No setting differs.' : 'Settings that differ:',
    settings.map((one) => `  ${oneLine(one.name)}: ${shown(one.a)} → ${shown(one.b)}`),
    notPaired(comparison, [a, b], paint),
  ).join('\n');
}

function differenceTable({ measure, byTurn, ...all }: Comparison, names: Names, paint: Paint): string {
  if (measure !== 'right') return meansTable('', [{ name: 'return', ...all }], names, paint);
  const rows = byTurn.map(({ turn, ...row }) => ({ name: String(turn), ...row }));
  return meansTable('>right by turn', rows, names, paint, true);
}

type Compared = Pick<Comparison, 'a' | 'b' | 'difference'> & { readonly name: string };

/** Means of both runs, with their paired differences. */
function meansTable(title: string, rows: readonly Compared[], [a, b]: Names, paint: Paint, ofRight = false): string {
  const [mean, unit] = ofRight ? [share, points] : [fourDigits, fourDigits];
  const columns: Column<Compared>[] = [
    [title, ({ name }) => short(oneLine(name), 40)],
    [`>${a}`, (row) => mean(row.a.value)],
    [`>${b}`, (row) => mean(row.b.value)],
    ['>difference', ({ difference }) => unit(difference.value), 'bold'],
    ['>95 %', ({ difference }) => intervalText(shownInterval(difference.interval, ofRight ? 'right' : 'return'), unit)],
    ['>p', ({ difference }) => pText(difference.p)],
    ['>queries', ({ difference }) => String(difference.n)],
  ];
  return table(rows, columns, paint);
}

function ownLine({ a, b, measure }: Comparison, names: Names): string {
  const unit = measure === 'right' ? share : fourDigits;
  const own = [a, b].map(
    ({ value, interval }, i) => `${names[i]} ${unit(value)} (95 %: ${intervalText(interval, unit)})`,
  );
  return `${own.join(', ')}.`;
}

/** Some of its samples are right, in one of the runs. */
const isDivided = ({ a, b }: { readonly a: number; readonly b: number }): boolean => a % 1 !== 0 || b % 1 !== 0;

function cellTable(cells: NonNullable<Comparison['table']>, [a, b]: Names, isOfMost: boolean, paint: Paint): string {
  const rows = [
    [`${a} right`, cells.both, cells['only-a']],
    [`${a} wrong`, cells['only-b'], cells.neither],
  ] as const;
  const columns: Column<(typeof rows)[number]>[] = [
    [isOfMost ? 'queries, by more than half of their samples' : 'queries', ([name]) => name],
    [`>${b} right`, ([, right]) => String(right)],
    [`>${b} wrong`, ([, , wrong]) => String(wrong)],
  ];
  return table(rows, columns, paint);
}

function ratioLine(name: string, [a, b]: readonly (number | null)[]): string | false {
  return (
    a != null && b != null && `${name}: ${fourDigits(a)} → ${fourDigits(b)}${a > 0 ? ` (× ${fourDigits(b / a)})` : ''}`
  );
}

function notPaired(comparison: Comparison, [a, b]: Names, paint: Paint): string[] {
  const some = (queries: readonly string[]) =>
    queries
      .slice(0, 3)
      .map((query) => short(query, 60))
      .join(', ') + (queries.length > 3 ? ', …' : '');
  const line = (queries: readonly string[], text: string) =>
    queries.length > 0 && paint('yellow', `${plural(queries.length, 'query', 'queries')} ${text}: ${some(queries)}`);
  return lines(
    line(comparison.onlyInA, `only in ${a}`),
    line(comparison.onlyInB, `only in ${b}`),
    line(comparison.otherText, 'with the same id and another text, not compared'),
    line(comparison.otherSolutions, 'judged by other solutions in the second run'),
    line(comparison.otherJudge, 'judged by another task or environment in the second run'),
    line(comparison.unknown, 'in both, without a known rollout in one (not ended, failed or undecided)'),
  );
}

const sign = (value: number): string => (value > 0 ? '+' : value < 0 ? '−' : '±');

export function points(value: number | null): string {
  return value === null ? '–' : `${sign(value)}${Math.abs(100 * value).toFixed(1)} points`;
}

function intervalText(interval: Interval | null, unit: (value: number) => string): string {
  return interval === null ? '–' : `${unit(interval[0]).replace(' points', '')} to ${unit(interval[1])}`;
}

export function pText(p: number | null): string {
  if (p === null) return '–';
  return p < 0.0001 ? '< 0.0001' : p.toFixed(4);
}

const pSaid = (p: number | null): string => `p = ${pText(p)}`.replace('= <', '<');

/** A setting's value may be a long url or text of a config file. */
const shown = (value: unknown): string => (value === undefined ? 'none' : short(JSON.stringify(value), 120));

type RunRow = TableOfRuns['runs'][number] & { readonly benchmark?: string };

/** A table for each turn that is shown. */
export function runsText(io: Io, runs: readonly RunRow[], about: string): string {
  const paint = paintFor(io.out, io.env);
  const named = runs.some(({ run, label }) => run !== label);
  const priced = runs.some(({ cost }) => cost !== undefined);
  const isSeveral = new Set(runs.map(({ benchmark }) => benchmark)).size > 1;
  type Row = RunRow & AtTurn;
  const columnsOf = (title: string, rows: readonly Row[]): (Column<Row> | false)[] => {
    const paired = rows.some(({ against }) => against);
    return [
      isSeveral && ['benchmark', ({ benchmark = '' }) => oneLine(benchmark), 'bold'],
      [title, ({ label }) => oneLine(label), 'bold'],
      ['>accuracy', ({ accuracy }) => share(accuracy.value)],
      ['>95 %', ({ accuracy }) => percents(accuracy.interval)],
      rows.some(({ leftOutWrong }) => leftOutWrong) && [
        '>left out as wrong',
        ({ leftOutWrong }) => (leftOutWrong ? share(leftOutWrong.value) : ''),
      ],
      rows.some(({ passAtAll }) => passAtAll) && [
        '>pass@n',
        ({ passAtAll, repeats }) => (passAtAll ? `${share(passAtAll.value)} of ${repeats}` : ''),
      ],
      paired && ['>difference', ({ against }) => (against ? points(against.difference.value) : '')],
      paired && ['>95 %', ({ against }) => (against ? intervalText(against.difference.interval, points) : '')],
      paired && ['>p', ({ against }) => (against ? pText(against.difference.p) : '')],
      ['>queries', ({ accuracy, against }) => count(against?.difference.n ?? accuracy.n)],
      rows.some(({ accuracy }) => accuracy.leftOut > 0) && [
        '>left out',
        ({ accuracy }) => (accuracy.leftOut === 0 ? '' : count(accuracy.leftOut)),
      ],
      ['>tokens in', ({ inputTokens }) => (inputTokens === null ? '–' : count(inputTokens))],
      ['>out', ({ outputTokens }) => (outputTokens === null ? '–' : count(outputTokens))],
      ['>seconds', ({ seconds }) => (seconds === null ? '–' : seconds.toPrecision(2))],
      priced && ['>cost', ({ cost }) => (cost === undefined ? '' : costText(cost).replace(/:.*/, ''))],
      ['>time', ({ tookSeconds }) => (tookSeconds === null ? '–' : clock(1000 * tookSeconds))],
      named && ['run', ({ run }) => oneLine(run)],
    ];
  };
  const turns = Math.max(...runs.map(({ atTurns }) => atTurns.length));
  const tables = Array.from({ length: turns }, (_, t) => {
    const rows = runs.flatMap((row) => (row.atTurns[t] ? [{ ...row, ...row.atTurns[t] }] : []));
    return table(rows, columnsOf(rows[0]!.accuracy.name.replace('pass@1', 'right'), rows), paint);
  });
  return `\n${tables.join('\n\n')}\n\n${paint('dim', about)}`;
}

export function runsAnswer(io: Io, { runs, broken }: TableOfRuns): Answer {
  const about = `Differences are with ${oneLine(runs[0]!.label)}, query by query (paired t-test, one p for each row). Tokens and seconds are those of an answer.`;
  return {
    json: { event: 'compared', runs },
    text: runsText(io, runs, about),
    notes: broken.flatMap((of) => damageLines(of)),
    code: damageCode(...broken),
  };
}
