// `everturn stats --by <field>`: the numbers of a run apart for each value of a field of its rows.

import { oneLine } from '../../domain/text/foreign-text.ts';
import { UsageError } from '../../domain/errors/errors.ts';
import { byField, type FieldGroup } from '../../statistics/by-field.ts';
import { type Estimate, saysNothing } from '../../statistics/estimate.ts';
import { totalOf } from '../../statistics/play-order.ts';
import { statisticsRows } from '../../statistics/rows.ts';
import { runStatistics, type StatisticsOptions } from '../../statistics/run-statistics.ts';
import type { Breach } from '../../records/store.ts';
import { EXIT, type ExitCode } from '../exit.ts';
import type { RunPlace } from '../find/place.ts';
import { fieldOfRows } from '../find/row-field.ts';
import type { RunSummaries } from '../find/summaries.ts';
import { type Io, print, printJson, say } from '../io.ts';
import { groupedCsvText } from '../view/csv-text.ts';
import { count, percent, plural } from '../view/format.ts';
import { paintFor } from '../view/paint.ts';
import { steeredLines } from '../view/people.ts';
import { type Column, table } from '../view/table.ts';

export interface StatsByFlags {
  readonly rows?: string;
  readonly json?: boolean;
  readonly csv?: boolean;
}

/** More parts than this are no groups: each would be a query or two. */
const MOST_VALUES = 200;
const NONE = '(none)';

export async function statsBy(
  io: Io,
  place: RunPlace,
  { record, shape, rollouts, broken, end }: RunSummaries,
  options: StatisticsOptions,
  field: string,
  flags: StatsByFlags,
): Promise<ExitCode> {
  const values = await fieldOfRows(io, place, record, field, flags.rows);
  const different = new Set(values.values()).size;
  if (different > MOST_VALUES) {
    throw new UsageError(
      `Field ${JSON.stringify(oneLine(field))} has ${count(different)} values: numbers of so few queries each say nothing.`,
      { reason: 'bad-value', fix: `Choose a field with at most ${MOST_VALUES} values, such as a level or a subject.` },
    );
  }
  const groups = byField(rollouts, shape, values, options);
  if (flags.json) {
    printJson(io, {
      run: place.run,
      end,
      by: field,
      groups: groups.map(({ value, statistics }) => ({ value, ...statistics })),
      broken,
    });
  } else if (flags.csv) {
    const rows = groups.map(({ value, statistics }) => ({ value: value ?? NONE, rows: statisticsRows(statistics) }));
    io.out.write(groupedCsvText(field, rows));
  } else {
    const paint = paintFor(io.out, io.env);
    const all = runStatistics(rollouts, shape, options);
    print(io, `${paint('bold', place.run)} by ${oneLine(field)}: ${plural(all.ended, 'ended rollout')}\n`);
    print(io, tableOf(groups, { value: 'all', statistics: all }, paint));
    if (all.ended < totalOf(shape) && all.provisional)
      say(io, `${plural(totalOf(shape) - all.ended, 'rollout')} not ended: these numbers are provisional.`);
    for (const line of steeredLines(all.steered)) say(io, line);
  }
  sayBroken(io, broken);
  return EXIT.ok;
}

function tableOf(groups: readonly FieldGroup[], all: FieldGroup, paint: Parameters<typeof table>[2]): string {
  const numbers = ({ statistics: s }: FieldGroup): Estimate[] => [
    ...(s.atTurn === 1 ? [] : [s.passAtKFirst[0]!, s.lastAnswer]),
    ...s.passAtK,
  ];
  const names = numbers(all).map(({ name }) => name);
  const columns: Column[] = [
    { title: 'value' },
    ...['queries', 'rollouts', ...names.flatMap((name) => [name, '95 %'])].map((title): Column => ({
      title,
      align: 'right',
    })),
  ];
  const rows = [...groups, all].map((group) => {
    const found = new Map(numbers(group).map((one) => [one.name, one]));
    return [
      oneLine(group.value ?? NONE),
      count(group.statistics.queries),
      count(group.statistics.ended),
      ...numbers(all).flatMap(({ name }) => shown(found.get(name))),
    ];
  });
  return table(columns, rows, paint, (row, column) => (column === 0 || row === groups.length ? 'bold' : undefined));
}

function shown(one: Estimate | undefined): [string, string] {
  if (one === undefined || one.value === null) return ['–', '–'];
  const bounds = one.interval?.map((bound) => (100 * bound).toFixed(1)).join(' to ');
  return [percent(one.value, 1), bounds === undefined || saysNothing(one) ? '–' : bounds];
}

export function sayBroken(io: Io, broken: readonly Breach[]): void {
  const [first] = broken;
  if (!first) return;
  say(
    io,
    `everturn: ${plural(broken.length, 'rollout')} left out: records are damaged, the first ${first.path}, which ${first.problem}. \`everturn check\` lists all.`,
  );
}
