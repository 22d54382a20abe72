// The data of a report: the messages that its pages ask for. In a file they are inside the HTML; of a site the parts are
// files of their own.

import type {
  Cell,
  CompareMessage,
  QueriesMessage,
  RolloutMessage,
  RunHead,
  RunMessage,
  TokensMessage,
} from './messages.ts';
import type { Row } from './row.ts';

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

/** Known before any part is read. */
export interface ReportIndex {
  readonly heads: readonly RunHead[];
  /** The things that are not here, one a line. */
  readonly left: readonly string[];
  readonly compared: readonly [a: string, b: string] | null;
}

export interface ReportData {
  readonly index: ReportIndex;
  /** In the order of `index.heads`. */
  readonly runs: readonly ReportRun[];
  /** Of each run, in the order of `whole`. */
  readonly rollouts: readonly (readonly RolloutMessage[])[];
  /** The same; empty without tokens. */
  readonly tokens: readonly (readonly RolloutTokens[])[];
  readonly compared: Compared | null;
}

/** The files of a site, relative to its page. */
export const sitePart = {
  run: (run: number) => `data/${run}/run.json`,
  rollout: (run: number, n: number) => `data/${run}/rollout-${n}.json`,
  tokens: (run: number, n: number) => `data/${run}/tokens-${n}.json`,
  compared: 'data/compare.json',
} as const;
