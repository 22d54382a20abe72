// Several runs of the same rows in one table: accuracy with its interval, the paired difference of each with the first,
// tokens, cost and time.

import { oneLine } from '../../domain/text/foreign-text.ts';
import { unsteered } from '../../domain/rollout/rollout-summary.ts';
import type { ComparedRun, QueryIdentity } from '../../statistics/comparison.ts';
import type { Estimate } from '../../statistics/estimate.ts';
import { distributionOf } from '../../statistics/mean.ts';
import { known } from '../../statistics/outcomes.ts';
import { sideBySide } from '../../statistics/side-by-side.ts';
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
  const read = await readRunSummaries(place, { includeSteered });
  return { run: place.run, ...read, queries, wording: read.record?.wording };
}

interface Options {
  readonly labels: readonly string[];
  readonly costOf: CostOf;
  readonly includeSteered?: boolean;
}

export async function tableOfRuns(
  io: Io,
  places: readonly RunPlace[],
  { labels, costOf, includeSteered = false }: Options,
): Promise<Answer> {
  const runs: ReadRun[] = [];
  for (const place of places) runs.push(await readForComparison(place, includeSteered));
  const accuracies = sideBySide(runs);
  const found = runs.map((run, i) => {
    const atTurns = accuracies[i]!;
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
  const tables = found[0]!.atTurns.map((_, t) => {
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
    json: { event: 'compared', runs: found },
    text: `\n${tables.join('\n\n')}\n\n${paint('dim', about)}`,
    notes: runs.flatMap(({ broken }) => damageLines(broken)),
  };
}

const percentOf = (value: number | null): string => (value === null ? '–' : percent(value, 1));
const boundsOf = ({ interval }: Estimate): string =>
  interval ? interval.map((bound) => (100 * bound).toFixed(1)).join(' to ') : '–';
