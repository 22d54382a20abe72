// The summary of an ended run, as text or as JSON, and the exit code that follows from it.

import { oneLine } from '../../domain/text/foreign-text.ts';
import { samplesPerQuery } from '../../domain/samples/group.ts';
import type { Estimate } from '../../domain/statistics/estimate.ts';
import { passesOf, runStatistics } from '../../domain/statistics/run-statistics.ts';
import { readRunSummaries } from '../../library/run-summaries.ts';
import { type UntrainedRollouts, untrainedRollouts } from '../../library/untrained-rollouts.ts';
import { shortPath, runArgument, shellQuoted, commandLine } from '../../library/command-line.ts';
import type { RunRecord } from '../../records/format/run-record.ts';
import type { RunPlace } from '../../run/place.ts';
import type { Answer } from '../command.ts';
import { EXIT, exitCodeOfResult, modelFailedAll, noneComplete } from '../exit.ts';
import { clock, count, lines, paintFor, percent, plural } from '../format.ts';
import { givesIds } from '../../inference/index.ts';
import { type Io, typable } from '../io.ts';
import { summaryLines } from '../view/summary.ts';
import { untrainedLine } from '../view/untrained.ts';
import type { CollectionResult } from '../../domain/run/messages.ts';
import { isOnDisk } from '../../records/place.ts';

export interface Ending {
  readonly place: RunPlace;
  readonly result: CollectionResult;
  readonly maxFailed: number;
  /** The run's page in the web UI, and whether that service is the user's own. */
  readonly url?: string | null;
  readonly local?: boolean;
  /** The run's page in the viewer; without it the command that serves it is named. */
  readonly viewer?: string | null;
  /** It had ended before this command: what failed then may be mended by now. */
  readonly isPast?: boolean;
  /** How long the user followed it, from its start. */
  readonly tookMs?: number | null;
}

export async function showEnding(io: Io, ending: Ending, json: boolean): Promise<Answer> {
  const { place, result, maxFailed, url = null } = ending;
  const code = exitCodeOfResult(result, maxFailed);
  // A damaged folder must not change how the run ended: `check` names the damage.
  const record = (await place.store.get('run').catch(() => undefined))?.record;
  const passes = record ? await passAtKOf(place, record, result) : [];
  const passAtK = passes.map(({ name, value, n }) => ({ name, value, queries: n }));
  const untrained = await untrainedRollouts(place.store, record).catch(() => undefined);
  return {
    json: {
      ...{
        event: 'ended',
        exitCode: code,
        ...result,
        ...(passAtK.length > 0 && { passAtK }),
        ...(untrained && { untrained }),
      },
      ...{ folder: place.store.folder, url },
    },
    ...(!json && { text: await endingText(io, ending, record, passes, untrained) }),
    notes: code === EXIT.ok ? [] : [`everturn: ${await causeOf(ending)}`],
    code,
  };
}

async function endingText(
  io: Io,
  ending: Ending,
  record: RunRecord | undefined,
  passes: readonly Estimate[],
  untrained: UntrainedRollouts | undefined,
): Promise<string> {
  const { place, result, url, local, viewer, tookMs = null } = ending;
  const paint = paintFor(io.out, io.env);
  const run = runArgument(io, place);
  const { folder } = place.store;
  const { tokens, failures } = result.counts;
  const failed = failures.find(({ outcome }) => outcome === 'failed');
  const speed = tokens === null || tookMs === null ? '' : `, ${count((tokens / tookMs) * 1000)} tokens/s`;
  const played = tookMs === null || tookMs < 1000 ? '' : ` Played in ${clock(tookMs)}${speed}.`;
  const shares = passes.flatMap(({ name, value }) => (value === null ? [] : `${name} ${percent(value, 1)}`));
  const fact = (name: string, text: string) => `${paint('dim', name.padEnd(11))}${text}`;
  const stays = `The local service${viewer ? ', and the viewer with it,' : ''} stays up until \`everturn down\`, or until it has been idle for a while.`;
  const [first] = await place.store.readQueries(0, 1).catch(() => []);
  const text = lines(
    '',
    summaryLines(result, run, paint, played, shares.length > 0 ? [`${shares.join(', ')}.`] : []),
    untrained && paint('yellow', untrainedLine(untrained)),
    '',
    fact('Folder', shortPath(io, folder)),
    url && fact('Temporal', url),
    // The viewer shows runs in folders.
    isOnDisk(folder) && fact('Viewer', viewer ?? commandLine(io, place, 'view')),
    fact('Next', commandLine(io, place, 'stats')),
    failed && fact('', commandLine(io, place, 'why', shellQuoted(oneLine(failed.query)))),
    fact('', commandLine(io, place, 'show', shellQuoted(first?.queryId ?? '<query>'))),
    // For a trainer: complete rollouts, of a model that gives ids.
    !noneComplete(result) &&
      (!record || givesIds(record.settings.model)) &&
      fact('', commandLine(io, place, 'export', `--format areal --to ${place.run}-areal.jsonl`)),
    fact('', commandLine(io, place, 'check')),
    local && ['', paint('dim', stays)],
    '',
  );
  return typable(io, text.join('\n'));
}

/** Reading the ends of more rollouts than this would keep the user waiting; `stats` shows them. */
const MOST_READ = 20_000;

/** pass@k as `stats` says it, for several turns or several samples of a query, from the ends of the rollouts. */
async function passAtKOf(
  place: RunPlace,
  record: RunRecord,
  { total }: CollectionResult,
): Promise<readonly Estimate[]> {
  if (total > MOST_READ || (samplesPerQuery(record) < 2 && record.settings.numTurns < 2)) return [];
  const read = await readRunSummaries(place, { detail: 'ends' }).catch(() => undefined);
  return read ? passesOf(runStatistics(read.rollouts, read.shape)) : [];
}

/** The cause of an exit code other than 0. */
export async function causeOf({ place, result, maxFailed, isPast = false }: Ending): Promise<string> {
  const { failed, cancelled } = result.counts.outcomes;
  if (result.cancelled) {
    const flight = cancelled > 0 ? `; that ended ${plural(cancelled, 'rollout')} in flight` : '';
    return `The run was cancelled${flight}. Finished turns stay stored.`;
  }
  const message = await firstFailure(place, result);
  const all = modelFailedAll(result)
    ? 'Every rollout failed because of the model'
    : failed > maxFailed
      ? `${plural(failed, 'rollout')} failed, more than --max-failed ${maxFailed}${reasonsText(result)}`
      : `No rollout is complete: ${Object.keys(result.counts.reasons).map(oneLine).join(', ')}`;
  const first = isPast ? 'The first failed then with the words:' : 'The first:';
  return `${all}.${message ? ` ${first} ${message}` : ''}`;
}

/** Several reasons, the most common first. */
function reasonsText({ counts }: CollectionResult): string {
  const reasons = Object.entries(counts.reasons).sort(([, a], [, b]) => b - a);
  const named = reasons.slice(0, 3).map(([reason, n]) => `${oneLine(reason)} ${count(n)}`);
  return named.length > 1 ? ` (${named.join(', ')}${reasons.length > 3 ? ', …' : ''})` : '';
}

/** The message in the record of a failed rollout. */
async function firstFailure({ run, store }: RunPlace, { counts }: CollectionResult): Promise<string | undefined> {
  const first = counts.failures.find((f) => f.outcome === 'failed');
  if (!first) return undefined;
  const end = await store
    .get('end', { run, query: first.query, sample: first.sample, attempt: 1 })
    .catch(() => undefined);
  return end?.record.failure ? oneLine(end.record.failure.message) : undefined;
}
