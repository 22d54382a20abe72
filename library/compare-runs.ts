// Runs of the same queries, compared query by query: two of them, or several in a table, each with the first.

import { unusable } from '../domain/errors/unusable.ts';
import { type Steered, unsteered } from '../domain/rollout/rollout-summary.ts';
import { plural } from '../domain/text/plural.ts';
import { settingsWithOrigins } from '../records/format/run-record.ts';
import { queryDigests } from '../records/run/queries.ts';
import type { RunPlace } from '../run/place.ts';
import {
  type ComparedRun,
  comparison,
  type MEASURES,
  type QueryIdentity,
  settingDifferences,
} from '../domain/statistics/comparison.ts';
import { distributionOf } from '../domain/statistics/mean.ts';
import { totalOf } from '../domain/statistics/in-progress.ts';
import { hasRolloutEnded, known } from '../domain/statistics/outcomes.ts';
import { sideBySide } from '../domain/statistics/side-by-side.ts';
import type { Priced } from '../domain/statistics/timing.ts';
import { readRunSummaries, type RunSummaries } from './run-summaries.ts';

export type ComparedRunSummaries = RunSummaries & ComparedRun & { readonly run: string };

async function readForComparison(place: RunPlace, includeSteered: boolean): Promise<ComparedRunSummaries> {
  const queries = new Map<string, QueryIdentity>();
  for await (const { query, ...identity } of queryDigests(place.store)) queries.set(query, identity);
  const read = await readRunSummaries(place, { includeSteered });
  return { run: place.run, ...read, queries, wording: read.record?.wording };
}

export type Cost = readonly [least: number, most: number] | null;
/** The cost of a run's recorded answers, least and greatest; undefined without prices of its model. */
export type CostOf = (
  model: string | null,
  rollouts: readonly (Priced & { readonly steered?: Steered })[],
) => Cost | undefined;

/** The mean tokens of an answer and of its context, its median seconds, and the cost of all. */
function spentOf({ record, rollouts }: RunSummaries, costOf: CostOf) {
  const turns = unsteered(rollouts).flatMap((rollout) => rollout.turns);
  return {
    inputTokens: distributionOf(known(turns.map((turn) => turn.contextTokens))).mean,
    outputTokens: distributionOf(known(turns.map((turn) => turn.outputTokens))).mean,
    seconds: distributionOf(turns.map((turn) => (turn.finishedAt - turn.startedAt) / 1000)).p50,
    cost: costOf(record?.settings.model ?? null, rollouts),
    /** From the first answer's start to the last one's end; null without answers. */
    tookSeconds: turns.length === 0 ? null : spanOf(turns) / 1000,
  };
}

function spanOf(turns: readonly { readonly startedAt: number; readonly finishedAt: number }[]): number {
  let [from, to] = [Infinity, -Infinity];
  for (const { startedAt, finishedAt } of turns) [from, to] = [Math.min(from, startedAt), Math.max(to, finishedAt)];
  return to - from;
}

interface CompareOptions {
  readonly costOf: CostOf;
  /** Right means: right at any turn up to this one. Default: the last of both. */
  readonly atTurn?: number | undefined;
  readonly measure: (typeof MEASURES)[number];
  readonly includeSteered: boolean;
}

export type ComparedRuns = Awaited<ReturnType<typeof compareRuns>>;

export async function compareRuns(
  [placeA, placeB]: readonly [RunPlace, RunPlace],
  { atTurn: wanted, measure, includeSteered, costOf }: CompareOptions,
) {
  const a = await readForComparison(placeA, includeSteered);
  const b = await readForComparison(placeB, includeSteered);
  const turns = Math.min(a.shape.numTurns, b.shape.numTurns);
  const atTurn = wanted ?? turns;
  if (atTurn > turns) {
    const message = `--at-turn ${atTurn}: one of the runs plays ${plural(turns, 'turn')}.`;
    throw unusable(message, `Give a turn from 1 to ${turns}.`, 'no-such-turn');
  }
  const settings = settingDifferences(settingsOf(a), settingsOf(b));
  const spent = [a, b].map((one) => spentOf(one, costOf));
  return { a, b, found: comparison(a, b, { measure, atTurn }), settings, spent };
}

export type TableOfRuns = Awaited<ReturnType<typeof tableOfRuns>>;

export async function tableOfRuns(
  places: readonly RunPlace[],
  { labels, costOf, includeSteered }: Omit<CompareOptions, 'measure'> & { readonly labels: readonly string[] },
) {
  const read: ComparedRunSummaries[] = [];
  for (const place of places) read.push(await readForComparison(place, includeSteered));
  const accuracies = sideBySide(read);
  const runs = read.map((run, i) => {
    const { record, shape, rollouts } = run;
    return {
      ...{ label: labels[i]!, run: run.run, model: record?.settings.model ?? null, atTurns: accuracies[i]! },
      /** Samples of a query, and rollouts of the run. */
      ...{
        repeats: shape.samples * shape.epochs,
        ended: rollouts.filter(hasRolloutEnded).length,
        total: totalOf(shape),
      },
      ...spentOf(run, costOf),
      settings: record ? settingsWithOrigins(record) : [],
    };
  });
  return { runs, broken: read.map(({ broken }) => broken) };
}

function settingsOf({ record }: RunSummaries): Readonly<Record<string, unknown>> {
  if (!record) return {};
  const { settings, samples, epochs = 1, train, dataset, wording, versions } = record;
  return { ...settings, ...wording, samples, epochs, train, dataset: dataset?.sha256, everturn: versions.everturn };
}
