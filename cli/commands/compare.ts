// `everturn compare <a> <b>`: two runs of the same queries, paired query by query, from their folders. Exit code 10 if
// the second run is worse by more than --min-delta: a gate for continuous integration.

import { oneLine } from '../../domain/text/foreign-text.ts';
import { steeredCount, unsteered } from '../../domain/rollout/rollout-summary.ts';
import { CELLS, comparison, isWorse, MEASURES, type QueryIdentity } from '../../statistics/comparison.ts';
import { distributionOf } from '../../statistics/mean.ts';
import { totalOf } from '../../statistics/play-order.ts';
import { hasEnded, known } from '../../statistics/outcomes.ts';
import { settingDifferences } from '../../statistics/settings.ts';
import { queryDigests } from '../../records/run/query-digests.ts';
import { command, flag, oneOf, parsed, unusable, whole, withDefault } from '../command.ts';
import { EXIT } from '../exit.ts';
import { findRun, type RunPlace } from '../find/place.ts';
import { readRunSummaries, type RunSummaries } from '../find/summaries.ts';
import { INCLUDE_STEERED, OUT } from '../flags.ts';
import { comparisonText } from '../view/comparison-text.ts';
import { paintFor, plural } from '../view/format.ts';
import { steeredLines } from '../view/people.ts';

export const compare = command({
  args: { '<a>': 'the first run, such as a baseline: its name or folder', '<b>': 'the second run' },
  flags: {
    out: OUT,
    atTurn: whole('<t>', 'right means: right at any turn up to this one (default: the last of both)', 1),
    measure: withDefault(oneOf('<what>', MEASURES, 'compare right answers, or returns'), 'right'),
    show: oneOf('<cell>', CELLS, 'only the ids of these queries, one a line'),
    minDelta: parsed(
      '<x>',
      'exit with code 10 if the second run is worse by more than x (0.02 is 2 points), and the 95 % interval says that it is worse',
      deltaOf,
    ),
    includeSteered: INCLUDE_STEERED,
    json: flag('the comparison as one JSON object on stdout'),
  },
  help: 'Definitions: docs/stats.md.\n\nExample:\n  everturn compare base tuned --min-delta 0.02',
  async run(io, given) {
    const { minDelta, measure, show, includeSteered } = given;
    const placeA = await findRun(io, given.a, given.out);
    const placeB = await findRun(io, given.b, given.out);
    const [a, b] = [await readRun(placeA, includeSteered), await readRun(placeB, includeSteered)];
    const turns = Math.min(a.shape.numTurns, b.shape.numTurns);
    const { atTurn = turns } = given;
    if (atTurn > turns) {
      const message = `--at-turn ${atTurn}: one of the runs plays ${plural(turns, 'turn')}.`;
      throw unusable(message, `Give a turn from 1 to ${turns}.`, 'no-such-turn');
    }
    const [wordsA, wordsB] = [a, b].map(({ record }) => JSON.stringify(record?.wording));
    const found = comparison(a, b, { measure, atTurn, otherWords: wordsA !== wordsB });
    const { pairs, ...rest } = found;
    const settings = settingDifferences(settingsOf(a), settingsOf(b));
    const names = [a.run, b.run] as const;
    const worse = minDelta !== undefined && isWorse(found, minDelta);
    const shown = show && pairs.filter(({ cell }) => cell === show).map(({ query }) => query);
    const queries = shown ? { show, queries: shown } : { queries: pairs };
    const paint = paintFor(io.out, io.env);
    const text = shown
      ? shown.map((query) => `${oneLine(query)}\n`).join('')
      : comparisonText({ names, comparison: found, settings, cost: costOf(a, b) }, paint);
    const notes = [...missingLines(a), ...missingLines(b)];
    if (pairs.length === 0) notes.push('everturn: no query is known in both runs: there is nothing to compare.');
    // A gate never passes for want of answers.
    const unknown = minDelta !== undefined && pairs.length === 0;
    if (unknown) notes.push(`everturn: --min-delta ${minDelta}: nobody knows whether "${b.run}" is worse.`);
    else if (worse) notes.push(`everturn: "${b.run}" is worse than "${a.run}" by more than --min-delta ${minDelta}.`);
    return {
      json: { runs: names, pairs: pairs.length, ...rest, settings, worse, ...queries },
      ...(text === '' ? {} : { text }),
      notes,
      code: worse || unknown ? EXIT.below : EXIT.ok,
    };
  },
});

type ReadRun = RunSummaries & { readonly run: string; readonly queries: Map<string, QueryIdentity> };

async function readRun(place: RunPlace, includeSteered: boolean): Promise<ReadRun> {
  const queries = new Map<string, QueryIdentity>();
  for await (const { query, ...identity } of queryDigests(place.store)) queries.set(query, identity);
  return { run: place.run, ...(await readRunSummaries(place, { includeSteered })), queries };
}

function settingsOf({ record }: RunSummaries): Readonly<Record<string, unknown>> {
  if (!record) return {};
  const { settings, samples, epochs = 1, train, dataset, wording, versions } = record;
  return { ...settings, ...wording, samples, epochs, train, dataset: dataset?.sha256, everturn: versions.everturn };
}

function costOf(a: RunSummaries, b: RunSummaries) {
  const turns = [a, b].map(({ rollouts }) => unsteered(rollouts).flatMap((r) => r.turns));
  return {
    tokens: turns.map((own) => distributionOf(known(own.map((t) => t.outputTokens))).mean),
    seconds: turns.map((own) => distributionOf(own.map((t) => (t.finishedAt - t.startedAt) / 1000)).p50),
  };
}

function missingLines({ run, rollouts, shape, broken, end }: ReadRun): string[] {
  const [ended, total] = [rollouts.filter(hasEnded).length, totalOf(shape)];
  const state = `"${run}" is ${end ?? 'in progress'}: ${ended} of ${plural(total, 'rollout')} ended`;
  const [first] = broken;
  return [
    ...(ended < total ? [`${state}. These numbers are provisional.`] : []),
    ...steeredLines(steeredCount(rollouts), `"${run}": `),
    ...(first
      ? [
          `everturn: ${plural(broken.length, 'rollout')} of "${run}" left out: records are damaged, the first ${first.path}, which ${first.problem}.`,
        ]
      : []),
  ];
}

function deltaOf(given: string): number {
  const delta = Number(given);
  if (/^\d{0,9}(\.\d{1,12})?$/.test(given) && given !== '' && Number.isFinite(delta)) return delta;
  const message = `--min-delta ${JSON.stringify(given)} is not a number of at least 0.`;
  throw unusable(message, 'Write a share: 0.02 is 2 points.');
}
