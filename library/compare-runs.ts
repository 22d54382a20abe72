// Two runs of the same queries, compared query by query.

import { unusable } from '../domain/errors/unusable.ts';
import { plural } from '../domain/text/plural.ts';
import { queryDigests } from '../records/run/queries.ts';
import type { RunPlace } from '../run/place.ts';
import {
  type ComparedRun,
  comparison,
  type MEASURES,
  type QueryIdentity,
  settingDifferences,
} from '../statistics/comparison.ts';
import { readRunSummaries, type RunSummaries } from './run-summaries.ts';

export type ComparedRunSummaries = RunSummaries & ComparedRun & { readonly run: string };

export async function readForComparison(place: RunPlace, includeSteered: boolean): Promise<ComparedRunSummaries> {
  const queries = new Map<string, QueryIdentity>();
  for await (const { query, ...identity } of queryDigests(place.store)) queries.set(query, identity);
  const read = await readRunSummaries(place, { includeSteered });
  return { run: place.run, ...read, queries, wording: read.record?.wording };
}

interface CompareOptions {
  /** Right means: right at any turn up to this one. Default: the last of both. */
  readonly atTurn?: number | undefined;
  readonly measure: (typeof MEASURES)[number];
  readonly includeSteered: boolean;
}

export async function compareRuns(
  [placeA, placeB]: readonly [RunPlace, RunPlace],
  { atTurn: wanted, measure, includeSteered }: CompareOptions,
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
  return { a, b, found: comparison(a, b, { measure, atTurn }), settings };
}

function settingsOf({ record }: RunSummaries): Readonly<Record<string, unknown>> {
  if (!record) return {};
  const { settings, samples, epochs = 1, train, dataset, wording, versions } = record;
  return { ...settings, ...wording, samples, epochs, train, dataset: dataset?.sha256, everturn: versions.everturn };
}
