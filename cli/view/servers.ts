// The inference servers of a run as a table: requests, latency and weight version of each.

import { oneLine } from '../../domain/text/foreign-text.ts';
import type { ServerStatus } from '../../domain/run/server-status.ts';
import type { RunDetails } from '../../library/run-details.ts';
import type { Session } from '../../client/temporal/connection.ts';
import { misrouted } from '../../client/temporal/routing.ts';
import { type Workers, workersOf } from '../../client/temporal/workers.ts';
import { GENERATE_QUEUE } from '../../domain/names/queues.ts';
import { workOf } from '../../run/require-worker.ts';
import { type Column, count, type Paint, percent, plural, table } from '../format.ts';

export function serverTable(servers: readonly ServerStatus[], paint: Paint): string {
  const all = servers.reduce((sum, { requests }) => sum + requests, 0);
  const columns: Column<ServerStatus>[] = [
    ['server', ({ url }) => oneLine(url)],
    ['state', ({ state }) => state, ({ state }) => (state === 'up' ? undefined : 'red')],
    ['>requests', ({ requests }) => count(requests)],
    ['>share', ({ requests }) => percent(requests, all)],
    ['>in flight', ({ inFlight }) => count(inFlight)],
    ['>median', ({ latencyP50Ms: ms }) => (ms === null ? '–' : `${(ms / 1000).toFixed(2)} s`)],
    ['version', (server) => oneLine(versionText(server)), ({ fellFrom }) => (fellFrom ? 'red' : undefined)],
    ['asked again', againText],
    ['failures', failuresText],
    ['last failure', ({ lastFailure }) => oneLine(lastFailure ?? '')],
  ];
  return `${table(servers, columns, paint)}\n${paint('dim', 'Counts are of the workers, over all their runs.')}`;
}

/** `5, 0.24 s each`: the answers whose logprobs were compared, and what each waited for that. */
function againText({ rechecks }: ServerStatus): string {
  if (rechecks.tokens === 0) return '–';
  const { answers, waitedMs, differed } = rechecks;
  if (answers === 0) return '0';
  const each = (waitedMs / answers / 1000).toFixed(2);
  return `${count(answers)}, ${each} s each${differed > 0 ? `, ${count(differed)} differed` : ''}`;
}

/** `3: 2 server-busy, 1 server-reset`, the most frequent first. */
function failuresText({ failures, failuresBy }: ServerStatus): string {
  const reasons = Object.entries(failuresBy).sort(([a, x], [b, y]) => y - x || (a < b ? -1 : 1));
  if (reasons.length === 0) return count(failures);
  return `${count(failures)}: ${reasons.map(([reason, n]) => `${count(n)} ${oneLine(reason)}`).join(', ')}`;
}

/** `default, was step-5`: as the server names them. */
function versionText({ version, versionLabel, fellFrom }: ServerStatus): string {
  const now = versionLabel ?? String(version ?? '–');
  return fellFrom ? `${now}, was ${fellFrom}` : now;
}

export function weightsLines(weights: RunDetails['weights'], paint: Paint): string[] {
  if (weights === null) return [];
  const { current, latest } = weights;
  const lacking = latest.servers.filter(({ state }) => state !== 'updated' && state !== 'already');
  const all = latest.servers.length;
  const said = all > 0 ? `: ${all - lacking.length} of ${all} servers have it` : '';
  const force = current
    ? `version ${oneLine(current.label)} from ${oneLine(current.folder)}`
    : 'those the model was started with';
  const isLatest = current?.label === latest.label;
  const soFar = latest.state === 'running' ? ' so far' : '';
  const notes = [
    ...(isLatest ? [] : [`version ${oneLine(latest.label)} (${latest.state})${said}`]),
    ...lacking.map(({ url, state, error }) => oneLine(`${url} ${state}${error === null ? '' : `: ${error}`}`)),
  ];
  return [
    `${paint('dim', 'Weights')}    ${force}${isLatest ? said + soFar : ''}`,
    ...notes.map((note) => paint('yellow', `           ${note}`)),
  ];
}

/** `2 workers take 128 generations at once` */
export function takenText({ workers, slots }: Workers): string {
  return `${plural(workers, 'worker')} ${workers === 1 ? 'takes' : 'take'} ${plural(slots, 'generation')} at once`;
}

/** Undefined where there are slots for all, or nobody says how many there are. */
export function slotsText(maxConcurrent: number | null, workers: Workers | undefined | null): string | undefined {
  if (maxConcurrent === null || !workers || workers.workers === 0 || maxConcurrent <= workers.slots) return undefined;
  return `${count(maxConcurrent)} rollouts may be in flight, and ${takenText(workers)}: the others wait for a slot. Start more workers, or give them more slots (\`everturn worker --slots\`), if the model can take more.`;
}

/** Why the workers that are up play less than that many rollouts at once, or none. A local service starts its own. */
export async function workersText(
  { session, local }: { readonly session: Session; readonly local: boolean },
  inFlight: number,
): Promise<string | undefined> {
  const [elsewhere, workers] = await Promise.all([misrouted(session), workersOf(session)]);
  if (!local && workers?.workers === 0) return `No worker is up: the run waits for one. ${workOf(GENERATE_QUEUE)!.fix}`;
  return elsewhere ?? slotsText(inFlight, workers);
}
