// Several runs of the same rows in one table: accuracy with its interval, the paired difference of each with the first,
// tokens, cost and time.

import { oneLine } from '../../domain/text/foreign-text.ts';
import { unsteered } from '../../domain/rollout/rollout-summary.ts';
import type { ComparedRun, QueryIdentity } from '../../statistics/comparison.ts';
import { distributionOf } from '../../statistics/mean.ts';
import { known } from '../../statistics/outcomes.ts';
import { type AtTurn, sideBySide } from '../../statistics/side-by-side.ts';
import { queryDigests } from '../../records/run/query-digests.ts';
import type { Answer } from '../command.ts';
import type { Io } from '../io.ts';
import { intervalText, points, pText } from './comparison-text.ts';
import { type Column, count, paintFor, percents, share, table } from '../format.ts';
import type { RunPlace } from '../find/place.ts';
import { costText, type CostOf } from '../find/prices.ts';
import { readRunSummaries, type RunSummaries } from '../../library/run-summaries.ts';
import { damageLines } from './damage-lines.ts';

export type ReadRun = RunSummaries & ComparedRun & { readonly run: string };

export async function readForComparison(place: RunPlace, includeSteered: boolean): Promise<ReadRun> {
  const queries = new Map<string, QueryIdentity>();
  for await (const { query, ...identity } of queryDigests(place.store)) queries.set(query, identity);
  const read = await readRunSummaries(place, { includeSteered });
  return { run: place.run, ...read, queries, wording: read.record?.wording };
}

/** The mean tokens of an answer and of its context, its median seconds, and the cost of all. */
export function spentOf({ record, rollouts }: RunSummaries, costOf: CostOf) {
  const turns = unsteered(rollouts).flatMap((rollout) => rollout.turns);
  return {
    inputTokens: distributionOf(known(turns.map((turn) => turn.contextTokens))).mean,
    outputTokens: distributionOf(known(turns.map((turn) => turn.outputTokens))).mean,
    seconds: distributionOf(turns.map((turn) => (turn.finishedAt - turn.startedAt) / 1000)).p50,
    cost: costOf(record?.settings.model ?? null, rollouts),
  };
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
    const model = run.record?.settings.model ?? null;
    return { label: labels[i]!, run: run.run, model, atTurns: accuracies[i]!, ...spentOf(run, costOf) };
  });
  const paint = paintFor(io.out, io.env);
  const named = places.some(({ run }, i) => run !== labels[i]);
  const priced = found.some(({ cost }) => cost !== undefined);
  type Row = (typeof found)[number] & AtTurn;
  const columnsOf = (title: string): (Column<Row> | false)[] => [
    [title, ({ label }) => oneLine(label), 'bold'],
    named && ['run', ({ run }) => oneLine(run)],
    ['>accuracy', ({ accuracy }) => share(accuracy.value)],
    ['>95 %', ({ accuracy }) => percents(accuracy.interval)],
    ['>difference', ({ against }) => (against ? points(against.difference.value) : '')],
    ['>95 %', ({ against }) => (against ? intervalText(against.difference.interval, points) : '')],
    ['>p', ({ against }) => (against ? pText(against.difference.p) : '')],
    ['>queries', ({ accuracy, against }) => count(against?.difference.n ?? accuracy.n)],
    ['>left out', ({ accuracy }) => (accuracy.leftOut === 0 ? '' : count(accuracy.leftOut))],
    ['>tokens in', ({ inputTokens }) => (inputTokens === null ? '–' : count(inputTokens))],
    ['>out', ({ outputTokens }) => (outputTokens === null ? '–' : count(outputTokens))],
    ['>seconds', ({ seconds }) => (seconds === null ? '–' : seconds.toPrecision(2))],
    priced && ['>cost', ({ cost }) => (cost === undefined ? '' : costText(cost).replace(/:.*/, ''))],
  ];
  const tables = accuracies[0]!.map(({ accuracy }, t) => {
    const rows = found.map((row) => ({ ...row, ...row.atTurns[t]! }));
    return table(rows, columnsOf(accuracy.name.replace('pass@1', 'right')), paint);
  });
  const about = `Differences are with ${oneLine(labels[0]!)}, query by query (paired t-test, one p for each row). Tokens and seconds are those of an answer.`;
  return {
    json: { event: 'compared', runs: found },
    text: `\n${tables.join('\n\n')}\n\n${paint('dim', about)}`,
    notes: runs.flatMap(({ broken }) => damageLines(broken)),
  };
}
