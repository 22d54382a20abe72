// The summary of an ended run, as text or as JSON, and the exit code that follows from it.

import { isBucketPlace } from '../../domain/run/bucket-place.ts';
import { oneLine } from '../../domain/text/foreign-text.ts';
import { samplesPerQuery } from '../../domain/rollout/group.ts';
import type { Estimate } from '../../statistics/estimate.ts';
import { passesOf, runStatistics } from '../../statistics/run-statistics.ts';
import { readRunSummaries } from '../find/summaries.ts';
import { programName, shortPath, runArgument, shellQuoted, type RunPlace } from '../find/place.ts';
import { EXIT, type ExitCode, exitCodeOfResult, modelFailedAll, noneComplete } from '../exit.ts';
import { clock, count, percent, plural } from '../view/format.ts';
import { givesIds } from '../../inference/index.ts';
import { type Io, print, printJson, say } from '../io.ts';
import { paintFor } from '../view/paint.ts';
import { outcomeLine, reasonLines, steeredLines, turnTables, wrongReasonsLine } from '../view/summary.ts';
import type { CollectionResult } from '../../domain/run/messages.ts';

export interface Ending {
  readonly place: RunPlace;
  readonly result: CollectionResult;
  readonly maxFailed: number;
  /** The run's page in the web UI, and whether that service is the user's own. */
  readonly url: string | null;
  readonly local: boolean;
  /** The run's page in the viewer; without it the command that serves it is named. */
  readonly viewer?: string | null;
  /** How long the user followed it, from its start; null if not at all. */
  readonly tookMs: number | null;
}

export async function showEnding(io: Io, ending: Ending, json: boolean): Promise<ExitCode> {
  const { place, result, maxFailed } = ending;
  const code = exitCodeOfResult(result, maxFailed);
  if (json) {
    const found = (await passAtKOf(place, result)).map(({ name, value, n }) => ({ name, value, queries: n }));
    const passAtK = found.length > 0 ? { passAtK: found } : {};
    printJson(io, {
      event: 'ended',
      exitCode: code,
      ...result,
      ...passAtK,
      folder: place.store.folder,
      url: ending.url,
    });
  } else print(io, await endingText(io, ending));
  await sayWhy(io, ending, code);
  return code;
}

const speedText = (tokens: number | null, ms: number): string =>
  tokens === null ? '' : `, ${count((tokens / ms) * 1000)} tokens/s`;

async function endingText(io: Io, { place, result, url, local, viewer, tookMs }: Ending): Promise<string> {
  const paint = paintFor(io.out, io.env);
  const me = programName(io);
  const run = runArgument(io, place);
  const speed =
    tookMs === null || tookMs < 1000 ? '' : ` Played in ${clock(tookMs)}${speedText(result.counts.tokens, tookMs)}.`;
  const facts: [string, string][] = [
    ['Folder', shortPath(io, place.store.folder)],
    ...(url ? [['Temporal', url] as [string, string]] : []),
    // The viewer shows runs in folders.
    ...(isBucketPlace(place.store.folder) ? [] : [['Viewer', viewer ?? `${me} view ${run}`] as [string, string]]),
    ['Next', `${me} stats ${run}`],
    ['', `${me} show ${run} ${shellQuoted(await firstQuery(place))}`],
    ...((await hasSamples(place, result))
      ? [['', `${me} export ${run} --format areal --out ${place.run}.jsonl`] as [string, string]]
      : []),
    ['', `${me} check ${run}`],
  ];
  return [
    '',
    ...turnTables(result, paint),
    outcomeLine(result) + speed,
    ...passLines(await passAtKOf(place, result)),
    ...steeredLines(result, `${me} stats ${run}`),
    ...reasonLines(result, paint),
    ...wrongReasonsLine(result, `${me} judge --run ${run}`),
    '',
    ...facts.map(([name, text]) => `${paint('dim', name.padEnd(11))}${text}`),
    ...(local
      ? [
          '',
          paint(
            'dim',
            `The local service${viewer ? ', and the viewer with it,' : ''} stays up until \`${me} down\`, or until it has been idle for a while.`,
          ),
        ]
      : []),
    '',
  ].join('\n');
}

/** For a trainer: complete rollouts, of a model that gives ids. */
async function hasSamples({ store }: RunPlace, result: CollectionResult): Promise<boolean> {
  if (noneComplete(result)) return false;
  const model = (await store.getRun().catch(() => undefined))?.record.settings.model;
  return model === undefined || givesIds(model);
}

/** Reading the ends of more rollouts than this would keep the user waiting; `stats` shows them. */
const MOST_READ = 20_000;

/** Of a run with several samples of a query, from the ends of its rollouts. */
async function passAtKOf(place: RunPlace, { total }: CollectionResult): Promise<readonly Estimate[]> {
  const record = (await place.store.getRun().catch(() => undefined))?.record;
  if (!record || samplesPerQuery(record) < 2 || total > MOST_READ) return [];
  // A damaged folder must not change how the run ended: `check` names the damage.
  const read = await readRunSummaries(place, { detail: 'ends' }).catch(() => undefined);
  return read ? passesOf(runStatistics(read.rollouts, read.shape)) : [];
}

function passLines(estimates: readonly Estimate[]): string[] {
  const said = estimates.flatMap(({ name, value }) => (value === null ? [] : `${name} ${percent(value, 1)}`));
  return said.length === 0 ? [] : [`${said.join(', ')}.`];
}

async function firstQuery({ store }: RunPlace): Promise<string> {
  const [query] = await store.readQueries(0, 1).catch(() => []);
  return query?.queryId ?? '<query>';
}

/** One sentence for stderr: the cause of an exit code other than 0. */
async function sayWhy(io: Io, { place, result, maxFailed }: Ending, code: ExitCode): Promise<void> {
  if (code === EXIT.ok) return;
  if (result.cancelled) {
    const n = result.counts.outcomes.cancelled;
    say(
      io,
      `The run was cancelled${n > 0 ? `; that ended ${plural(n, 'rollout')} in flight` : ''}. Finished turns stay stored.`,
    );
    return;
  }
  const { failed } = result.counts.outcomes;
  const message = await firstFailure(place, result);
  const all = modelFailedAll(result)
    ? 'Every rollout failed because of the model'
    : failed > maxFailed
      ? `${plural(failed, 'rollout')} failed, more than --max-failed ${maxFailed}`
      : `No rollout is complete: ${Object.keys(result.counts.reasons).map(oneLine).join(', ')}`;
  say(io, `everturn: ${all}.${message ? ` The first: ${message}` : ''}`);
}

/** The message in the record of a failed rollout. */
async function firstFailure({ run, store }: RunPlace, { counts }: CollectionResult): Promise<string | undefined> {
  const first = counts.failures.find((f) => f.outcome === 'failed');
  if (!first) return undefined;
  const end = await store.getEnd({ run, query: first.query, sample: first.sample, attempt: 1 }).catch(() => undefined);
  return end?.record.failure ? oneLine(end.record.failure.message) : undefined;
}
