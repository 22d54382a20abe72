// The data of a report, inside its HTML.

import type { CompareMessage, RolloutMessage, RunMessage, TokensMessage } from './messages.ts';
import type { Row } from './row.ts';

export interface ReportData {
  readonly runs: readonly ReportRun[];
  /** The comparison of the first two runs; null for one. */
  readonly compared: CompareMessage | null;
  /** The things that are not here, one a line. */
  readonly left: readonly string[];
}

export interface ReportRun {
  readonly run: RunMessage;
  readonly rows: readonly Row[];
  /** The rollouts whose turns are here. */
  readonly whole: readonly WholeRollout[];
}

export interface WholeRollout {
  readonly message: RolloutMessage;
  /** The tokens of each turn, by its number. */
  readonly tokens: Readonly<Record<string, TokensMessage>>;
}
