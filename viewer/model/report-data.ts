// The data of a report, inside its HTML: an index, and parts by name.

import type { Cell, CompareMessage, QueriesMessage, RunHead, RunMessage, TokensMessage } from './messages.ts';
import type { Row } from './row.ts';

/** Known before any part is read. */
export interface ReportIndex {
  readonly heads: readonly RunHead[];
  /** The things that are not here, one a line. */
  readonly left: readonly string[];
  readonly compared: readonly [a: string, b: string] | null;
}

/** The names of the parts. `run`: a place in `heads`; `n`: one in `whole`. A rollout is a RolloutMessage. */
export const PART = {
  run: (run: number) => `data/${run}/run.json`,
  rollout: (run: number, n: number) => `data/${run}/rollout-${n}.json`,
  tokens: (run: number, n: number) => `data/${run}/tokens-${n}.json`,
  compared: 'data/compare.json',
} as const;

/** One run, without its turns. */
export interface ReportRun {
  readonly run: RunMessage;
  readonly rows: readonly Row[];
  readonly queries: QueriesMessage;
  /** `rowKey` of the rollouts whose turns are here. */
  readonly whole: readonly string[];
}

/** By turn. */
export type RolloutTokens = Readonly<Record<string, TokensMessage>>;

/** All queries, and those of each cell. */
export type Compared = Readonly<Record<Cell | 'all', CompareMessage>>;

export interface ReportData {
  readonly index: ReportIndex;
  readonly parts: Readonly<Record<string, unknown>>;
}
