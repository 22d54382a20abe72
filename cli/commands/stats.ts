// `everturn stats <run>`: every number of a run with its n, interval and definition. Reads the run's folder alone.

import { type Command, Option } from 'commander';
import { UsageError } from '../../domain/errors/errors.ts';
import { unsteered } from '../../domain/rollout/rollout-summary.ts';
import { statisticsRows } from '../../statistics/rows.ts';
import { defaultKs, runStatistics, type RunStatistics } from '../../statistics/run-statistics.ts';
import { costBounds, type Prices } from '../../statistics/timing.ts';
import { EXIT, type ExitCode } from '../exit.ts';
import { findRun } from '../find/place.ts';
import { whole } from '../find/rollout.ts';
import { readRunSummaries, type RunSummaries } from '../find/summaries.ts';
import { jsonOption, outOption, steeredOption } from '../flags.ts';
import { type Io, print, printJson, say } from '../io.ts';
import { sayBroken, statsBy } from '../play/stats-by.ts';
import { csvText } from '../view/csv-text.ts';
import { plural } from '../view/format.ts';
import { paintFor } from '../view/paint.ts';
import { steeredLines } from '../view/people.ts';
import { statisticsText } from '../view/statistics-text.ts';

interface Flags {
  readonly out: string;
  readonly k?: string;
  readonly atTurn?: string;
  readonly prices?: string;
  readonly logprobs?: boolean;
  readonly explain?: boolean;
  readonly includeSteered?: boolean;
  readonly by?: string;
  readonly failUnder?: string;
  readonly rows?: string;
  readonly json?: boolean;
  readonly csv?: boolean;
}

export function define(command: Command, io: Io, exit: (code: ExitCode) => void): void {
  command
    .argument('<run>', "a run's name, or its folder")
    .addOption(outOption())
    .addOption(new Option('--k <list>', 'pass@k, pass^k and maj@k for these k (default: 1, 4, 8, 16 and all samples)'))
    .addOption(new Option('--at-turn <t>', 'right means: right at any turn up to this one (default: the last)'))
    .addOption(
      new Option(
        '--by <field>',
        "apart for each value of a field of the data set's rows: level, extra_info.split, task",
      ),
    )
    .addOption(
      new Option(
        '--fail-under <share>',
        'exit with code 10 unless at least this share (0 to 1) of all rollouts is right at any turn up to --at-turn',
      ).conflicts('by'),
    )
    .addOption(new Option('--rows <file>', 'with --by: the data set, if it is no longer where the run found it'))
    .addOption(new Option('--prices <in,cached,out>', 'prices per million tokens: bounds of the cost'))
    .addOption(new Option('--logprobs', "also the mean logprob of answers: reads every turn's tokens"))
    .addOption(steeredOption())
    .addOption(new Option('--explain', 'the definition of each number'))
    .addOption(jsonOption('every number as one JSON object on stdout').conflicts('csv'))
    .addOption(new Option('--csv', 'every number as one line of CSV on stdout'))
    .addHelpText('after', '\nDefinitions and sources: docs/stats.md.\n\nExample:\n  everturn stats my-run --k 1,4,8')
    .action(async (named: string, flags: Flags) => exit(await stats(io, named, flags)));
}

async function stats(io: Io, named: string, flags: Flags): Promise<ExitCode> {
  if (flags.rows !== undefined && flags.by === undefined) {
    throw new UsageError('--rows names the data set for --by.', { reason: 'bad-value', fix: 'Give --by <field> too.' });
  }
  const ks = flags.k === undefined ? undefined : listOfK(flags.k);
  const prices = flags.prices === undefined ? undefined : pricesOf(flags.prices);
  const least = flags.failUnder === undefined ? undefined : shareOf(flags.failUnder);
  const place = await findRun(io, named, flags.out);
  const read = await readRunSummaries(place, {
    detail: flags.logprobs ? 'logprobs' : 'turns',
    includeSteered: flags.includeSteered === true,
  });
  const { shape, rollouts, broken, record, end } = read;
  const atTurn = flags.atTurn === undefined ? shape.numTurns : whole('--at-turn', flags.atTurn, 1);
  mustBePossible(ks, atTurn, read);
  const statistics = runStatistics(rollouts, shape, { ks: ks ?? defaultKs(shape), atTurn });
  if (flags.by !== undefined) return statsBy(io, place, read, { ks: ks ?? defaultKs(shape), atTurn }, flags.by, flags);
  const cost = prices && costBounds(unsteered(rollouts), prices);
  if (flags.json) {
    printJson(io, {
      run: place.run,
      end,
      model: record?.settings.model ?? null,
      ...statistics,
      ...(prices && { cost }),
      broken,
    });
  } else if (flags.csv) {
    io.out.write(csvText(statisticsRows(statistics)));
  } else {
    const paint = paintFor(io.out, io.env);
    const { ended, total, inFlight, outcomes, queries } = statistics;
    const said = Object.entries(outcomes).flatMap(([name, n]) => (n > 0 ? `${n} ${name}` : []));
    const all = total > ended ? ` of ${total}` : '';
    const flight = inFlight > 0 ? `, ${inFlight} in flight` : '';
    print(
      io,
      `${paint('bold', place.run)}: ${ended}${all} rollouts of ${plural(queries, 'query', 'queries')} ended (${said.join(', ') || 'none'})${flight}`,
    );
    print(io, `\n${statisticsText(statistics, { explain: flags.explain === true, end, paint })}`);
    if (prices) print(io, `cost         ${costText(cost ?? null)}`);
  }
  for (const line of steeredLines(statistics.steered)) say(io, line);
  sayBroken(io, broken);
  const under = least === undefined ? null : whyUnder(statistics, least);
  if (under === null) return EXIT.ok;
  say(io, `everturn: --fail-under ${least}: ${under}.`);
  return EXIT.below;
}

const costText = (cost: readonly [number, number] | null): string =>
  cost === null
    ? '–: a server gave text without tokens'
    : `between ${cost[0].toFixed(4)} and ${cost[1].toFixed(4)}: the records do not say which tokens were cached`;

/** Of all rollouts: one that failed, is undecided, damaged or not played yet is not right. Null if enough are. */
function whyUnder({ right: { count, known }, atTurn, total, ended }: RunStatistics, least: number): string | null {
  const right = `right at any turn up to ${atTurn}`;
  if (known === 0) return `no rollout is known to be ${right} or not`;
  const all = Math.max(total, ended);
  if (count / all >= least) return null;
  const open = all > ended ? ` (${ended} have ended)` : '';
  return `${(count / all).toFixed(4)}: ${count} of ${plural(all, 'rollout')}${open} are ${right}`;
}

const MOST_KS = 32;

function listOfK(text: string): number[] {
  const ks = text.split(',').map((k) => k.trim());
  if (ks.length <= MOST_KS && ks.every((k) => /^[1-9]\d{0,5}$/.test(k))) return [...new Set(ks.map(Number))];
  throw new UsageError(`--k ${JSON.stringify(text)} is not a list of whole numbers from 1.`, {
    reason: 'bad-value',
    fix: `Write at most ${MOST_KS}, with commas: --k 1,4,8.`,
  });
}

function pricesOf(text: string): Prices {
  const prices = text.split(',').map((price) => (price.trim() === '' ? NaN : Number(price)));
  const [input, cached, output] = prices;
  if (prices.length === 3 && prices.every((price) => Number.isFinite(price) && price >= 0)) {
    return { input: input!, cached: cached!, output: output! };
  }
  throw new UsageError(`--prices ${JSON.stringify(text)} is not three prices.`, {
    reason: 'bad-value',
    fix: 'Give prices per million tokens of input, of cached input and of output: --prices 3,0.3,15.',
  });
}

function shareOf(text: string): number {
  const share = Number(text);
  if (/^\d(\.\d{1,12})?$/.test(text) && share <= 1) return share;
  throw new UsageError(`--fail-under ${JSON.stringify(text)} is not a share.`, {
    reason: 'bad-value',
    fix: 'Write a number from 0 to 1: 0.8 is 80 %.',
  });
}

/** A k or a turn that the run does not have gives no number: said, not shown as a dash. */
function mustBePossible(ks: readonly number[] | undefined, atTurn: number, { shape }: RunSummaries): void {
  const most = shape.samples * shape.epochs;
  const large = ks?.find((k) => k > most);
  if (large !== undefined && shape.queries > 0) {
    throw new UsageError(`--k ${large} is above the ${plural(most, 'sample')} of each query: no number is defined.`, {
      reason: 'bad-value',
      fix: `Give numbers up to ${most}, or play the run with --samples ${large}.`,
    });
  }
  if (atTurn > shape.numTurns) {
    throw new UsageError(`--at-turn ${atTurn}: the run plays ${plural(shape.numTurns, 'turn')}.`, {
      reason: 'no-such-turn',
      fix: `Give a turn from 1 to ${shape.numTurns}.`,
    });
  }
}
