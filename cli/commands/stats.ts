// `everturn stats <run>`: every number of a run with its n, interval and definition. Reads the run's folder alone.

import { oneLine } from '../../domain/text/foreign-text.ts';
import { byField, type FieldGroup } from '../../statistics/by-field.ts';
import { type Estimate, isTooWide } from '../../statistics/estimate.ts';
import { totalOf } from '../../statistics/in-progress.ts';
import {
  defaultKs,
  runStatistics,
  type RunStatistics,
  type StatisticsOptions,
} from '../../statistics/run-statistics.ts';
import { openEvaluations } from '../../viewer/evaluations.ts';
import { type Answer, command, flag, number, parsed, text, unusable, wholeFlag } from '../command.ts';
import { EXIT } from '../exit.ts';
import { findRun } from '../find/place.ts';
import { costBy, costText, PRICE_FLAGS } from '../find/prices.ts';
import { fieldOfRows } from '../find/row-field.ts';
import { damageLines, readRunSummaries, type RunSummaries } from '../find/summaries.ts';
import { INCLUDE_STEERED, OUT, RUN_ARGUMENT } from '../flags.ts';
import type { Io } from '../io.ts';
import { type Column, count, type Paint, paintFor, percents, plural, share, table } from '../format.ts';
import { steeredLines } from '../view/people.ts';
import { evaluationTable, statisticsText } from '../view/statistics-text.ts';

export const stats = command({
  args: RUN_ARGUMENT,
  flags: {
    out: OUT,
    k: parsed('<list>', 'pass@k, pass^k and maj@k for these k (default: 1, 4, 8, 16 and all samples)', listOfK),
    atTurn: wholeFlag('<t>', 'right means: right at any turn up to this one (default: the last)', 1),
    by: text('<field>', "apart for each value of a field of the data set's rows: level, extra_info.split, task"),
    failUnder: number(
      '<share>',
      'exit with code 10 unless at least this share (0 to 1) of all rollouts is right at any turn up to --at-turn',
      1,
      'It takes a share from 0 to 1: 0.8 is 80 %.',
      { excludes: 'by' },
    ),
    rows: text('<file>', 'with --by: the data set, if it is no longer where the run found it'),
    ...PRICE_FLAGS,
    logprobs: flag("also the mean logprob of answers: reads every turn's tokens"),
    includeSteered: INCLUDE_STEERED,
    explain: flag('the definition of each number'),
    json: flag('every number as one JSON object on stdout'),
  },
  help: 'Definitions and sources: docs/stats.md.\n\nExample:\n  everturn stats my-run --k 1,4,8',
  async run(io, given) {
    const { by, failUnder, includeSteered, explain } = given;
    if (given.rows !== undefined && by === undefined)
      throw unusable('--rows names the data set for --by.', 'Give --by <field> too.');
    const costOf = costBy(io, given);
    const place = await findRun(io, given.run, given.out);
    const read = await readRunSummaries(place, { detail: given.logprobs ? 'logprobs' : 'turns', includeSteered });
    const { shape, rollouts, broken, record, end } = read;
    const { atTurn = shape.numTurns } = given;
    mustBePossible(given.k, atTurn, read);
    const options = { ks: given.k ?? defaultKs(shape), atTurn };
    if (by !== undefined) {
      const values = await fieldOfRows(io, place, record, by, given.rows);
      return byFieldAnswer(io, { ...read, run: place.run }, options, by, values, given.json);
    }
    const statistics = runStatistics(rollouts, shape, options);
    const model = record?.settings.model ?? null;
    const cost = costOf(model, rollouts);
    const evaluations = record?.evaluation ? await openEvaluations()(place.store.folder) : [];
    const paint = paintFor(io.out, io.env);
    const shown = () =>
      [
        headLine(place.run, statistics, paint),
        '',
        statisticsText(statistics, { explain, end, paint }),
        ...(cost === undefined ? [] : [`cost         ${costText(cost)}`]),
        ...(evaluations.length === 0 ? [] : ['', evaluationTable(evaluations, paint)]),
      ].join('\n');
    const under = failUnder === undefined ? null : whyUnder(statistics, failUnder);
    return {
      json: { run: place.run, end, model, ...statistics, ...(cost !== undefined && { cost }), evaluations, broken },
      text: shown,
      notes: [
        ...steeredLines(statistics.steered),
        ...damageLines(broken),
        ...(under === null ? [] : [`everturn: --fail-under ${failUnder}: ${under}.`]),
      ],
      code: under === null ? EXIT.ok : EXIT.below,
    };
  },
});

function headLine(run: string, { ended, total, inFlight, outcomes, queries }: RunStatistics, paint: Paint): string {
  const said = Object.entries(outcomes).flatMap(([name, n]) => (n > 0 ? `${n} ${name}` : []));
  const all = total > ended ? ` of ${total}` : '';
  const flight = inFlight > 0 ? `, ${inFlight} in flight` : '';
  return `${paint('bold', run)}: ${ended}${all} rollouts of ${plural(queries, 'query', 'queries')} ended (${said.join(', ') || 'none'})${flight}`;
}

/** Why fewer than `least` are right; null if enough are. A rollout that failed, is undecided, damaged or not played yet is not right. */
function whyUnder({ right: { count, known }, atTurn, total, ended }: RunStatistics, least: number): string | null {
  const right = `right at any turn up to ${atTurn}`;
  if (known === 0) return `no rollout is known to be ${right} or not`;
  const all = Math.max(total, ended);
  if (count / all >= least) return null;
  const open = all > ended ? ` (${ended} have ended)` : '';
  return `${(count / all).toFixed(4)}: ${count} of ${plural(all, 'rollout')}${open} are ${right}`;
}

const MOST_KS = 32;

function listOfK(given: string): number[] {
  const ks = given.split(',').map((k) => k.trim());
  if (ks.length <= MOST_KS && ks.every((k) => /^[1-9]\d{0,5}$/.test(k))) return [...new Set(ks.map(Number))];
  const message = `--k ${JSON.stringify(given)} is not a list of whole numbers from 1.`;
  throw unusable(message, `Write at most ${MOST_KS}, with commas: --k 1,4,8.`);
}

/** A k or a turn that the run does not have gives no number: said, not shown as a dash. */
function mustBePossible(ks: readonly number[] | undefined, atTurn: number, { shape }: RunSummaries): void {
  const most = shape.samples * shape.epochs;
  const large = ks?.find((k) => k > most);
  if (large !== undefined && shape.queries > 0) {
    throw unusable(
      `--k ${large} is above the ${plural(most, 'sample')} of each query: no number is defined.`,
      `Give numbers up to ${most}, or play the run with --samples ${large}.`,
    );
  }
  if (atTurn <= shape.numTurns) return;
  const message = `--at-turn ${atTurn}: the run plays ${plural(shape.numTurns, 'turn')}.`;
  throw unusable(message, `Give a turn from 1 to ${shape.numTurns}.`, 'no-such-turn');
}

/** More parts than this are no groups: each would be a query or two. */
const MOST_VALUES = 200;
const NONE = '(none)';

/** The numbers of a run apart for each value of a field of its rows. */
function byFieldAnswer(
  io: Io,
  { run, shape, rollouts, broken, end }: RunSummaries & { readonly run: string },
  options: StatisticsOptions,
  by: string,
  values: ReadonlyMap<string, string>,
  json: boolean,
): Answer {
  const different = new Set(values.values()).size;
  if (different > MOST_VALUES) {
    throw unusable(
      `Field ${JSON.stringify(oneLine(by))} has ${count(different)} values: numbers of so few queries each say nothing.`,
      `Choose a field with at most ${MOST_VALUES} values, such as a level or a subject.`,
    );
  }
  const found = byField(rollouts, shape, values, options);
  const groups = found.map(({ value, statistics }) => ({ value, ...statistics }));
  if (json) return { json: { run, end, by, groups, broken }, notes: damageLines(broken) };
  const paint = paintFor(io.out, io.env);
  const all = runStatistics(rollouts, shape, options);
  const open = totalOf(shape) - all.ended;
  return {
    text: [
      `${paint('bold', run)} by ${oneLine(by)}: ${plural(all.ended, 'ended rollout')}`,
      groupTable(found, { value: 'all', statistics: all }, paint),
    ].join('\n'),
    notes: [
      ...(open > 0 && all.provisional ? [`${plural(open, 'rollout')} not ended: these numbers are provisional.`] : []),
      ...steeredLines(all.steered),
      ...damageLines(broken),
    ],
  };
}

function groupTable(groups: readonly FieldGroup[], all: FieldGroup, paint: Paint): string {
  const numbers = ({ statistics: s }: FieldGroup): Estimate[] => [
    ...(s.atTurn === 1 ? [] : [s.passAtKFirst[0]!, s.lastAnswer]),
    ...s.passAtK,
  ];
  const of = (group: FieldGroup, name: string) => numbers(group).find((one) => one.name === name);
  const tint = (group: FieldGroup) => (group === all ? 'bold' : undefined);
  const columns: Column<FieldGroup>[] = [
    ['value', ({ value }) => oneLine(value ?? NONE), 'bold'],
    ['>queries', ({ statistics }) => count(statistics.queries), tint],
    ['>rollouts', ({ statistics }) => count(statistics.ended), tint],
    ...numbers(all).flatMap(({ name }): Column<FieldGroup>[] => [
      [`>${name}`, (group) => share(of(group, name)?.value ?? null), tint],
      ['>95 %', (group) => intervalOf(of(group, name)), tint],
    ]),
  ];
  return table([...groups, all], columns, paint);
}

const intervalOf = (one: Estimate | undefined): string => (!one || isTooWide(one) ? '–' : percents(one.interval));
