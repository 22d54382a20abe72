// Where a row's experts lie: the slices of its turns, end to end over its tokens. Pure.

import { expertsFile, type ExpertsSlice } from '../rollout/experts.ts';
import type { TurnRecord } from '../rollout/turn.ts';

export interface ExpertsFields {
  /** A row of numbers for each token but the last: each file's first `rows` rows, of [layers][per_token] of `type`. */
  readonly experts?: readonly ExpertsOfRow[];
  /** The model is a mixture of experts, and the experts of some of its tokens are not recorded. */
  readonly experts_missing?: true;
}

interface ExpertsOfRow extends Pick<ExpertsSlice, 'sha256' | 'start' | 'rows' | 'layers' | 'type'> {
  /** In the run's folder; compressed by gzip. */
  readonly path: string;
  readonly per_token: number;
}

export function expertsFields(turns: readonly TurnRecord[]): ExpertsFields {
  if (turns.some(({ expertsMissing }) => expertsMissing)) return { experts_missing: true };
  const slices = turns.flatMap(({ experts = [] }) => experts);
  if (slices.length === 0) return {};
  return {
    experts: slices.map((one) => {
      const { sha256, start, rows, layers, perToken: per_token, type } = one;
      return { path: expertsFile(one), sha256, start, rows, layers, per_token, type };
    }),
  };
}
