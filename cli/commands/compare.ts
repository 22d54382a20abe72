// `everturn compare <a> <b>`: two runs of the same queries, paired query by query, from their folders. Exit code 10 if
// the second run is worse by more than --min-delta: a gate for continuous integration.

import { oneLine } from '../../domain/text/foreign-text.ts';
import { steeredCount } from '../../domain/rollout/rollout-summary.ts';
import { CELLS, isWorse, MEASURES } from '../../domain/statistics/comparison.ts';
import { totalOf } from '../../domain/statistics/in-progress.ts';
import { hasRolloutEnded } from '../../domain/statistics/outcomes.ts';
import { command, flag, number, choiceFlag, wholeFlag, withDefault } from '../command.ts';
import { EXIT } from '../exit.ts';
import { findRun } from '../find/place.ts';
import { costBy, PRICE_FLAGS } from '../find/prices.ts';
import { comparisonText, runsAnswer } from '../view/comparison-text.ts';
import { type ComparedRunSummaries, compareRuns, tableOfRuns } from '../../library/compare-runs.ts';
import { INCLUDE_STEERED, OUT } from '../flags.ts';
import { paintFor, plural } from '../format.ts';
import { damageCode, damageLines, steeredLines } from '../view/left-out.ts';

export const compare = command({
  args: {
    '<a>': 'the first run, such as a baseline: its name or folder',
    '<b>': 'the second run',
    '[others...]': 'further runs: all of them in one table, each against the first',
  },
  flags: {
    out: OUT,
    atTurn: wholeFlag('<t>', 'right means: right at any turn up to this one (default: the last of both)', 1),
    measure: withDefault(choiceFlag('<what>', MEASURES, 'compare right answers, or returns'), 'right'),
    show: choiceFlag('<cell>', CELLS, 'only the ids of these queries, one a line'),
    minDelta: number(
      '<x>',
      'exit with code 10 if the second run is worse by more than x (0.02 is 2 points), and the 95 % interval says that it is worse',
      Infinity,
      'It takes a number of at least 0: 0.02 is 2 points.',
    ),
    ...PRICE_FLAGS,
    includeSteered: INCLUDE_STEERED,
    json: flag('the comparison as one JSON object on stdout'),
  },
  help: 'Definitions: docs/stats.md.\n\nExample:\n  everturn compare base tuned --min-delta 0.02',
  async run(io, given) {
    const { minDelta, show, includeSteered } = given;
    const costOf = costBy(io, given);
    const places = [];
    for (const name of [given.a, given.b, ...given.others]) places.push(await findRun(io, name, given.out));
    const [placeA, placeB, ...others] = places;
    if (others.length > 0) {
      const labels = places.map(({ run }) => run);
      return runsAnswer(io, await tableOfRuns(places, { labels, costOf, includeSteered }));
    }
    const compared = await compareRuns([placeA!, placeB!], { ...given, costOf });
    const { a, b, found, settings } = compared;
    const { pairs, ...rest } = found;
    const names = [a.run, b.run] as const;
    const worse = minDelta !== undefined && isWorse(found, minDelta);
    const shown = show && pairs.filter(({ cell }) => cell === show).map(({ query }) => query);
    const queries = shown ? { show, queries: shown } : { queries: pairs };
    const paint = paintFor(io.out, io.env);
    const text = shown ? shown.map((query) => `${oneLine(query)}\n`).join('') : comparisonText(names, compared, paint);
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
      code: worse || unknown ? EXIT.below : damageCode(a.broken, b.broken),
    };
  },
});

function missingLines({ run, rollouts, shape, broken, end }: ComparedRunSummaries): string[] {
  const [ended, total] = [rollouts.filter(hasRolloutEnded).length, totalOf(shape)];
  const is = end === null ? 'is in progress' : end === 'cancelled' ? 'was cancelled' : 'has ended';
  const state = `"${run}" ${is}: ${ended} of ${plural(total, 'rollout')} ended`;
  return [
    ...(ended < total ? [`${state}. These numbers are provisional.`] : []),
    ...steeredLines(steeredCount(rollouts), `"${run}": `),
    ...damageLines(broken, ` of "${run}"`),
  ];
}
