// run.json: the input of a run, fixed at its creation. Settings carry the source of each value.

import type { AgentRecord } from '../../domain/rollout/agent.ts';
import type { FoundLogprobs } from '../../domain/rollout/logprob-meaning.ts';
import type { ForkedFrom } from '../../domain/rollout/lineage.ts';
import type { GroupFilter } from '../../domain/rollout/group.ts';
import type { ModelIdentity } from '../../domain/weights/model-identity.ts';
import type { RolloutSettings } from '../../domain/run/settings.ts';

/** `agent`: the preset that `agent` names. */
export const ORIGINS = ['default', 'agent', 'config', 'environment', 'flag', 'input'] as const;
export type Origin = (typeof ORIGINS)[number];

export interface RunRecord {
  readonly format: 'everturn-run/1';
  readonly run: string;
  readonly settings: RolloutSettings;
  readonly origins: Readonly<Record<string, Origin>>;
  /** Of each query, in one epoch. */
  readonly samples: number;
  /** Absent: 1. Epoch e has the samples e × samples … of each query. */
  readonly epochs?: number;
  /** Present if a trainer paces the run through its feed. */
  readonly train?: TrainRecord;
  /** Groups that are trained on, of a run that no trainer paces: the filter of its exports. Absent: all. */
  readonly keep?: GroupFilter;
  /** Absent: settings alone, and a sample of each rollout. */
  readonly agent?: AgentRecord;
  /** The file of the queries, and the SHA-256 of the accepted rows; null if rollouts are started one by one. */
  readonly dataset: {
    readonly path: string;
    readonly sha256: string;
    readonly accepted: number;
    readonly refused: number;
    /** Of the rows before their solutions were read, if some were refused then: the same command offers these again. */
    readonly offered?: string;
  } | null;
  /** The kind of logprobs that the servers or the model returned when the run was made; null if not probed. */
  readonly logprobs?: FoundLogprobs | null;
  /** The model's identity when the run was made; null if not probed, absent if rollouts are started one by one. */
  readonly model?: ModelIdentity | null;
  /** Present in a fork of another run. */
  readonly forkedFrom?: ForkedFrom;
  readonly versions: { readonly everturn: string; readonly node: string };
  readonly createdAt: number;
}

/** Beside the settings: what is played and trained on of a query. */
export type GroupParts = Pick<RunRecord, 'epochs' | 'train' | 'keep' | 'agent'>;

export const GROUP_PARTS = ['epochs', 'train', 'keep', 'agent'] as const satisfies readonly (keyof GroupParts)[];

/** The parts that are there, in one order: a derived name follows from them. */
export function groupParts(record: GroupParts): GroupParts {
  const there = GROUP_PARTS.filter((part) => record[part] !== undefined);
  return Object.fromEntries(there.map((part) => [part, record[part]]));
}

export interface TrainRecord extends GroupFilter {
  /** Groups in one training step. */
  readonly batchGroups: number;
  /** Versions that a sample may be old when it is trained. */
  readonly maxStaleness: number;
}
