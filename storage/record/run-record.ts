// run.json: what a run plays, fixed at its creation. Settings carry the origin of each value.

import type { FoundLogprobs } from '../../domain/logprob-meaning.ts';
import type { ModelIdentity } from '../../domain/model-identity.ts';
import type { RolloutSettings } from '../../domain/settings.ts';

export type Origin = 'default' | 'config' | 'environment' | 'flag' | 'input';

export interface RunRecord {
  readonly format: 'everturn-run/1';
  readonly run: string;
  readonly settings: RolloutSettings;
  readonly origins: Readonly<Record<string, Origin>>;
  readonly samples: number;
  /** The source of the queries, and the SHA-256 of the accepted rows; null where rollouts are started one by one. */
  readonly dataset: {
    readonly path: string;
    readonly sha256: string;
    readonly accepted: number;
    readonly refused: number;
    /** Of the rows before their solutions were read, where some were refused then: what the same command offers again. */
    readonly offered?: string;
  } | null;
  /** What the servers or the model were found to give as logprobs when the run was made; null where nobody looked. */
  readonly logprobs?: FoundLogprobs | null;
  /** What the model was known by when the run was made; null where nobody looked, absent in older runs. */
  readonly model?: ModelIdentity | null;
  readonly versions: { readonly everturn: string; readonly node: string };
  readonly createdAt: number;
}
