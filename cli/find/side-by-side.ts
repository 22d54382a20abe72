// Several runs of the same rows in one table: accuracy with its interval, the paired difference of each with the first,
// tokens, cost and time.

import { oneLine } from '../../domain/text/foreign-text.ts';
import { unsteered } from '../../domain/rollout/rollout-summary.ts';
import { comparison, type ComparedRun, type QueryIdentity } from '../../statistics/comparison.ts';
import type { Estimate } from '../../statistics/estimate.ts';
import { distributionOf } from '../../statistics/mean.ts';
import { known } from '../../statistics/outcomes.ts';
import { runStatistics } from '../../statistics/run-statistics.ts';
import { queryDigests } from '../../records/run/query-digests.ts';
import type { Answer } from '../command.ts';
import type { Io } from '../io.ts';
import { intervalText, points, pText } from '../view/comparison-text.ts';
import { count, paintFor, percent, table } from '../view/format.ts';
import type { RunPlace } from './place.ts';
import { costText, type CostOf } from './prices.ts';
import { damageLines, readRunSummaries, type RunSummaries } from './summaries.ts';

export type ReadRun = RunSummaries & ComparedRun & { readonly run: string };

export async function readForComparison(place: RunPlace, includeSteered: boolean): Promise<ReadRun> {
  const queries = new Map<string, QueryIdentity>();
  for await (const { query, ...identity } of queryDigests(place.store)) queries.set(query, identity);
  return { run: place.run, ...(await readRunSummaries(place, { includeSteered })), queries };
}

/** With other words around the same rows, queries are paired by their ids. */
export const otherWords = (a: RunSummaries, b: RunSummaries): boolean =>
  JSON.stringify(a.record?.wording) !== JSON.stringify(b.record?.wording);

interface Options {
  readonly labels: readonly string[];
  readonly costOf: CostOf;
  readonly includeSteered?: boolean;
}

export async function sideBySide(
  io: Io,
  places: readonly RunPlace[],
  { labels, costOf, includeSteered = false }: Options,
): Promise<Answer> {
  const runs: ReadRun[] = [];
  for (const place of places) runs.push(await readForComparison(place, includeSteered));
  const numTurns = Math.min(...runs.map(({ shape }) => shape.numTurns));
  const [first] = runs;
  const found = runs.map((run, i) => {
    const atTurns = [...new Set([1, numTurns])].map((atTurn) => {
      const { passAtKFirst, passAtK } = runStatistics(run.rollouts, run.shape, { ks: [1], atTurn: numTurns });
      const accuracy = (atTurn === 1 && numTurns > 1 ? passAtKFirst : passAtK)[0]!;
      const against = i === 0 ? null : comparison(first!, run, { atTurn, otherWords: otherWords(first!, run) });
      return { accuracy, against };
    });
    const turns = unsteered(run.rollouts).flatMap((rollout) => rollout.turns);
    const model = run.record?.settings.model ?? null;
    return {
      ...{ label: labels[i]!, run: run.run, model, atTurns },
      inputTokens: distributionOf(known(turns.map((turn) => turn.contextTokens))).mean,
      outputTokens: distributionOf(known(turns.map((turn) => turn.outputTokens))).mean,
      seconds: distributionOf(turns.map((turn) => (turn.finishedAt - turn.startedAt) / 1000)).p50,
      cost: costOf(model, run.rollouts),
    };
  });
  const paint = paintFor(io.out, io.env);
  const named = places.some(({ run }, i) => run !== labels[i]);
  const priced = found.some(({ cost }) => cost !== undefined);
  const columns = [
    ...['>accuracy', '>95 %', '>difference', '>95 %', '>p', '>queries', '>left out'],
    ...['>tokens in', '>out', '>seconds', ...(priced ? ['>cost'] : [])],
  ];
  const tables = [...new Set([1, numTurns])].map((_, t) => {
    const rows = found.map(({ label, run, inputTokens, outputTokens, seconds, cost, atTurns }) => {
      const { accuracy, against } = atTurns[t]!;
      const { difference } = against ?? {};
      return [
        ...[oneLine(label), ...(named ? [oneLine(run)] : [])],
        ...[percentOf(accuracy.value), boundsOf(accuracy)],
        ...(difference
          ? [points(difference.value), intervalText(difference.interval, points), pText(difference.p)]
          : ['', '', '']),
        ...[count(difference?.n ?? accuracy.n), accuracy.leftOut === 0 ? '' : count(accuracy.leftOut)],
        ...[inputTokens, outputTokens].map((mean) => (mean === null ? '–' : count(mean))),
        seconds === null ? '–' : seconds.toPrecision(2),
        ...(priced ? [cost === undefined ? '' : costText(cost).replace(/:.*/, '')] : []),
      ];
    });
    const title = found[0]!.atTurns[t]!.accuracy.name.replace('pass@1', 'right');
    return table([title, ...(named ? ['run'] : []), ...columns], rows, paint, (_, column) =>
      column === 0 ? 'bold' : undefined,
    );
  });
  const about = `Differences are with ${oneLine(labels[0]!)}, query by query (paired t-test, one p for each row). Tokens and seconds are those of an answer.`;
  return {
    json: { event: 'compared', runs: found.map((one) => ({ ...one, atTurns: one.atTurns.map(shortly) })) },
    text: `\n${tables.join('\n\n')}\n\n${paint('dim', about)}`,
    notes: runs.flatMap(({ broken }) => damageLines(broken)),
  };
}

/** `everturn compare a b --json` has every pair. */
function shortly({ accuracy, against }: { accuracy: Estimate; against: ReturnType<typeof comparison> | null }) {
  if (!against) return { accuracy, against };
  const { difference, signFlip, mcnemar, table: cells, atTurn } = against;
  return { accuracy, against: { atTurn, difference, signFlip, mcnemar, table: cells } };
}

const percentOf = (value: number | null): string => (value === null ? '–' : percent(value, 1));
const boundsOf = ({ interval }: Estimate): string =>
  interval ? interval.map((bound) => (100 * bound).toFixed(1)).join(' to ') : '–';
