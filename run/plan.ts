// The record of a new run, out of its options, of the parts that were described for it, and of the rows that were read. Pure: the
// same input gives the same record, and a name that is not given follows from everything that decides the turns.

import { unusable } from '../domain/errors/unusable.ts';
import type { Wording } from '../domain/query/query.ts';
import { MAX_WINDOW } from '../domain/run/defaults.ts';
import { derivedRunName, nameOfRows } from '../domain/run/run-name.ts';
import { tooManyMembers } from '../domain/samples/group.ts';
import { everturnVersion } from '../local/machine/package-root.ts';
import type { DatasetRecord, RunParts, RunRecord } from '../records/format/run-record.ts';
import { type ResolvedOptions, settingsOf } from './config.ts';
import { givenSettings, type RunOptions } from './options.ts';
import type { DescribedParts } from './parts.ts';

interface PlanInput extends ResolvedOptions, Partial<Pick<DescribedParts, 'agent' | 'settings'>> {
  /** Undefined: derived, so that the same command finds the same run. */
  readonly name: string | undefined;
  readonly wording?: Wording | undefined;
  readonly dataset: DatasetRecord;
  /** The rows that versions of the weights are evaluated on. */
  readonly heldOut?: DatasetRecord | undefined;
  /** Epoch milliseconds. */
  readonly now: number;
}

/** Throws a UsageError for options that do not fit together. */
export function planRun({ name, options, origins, settings: own, dataset, now, ...more }: PlanInput): RunRecord {
  const { samples } = options;
  const beside = partsOf(options, more);
  const asked = { ...givenSettings(options), ...own };
  const run = name ?? derivedRunName(nameOfRows(dataset), offeredOf(dataset), asked, samples, beside);
  const settings = { ...settingsOf(run, options), ...own };
  return newRecord({ run, settings, origins, samples, ...beside, dataset }, now);
}

/** What run.json has beside its settings; a derived name follows from it, too. */
function partsOf(
  options: RunOptions,
  { agent, wording, heldOut }: Pick<PlanInput, 'agent' | 'wording' | 'heldOut'>,
): RunParts {
  const { epochs, train, batchGroups, maxStaleness, samples, maxConcurrent, evalEvery, evalSamples } = options;
  const { minMembers, successRate, dropZeroVariance } = options;
  const filter = { minMembers, successRate, dropZeroVariance };
  const filters = minMembers !== null || successRate !== null || dropZeroVariance;
  if (minMembers !== null && minMembers > samples) throw tooManyMembers(minMembers, samples);
  // More would need blocks, and the feed of such a run lets only the groups of its next steps begin.
  if (train && maxConcurrent > MAX_WINDOW) {
    const most = `at most ${MAX_WINDOW}`;
    throw unusable(
      `--max-concurrent ${maxConcurrent}: a run with --train has ${most} rollouts in flight.`,
      `Give ${most}: its feed lets only the groups of its next steps begin.`,
    );
  }
  return {
    ...(epochs === 1 ? {} : { epochs }),
    ...(train ? { train: { batchGroups, maxStaleness, ...filter } } : filters ? { keep: filter } : {}),
    ...(agent && { agent: { name: agent.name, sampleOf: agent.sampleOf } }),
    ...(wording && { wording }),
    ...(heldOut && { evaluation: { every: evalEvery, samples: evalSamples, queries: offeredOf(heldOut) } }),
  };
}

/** The record of a run that is made now. */
export function newRecord(fields: Omit<RunRecord, 'format' | 'versions' | 'createdAt'>, now: number): RunRecord {
  return {
    format: 'everturn-run/1',
    ...{ logprobs: null, model: null, ...fields },
    versions: { everturn: everturnVersion(), node: process.version },
    createdAt: now,
  };
}

/** The hash of the rows before their solutions were read: it identifies the data set of a run. */
export const offeredOf = ({ offered, sha256 }: DatasetRecord): string => offered ?? sha256;
