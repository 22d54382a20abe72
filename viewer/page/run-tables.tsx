// Runs of the same queries side by side: a table for each turn that is shown, with the accuracy of each run and its difference with
// the first one. A number of wrong answers leads to them, a difference to the comparison of the two.

import type { ComponentChildren, JSX } from 'preact';
import type { AtTurn } from '../../domain/statistics/side-by-side.ts';
import type { ComparedHead } from '../model/messages.ts';
import { count, decimals, duration, orNone, points, pValue, share, troubleText } from './format.ts';
import { type Column, Table } from './parts.tsx';
import { compareHref, listHref } from './route.ts';

const percentage = (value: number): string => (100 * value).toFixed(1);
const signedPoints = (value: number): string => points(value).replace(' points', '');
const between = (interval: readonly [number, number] | null, text: (value: number) => string): string =>
  interval ? interval.map(text).join(' to ') : '–';

type Row<R> = R & AtTurn;

interface RunTablesProps<R> {
  /** The tables' name for those who do not see them. */
  readonly label: string;
  readonly runs: readonly R[];
  /** The head of the first column, and what stands in it. */
  readonly title: string;
  readonly nameOf: (run: R) => ComponentChildren;
  /** Pairs of runs have a page. */
  readonly linked: boolean;
}

export function RunTables<R extends ComparedHead>(props: RunTablesProps<R>): JSX.Element {
  const { label, runs } = props;
  const turns = runs[0]?.atTurns ?? [];
  return (
    <>
      {turns.map(({ accuracy: { name } }, t) => {
        const rows = runs.map((run) => ({ ...run, ...run.atTurns[t]! }));
        const isLast = t === turns.length - 1;
        return (
          <Table
            key={name}
            label={`${label}: ${name}`}
            rows={rows}
            keyOf={({ head }) => head.run}
            kind="runs"
            columns={[
              ...accuracyColumns(props, rows, isLast),
              ...differenceColumns(props, rows),
              ...spentColumns(rows),
            ]}
          />
        );
      })}
    </>
  );
}

type Columns<R> = readonly (Column<Row<R>> | false)[];

const some = <R,>(rows: readonly Row<R>[], there: (row: Row<R>) => unknown): boolean =>
  rows.some((row) => Boolean(there(row)));

function accuracyColumns<R extends ComparedHead>(
  { title, nameOf }: RunTablesProps<R>,
  rows: readonly Row<R>[],
  isLast: boolean,
): Columns<R> {
  const isRepeated = some(rows, ({ head }) => head.samples > 1);
  return [
    { name: title, cell: (run) => <Name run={run}>{nameOf(run)}</Name> },
    {
      name: rows[0]!.accuracy.name.replace('pass@1', isRepeated ? 'avg@n' : 'right') + (isLast ? '' : ' at turn 1'),
      title: 'Of queries, each its share of right samples.',
      cell: ({ accuracy }) => <b>{share(accuracy.value)}</b>,
    },
    { name: '95 %', cell: ({ accuracy }) => between(accuracy.interval, percentage) },
    {
      name: 'wrong',
      title: isLast ? 'Rollouts whose last judged answer is wrong.' : 'Rollouts that were wrong at this turn.',
      cell: ({ head: { run }, wrong }) => {
        const n = isLast ? wrong.last : wrong.first;
        return n === 0 ? '0' : <a href={listHref(run, isLast ? 'right@T:no' : 'right@1:no')}>{count(n)}</a>;
      },
    },
    some(rows, (row) => row.leftOutWrong) && {
      name: 'left out as wrong',
      title: 'As if all that failed or could not be judged were wrong.',
      cell: ({ leftOutWrong }) => leftOutWrong && share(leftOutWrong.value),
    },
    some(rows, (row) => row.passAtAll) && {
      name: 'pass@n',
      title: 'Of queries, those with a right sample.',
      cell: ({ passAtAll, head }) => passAtAll && `${share(passAtAll.value)} of ${head.samples}`,
    },
  ];
}

function differenceColumns<R extends ComparedHead>({ linked }: RunTablesProps<R>, rows: readonly Row<R>[]): Columns<R> {
  if (!some(rows, (row) => row.against)) return [];
  const first = rows[0]!.head.run;
  return [
    {
      name: 'difference',
      cell: ({ head, against }) => {
        const value = against && against.difference.value;
        const isLinked = linked && value !== null;
        return against && (isLinked ? <a href={compareHref(first, head.run)}>{points(value)}</a> : points(value));
      },
    },
    { name: '95 % of it', cell: ({ against }) => against && between(against.difference.interval, signedPoints) },
    { name: 'p', cell: ({ against }) => against && pValue(against.difference.p) },
  ];
}

const spentColumns = <R extends ComparedHead>(rows: readonly Row<R>[]): Columns<R> => [
  { name: 'queries', cell: ({ against, accuracy }) => count(against?.difference.n ?? accuracy.n) },
  { name: 'tokens in', title: 'Of an answer’s context.', cell: ({ tokensIn }) => orNone(tokensIn, decimals) },
  { name: 'tokens', title: 'Sampled ones of an answer.', cell: ({ tokens }) => orNone(tokens, decimals) },
  { name: 'time', title: 'Of an answer, the median.', cell: ({ ms }) => orNone(ms, duration) },
  { name: 'in all', title: 'From the first answer to the last end.', cell: ({ tookMs }) => orNone(tookMs, duration) },
  some(rows, (row) => row.cost !== undefined) && { name: 'cost', cell: ({ cost }) => costOf(cost) },
];

function costOf(cost: ComparedHead['cost']): string {
  if (!cost) return cost === null ? '–' : '';
  const [least, most] = cost.map(decimals);
  return least === most ? least! : `${least} to ${most}`;
}

/** With the run's state unless it has ended, and the causes of what failed. */
function Name({ run, children }: { readonly run: ComparedHead; readonly children: ComponentChildren }): JSX.Element {
  const { head } = run;
  return (
    <>
      {children} {head.state !== 'ended' && <span class={`tag ${head.state}`}>{head.state}</span>}{' '}
      {head.state === 'open' && head.total !== null && (
        <span class="dim">
          {count(head.ended ?? 0)} of {count(head.total)}
        </span>
      )}
      {head.numbers?.troubles.map((trouble) => (
        <div key={`${trouble.state} ${trouble.reason}`}>
          <a class={`state ${trouble.state} small`} href={listHref(head.run, `outcome:${trouble.state}`)}>
            {troubleText(trouble, head.ended ?? 0)}
          </a>
        </div>
      ))}
    </>
  );
}
