// `everturn compare <a> <b>`: two runs of the same queries, paired query by query, from their folders. Exit code 10 if
// the second run is worse by more than --min-delta: a gate for continuous integration.

import { type Command, Option } from 'commander';
import { UsageError } from '../../domain/errors/errors.ts';
import { oneLine } from '../../domain/text/foreign-text.ts';
import { steeredCount, unsteered } from '../../domain/rollout/rollout-summary.ts';
import {
  type Cell,
  CELLS,
  comparison,
  isWorse,
  type Measure,
  MEASURES,
  type QueryIdentity,
} from '../../statistics/comparison.ts';
import { distributionOf } from '../../statistics/mean.ts';
import { totalOf } from '../../statistics/play-order.ts';
import { hasEnded, known } from '../../statistics/outcomes.ts';
import { settingDifferences } from '../../statistics/settings.ts';
import { queryDigests } from '../../records/query-digests.ts';
import { EXIT, type ExitCode } from '../exit.ts';
import { findRun, type RunPlace } from '../find/place.ts';
import { whole } from '../find/rollout.ts';
import { readRunSummaries, type RunSummaries } from '../find/summaries.ts';
import { jsonOption, outOption, steeredOption } from '../flags.ts';
import { type Io, print, printJson, say } from '../io.ts';
import { comparisonText } from '../view/comparison-text.ts';
import { steeredLines } from '../view/people.ts';
import { plural } from '../view/format.ts';
import { paintFor } from '../view/paint.ts';

interface Flags {
  readonly out: string;
  readonly atTurn?: string;
  readonly measure: Measure;
  readonly show?: Cell;
  readonly minDelta?: string;
  readonly includeSteered?: boolean;
  readonly json?: boolean;
}

export function define(command: Command, io: Io, exit: (code: ExitCode) => void): void {
  command
    .argument('<a>', 'the first run, such as a baseline: its name or folder')
    .argument('<b>', 'the second run')
    .addOption(outOption())
    .addOption(new Option('--at-turn <t>', 'right means: right at any turn up to this one (default: the last of both)'))
    .addOption(new Option('--measure <what>', 'compare right answers, or returns').choices(MEASURES).default('right'))
    .addOption(new Option('--show <cell>', 'only the ids of these queries, one a line').choices(CELLS))
    .addOption(
      new Option(
        '--min-delta <x>',
        'exit with code 10 if the second run is worse by more than x (0.02 is 2 points), and the 95 % interval says that it is worse',
      ),
    )
    .addOption(steeredOption())
    .addOption(jsonOption('the comparison as one JSON object on stdout'))
    .addHelpText('after', '\nDefinitions: docs/stats.md.\n\nExample:\n  everturn compare base tuned --min-delta 0.02')
    .action(async (a: string, b: string, flags: Flags) => exit(await compare(io, [a, b], flags)));
}

async function compare(io: Io, named: readonly [string, string], flags: Flags): Promise<ExitCode> {
  const minDelta = flags.minDelta === undefined ? undefined : deltaOf(flags.minDelta);
  const places = (await Promise.all(named.map((name) => findRun(io, name, flags.out)))) as [RunPlace, RunPlace];
  const includeSteered = flags.includeSteered === true;
  const [a, b] = [await readRun(places[0], includeSteered), await readRun(places[1], includeSteered)];
  const turns = Math.min(a.shape.numTurns, b.shape.numTurns);
  const atTurn = flags.atTurn === undefined ? turns : whole('--at-turn', flags.atTurn, 1);
  if (atTurn > turns) {
    throw new UsageError(`--at-turn ${atTurn}: one of the runs plays ${plural(turns, 'turn')}.`, {
      reason: 'no-such-turn',
      fix: `Give a turn from 1 to ${turns}.`,
    });
  }
  const found = comparison(a, b, { measure: flags.measure, atTurn });
  const settings = settingDifferences(settingsOf(a), settingsOf(b));
  const names = [places[0].run, places[1].run] as const;
  // A gate never passes for want of answers.
  const nothing = minDelta !== undefined && found.pairs.length === 0;
  const worse = minDelta !== undefined && isWorse(found, minDelta);
  const shown = flags.show && found.pairs.filter(({ cell }) => cell === flags.show).map(({ query }) => query);
  if (flags.json) {
    const { pairs, ...rest } = found;
    const queries = shown ? { show: flags.show, queries: shown } : { queries: pairs };
    printJson(io, { runs: names, pairs: pairs.length, ...rest, settings, worse, ...queries });
  } else if (shown) for (const query of shown) print(io, oneLine(query));
  else {
    print(io, comparisonText({ names, comparison: found, settings, cost: costOf(a, b) }, paintFor(io.out, io.env)));
  }
  sayWhatIsMissing(io, names, [a, b], found.pairs.length);
  if (nothing) say(io, `everturn: --min-delta ${minDelta}: nobody knows whether "${names[1]}" is worse.`);
  if (nothing) return EXIT.below;
  if (!worse) return EXIT.ok;
  say(io, `everturn: "${names[1]}" is worse than "${names[0]}" by more than --min-delta ${minDelta}.`);
  return EXIT.below;
}

type ReadRun = RunSummaries & { readonly queries: Map<string, QueryIdentity> };

async function readRun(place: RunPlace, includeSteered: boolean): Promise<ReadRun> {
  const queries = new Map<string, QueryIdentity>();
  for await (const { query, ...identity } of queryDigests(place.store)) queries.set(query, identity);
  return { ...(await readRunSummaries(place, { includeSteered })), queries };
}

function settingsOf({ record }: RunSummaries): Readonly<Record<string, unknown>> {
  if (!record) return {};
  const { settings, samples, epochs = 1, train, dataset, versions } = record;
  return { ...settings, samples, epochs, train, dataset: dataset?.sha256, everturn: versions.everturn };
}

function costOf(a: RunSummaries, b: RunSummaries) {
  const turns = [a, b].map(({ rollouts }) => unsteered(rollouts).flatMap((r) => r.turns));
  return {
    tokens: turns.map((own) => distributionOf(known(own.map((t) => t.outputTokens))).mean),
    seconds: turns.map((own) => distributionOf(own.map((t) => (t.finishedAt - t.startedAt) / 1000)).p50),
  };
}

function sayWhatIsMissing(io: Io, names: readonly string[], runs: readonly RunSummaries[], pairs: number): void {
  for (const [i, { rollouts, shape, broken, end }] of runs.entries()) {
    const [ended, total] = [rollouts.filter(hasEnded).length, totalOf(shape)];
    if (ended < total) {
      say(
        io,
        `"${names[i]}" is ${end ?? 'in progress'}: ${ended} of ${plural(total, 'rollout')} ended. These numbers are provisional.`,
      );
    }
    for (const line of steeredLines(steeredCount(rollouts), `"${names[i]}": `)) say(io, line);
    if (broken.length > 0) {
      say(
        io,
        `everturn: ${plural(broken.length, 'rollout')} of "${names[i]}" left out: records are damaged, the first ${broken[0]!.path}, which ${broken[0]!.problem}.`,
      );
    }
  }
  if (pairs === 0) say(io, 'everturn: no query is known in both runs: there is nothing to compare.');
}

function deltaOf(text: string): number {
  const delta = Number(text);
  if (/^\d{0,9}(\.\d{1,12})?$/.test(text) && text !== '' && Number.isFinite(delta)) return delta;
  throw new UsageError(`--min-delta ${JSON.stringify(text)} is not a number of at least 0.`, {
    reason: 'bad-value',
    fix: 'Write a share: 0.02 is 2 points.',
  });
}
