// The record of a new run, out of its options, of the parts that were described for it, and of the rows that were read. Pure: the
// same input gives the same record, and a name that is not given follows from everything that decides the turns.

import type { Wording } from '../domain/query/query.ts';
import { derivedRunName } from '../domain/run/run-name.ts';
import { everturnVersion } from '../local/machine/package-root.ts';
import type { DatasetRecord, RunRecord } from '../records/format/run-record.ts';
import { settingsOf } from './config.ts';
import { givenSettings } from './options.ts';
import type { DescribedParts } from './parts.ts';
import { runPartsOf } from './run-parts.ts';

export interface PlanInput {
  /** Undefined: derived, so that the same command finds the same run. */
  readonly name: string | undefined;
  readonly parts: Pick<DescribedParts, 'options' | 'origins' | 'agent' | 'settings'>;
  readonly wording: Wording | undefined;
  readonly dataset: DatasetRecord;
  /** The rows that versions of the weights are evaluated on. */
  readonly heldOut: DatasetRecord | undefined;
  /** Epoch milliseconds. */
  readonly now: number;
}

/** Throws a UsageError for options that do not fit together. */
export function planRun({ name, parts, wording, dataset, heldOut, now }: PlanInput): RunRecord {
  const { options, origins, agent, settings: own } = parts;
  const { samples, evalEvery, evalSamples } = options;
  const evaluation = heldOut && { every: evalEvery, samples: evalSamples, queries: offeredOf(heldOut) };
  const beside = { ...runPartsOf(options, agent, wording), ...(evaluation && { evaluation }) };
  const asked = { ...givenSettings(options), ...own };
  const run = name ?? derivedRunName(dataset.path, offeredOf(dataset), asked, samples, beside);
  const settings = { ...settingsOf(run, options), ...own };
  return newRecord({ run, settings, origins, samples, ...beside, dataset }, now);
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
