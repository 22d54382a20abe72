// The data inside a report: the messages that its pages ask for.

import type { QueriesMessage, RolloutMessage, RunMessage, TokensMessage } from './messages.ts';
import type { Row } from './row.ts';

export interface ReportData {
  readonly run: RunMessage;
  readonly rows: readonly Row[];
  readonly rollouts: readonly RolloutMessage[];
  /** By `rowKey` and turn, with a space between. */
  readonly tokens: Readonly<Record<string, TokensMessage>>;
  readonly queries: QueriesMessage;
  /** The things that are not here, one a line. */
  readonly left: readonly string[];
}
