// `everturn stats <run>`: every number of a run with its n, interval and definition. Reads the run's folder alone.

import { oneLine } from '../../domain/text/foreign-text.ts';
import type { RunPlace } from '../../run/place.ts';
import { type StatsByFieldOptions, type FieldStatistics, statisticsByField } from '../../library/statistics.ts';
import { type Estimate, isTooWide } from '../../domain/statistics/estimate.ts';
import type { RunStatistics } from '../../domain/statistics/run-statistics.ts';
import { type Answer, command, flag, number, parsed, text, unusable, wholeFlag } from '../command.ts';
import { EXIT } from '../exit.ts';
import { findRun } from '../find/place.ts';
import { costText, PRICE_FLAGS, pricesBy } from '../find/prices.ts';
import { INCLUDE_STEERED, OUT, RUN_ARGUMENT } from '../flags.ts';
import type { Io } from '../io.ts';
import { type Column, count, type Paint, paintFor, percents, plural, share, table } from '../format.ts';
import { damageCode, damageLines, steeredLines } from '../view/left-out.ts';
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
    judgements: text(
      '<name>',
      'under the verdicts of another judge (`everturn judge --run --name`), which stay beside the run’s',
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
    const { by, failUnder, explain } = given;
    if (given.rows !== undefined && by === undefined)
      throw unusable('--rows names the data set for --by.', 'Give --by <field> too.');
    const { k, atTurn, logprobs, includeSteered, judgements } = given;
    const options = { k, atTurn, logprobs, includeSteered, judgements, prices: pricesBy(io, given) };
    const run = await findRun(io, given.run, given.out);
    if (by !== undefined) return byFieldAnswer(io, run, { ...options, by, rows: given.rows });
    const statistics = await run.stats(options);
    const { end, cost, evaluations, broken } = statistics;
    const paint = paintFor(io.out, io.env);
    const shown = () =>
      [
        headLine(run.run, statistics, paint),
        '',
        statisticsText(statistics, { explain, end, paint }),
        ...statistics.contradicted.map(contradictedText),
        ...(cost === undefined ? [] : [`cost         ${costText(cost)}`]),
        ...(evaluations.length === 0 ? [] : ['', evaluationTable(evaluations, paint)]),
      ].join('\n');
    const under = failUnder === undefined ? null : whyUnder(statistics, failUnder);
    return {
      json: statistics,
      text: shown,
      notes: [
        ...steeredLines(statistics.steered),
        ...damageLines(broken),
        ...(under === null ? [] : [`everturn: --fail-under ${failUnder}: ${under}.`]),
      ],
      code: under === null ? damageCode(broken) : EXIT.below,
    };
  },
});

const contradictedText = ({ name, value, interval, n }: Estimate): string =>
  `${oneLine(name)}: ${share(value)} (95 %: ${percents(interval)}) of ${plural(n, 'answer')}`;

function headLine(run: string, { ended, total, inFlight, outcomes, queries }: RunStatistics, paint: Paint): string {
  const said = Object.entries(outcomes).flatMap(([name, n]) => (n > 0 ? `${n} ${name}` : []));
  const all = total > ended ? ` of ${total}` : '';
  // As `status` says it where it has the records alone: of a run that is played it asks the run itself, which has begun more.
  const flight = inFlight > 0 ? `, ${inFlight} begun and not ended` : '';
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

const NONE = '(none)';

/** The numbers of a run apart for each value of a field of its rows. */
async function byFieldAnswer(io: Io, place: RunPlace, options: StatsByFieldOptions): Promise<Answer> {
  const { found, all } = await statisticsByField(io.cwd, place, options);
  const { run, by, groups, broken } = found;
  const paint = paintFor(io.out, io.env);
  const { of, ended } = all.provisional ?? { of: 0, ended: 0 };
  const text = [
    `${paint('bold', run)} by ${oneLine(by)}: ${plural(all.ended, 'ended rollout')}`,
    groupTable(groups, { value: 'all', ...all }, paint),
  ];
  const about = [
    ...(of > ended ? [`${plural(of - ended, 'rollout')} not ended: these numbers are provisional.`] : []),
    ...steeredLines(all.steered),
  ];
  return { json: found, text: text.join('\n'), about, notes: damageLines(broken), code: damageCode(broken) };
}

type Group = FieldStatistics['groups'][number];

function groupTable(groups: readonly Group[], all: Group, paint: Paint): string {
  const numbers = ({ atTurn, passAtKFirst, passAtK, lastAnswer }: Group): Estimate[] => [
    ...(atTurn === 1 ? [] : [passAtKFirst[0]!, lastAnswer]),
    ...passAtK,
  ];
  const of = (group: Group, name: string) => numbers(group).find((one) => one.name === name);
  const tint = (group: Group) => (group === all ? 'bold' : undefined);
  const columns: Column<Group>[] = [
    ['value', ({ value }) => oneLine(value ?? NONE), 'bold'],
    ['>queries', ({ queries }) => count(queries), tint],
    ['>rollouts', ({ ended }) => count(ended), tint],
    ...numbers(all).flatMap(({ name }): Column<Group>[] => [
      [`>${name}`, (group) => share(of(group, name)?.value ?? null), tint],
      ['>95 %', (group) => intervalOf(of(group, name)), tint],
    ]),
  ];
  return table([...groups, all], columns, paint);
}

const intervalOf = (one: Estimate | undefined): string => (!one || isTooWide(one) ? '–' : percents(one.interval));
