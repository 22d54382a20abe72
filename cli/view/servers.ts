// The inference servers of a run as a table: requests, latency and weight version of each.

import { oneLine } from '../../domain/text/foreign-text.ts';
import type { ServerReport } from '../../records/fleet-status.ts';
import { count, percent } from './format.ts';
import type { Paint } from './paint.ts';
import { table } from './table.ts';

const NUMBERS = ['>requests', '>share', '>in flight', '>median'];
const COLUMNS = ['server', 'state', ...NUMBERS, 'version', 'asked again', 'failures', 'last failure'];

export function serverTable(servers: readonly ServerReport[], paint: Paint): string {
  const all = servers.reduce((sum, { requests }) => sum + requests, 0);
  const rows = servers.map((s) => [
    oneLine(s.url),
    s.state,
    count(s.requests),
    percent(s.requests, all),
    count(s.inFlight),
    s.latencyP50Ms === null ? '–' : `${(s.latencyP50Ms / 1000).toFixed(2)} s`,
    oneLine(versionText(s)),
    againText(s),
    failuresText(s),
    oneLine(s.lastFailure ?? ''),
  ]);
  const isOdd = ({ state, fellFrom }: ServerReport, column: number) =>
    (column === 1 && state !== 'up') || (column === 6 && fellFrom);
  const lines = table(COLUMNS, rows, paint, (row, column) => (isOdd(servers[row]!, column) ? 'red' : undefined));
  return `${lines}\n${paint('dim', 'Counts are of the workers, over all their runs.')}`;
}

/** `5, 0.24 s each`: the answers whose logprobs were compared, and what each waited for that. */
function againText({ rechecks }: ServerReport): string {
  if (!rechecks || rechecks.tokens === 0) return '–';
  const { answers, waitedMs, differed } = rechecks;
  if (answers === 0) return '0';
  const each = (waitedMs / answers / 1000).toFixed(2);
  return `${count(answers)}, ${each} s each${differed > 0 ? `, ${count(differed)} differed` : ''}`;
}

/** `3: 2 server-busy, 1 server-reset`, the most frequent first. */
function failuresText({ failures, failuresBy = {} }: ServerReport): string {
  const reasons = Object.entries(failuresBy).sort(([a, x], [b, y]) => y - x || (a < b ? -1 : 1));
  if (reasons.length === 0) return count(failures);
  return `${count(failures)}: ${reasons.map(([reason, n]) => `${count(n)} ${oneLine(reason)}`).join(', ')}`;
}

/** `default, was step-5`: as the server names them. */
function versionText({ version, versionLabel, fellFrom }: ServerReport): string {
  const now = versionLabel ?? String(version ?? '–');
  return fellFrom ? `${now}, was ${fellFrom}` : now;
}
