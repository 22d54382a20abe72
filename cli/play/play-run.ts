// `everturn run`: a wish becomes a run that is prepared, started and followed. Idempotent: a second call attaches, and no finished
// turn is generated again.

import { isSession, programTitle } from '../../domain/agent/index.ts';
import { isBiased } from '../../domain/rollout/kept-sets.ts';
import { environmentTitle } from '../../domain/rollout/environment.ts';
import { evaluationsFolder } from '../../domain/run/evaluation.ts';
import type { CollectionResult } from '../../domain/run/messages.ts';
import { oneLine } from '../../domain/text/foreign-text.ts';
import { toolTitle } from '../../domain/tools/tool.ts';
import { readPrivate } from '../../local/machine/private-file.ts';
import { homeOf } from '../../local/service/home.ts';
import { type Link, workflowUrl } from '../../local/service/link.ts';
import {
  type PlannedRun,
  type PreparedRun,
  prepareRun,
  completeRunRecord,
  type RunWish,
} from '../../run/prepare-run.ts';
import { startRun } from '../../run/start-run.ts';
import type { Answer } from '../command.ts';
import { type ExitCode, noneComplete } from '../exit.ts';
import { commandLine, shortPath } from '../../library/command-line.ts';
import { knownResult, type RunPlace } from '../../run/place.ts';
import { lines, plural } from '../format.ts';
import { type Io, printJson, say } from '../io.ts';
import { workersText } from '../view/servers.ts';
import { dryRun } from './dry-run.ts';
import { showEnding } from './ending.ts';
import { followLine, followToEnd, type FollowOptions } from './follow.ts';
import { callerOf } from './say-event.ts';

export interface PlayOptions extends RunWish {
  readonly detach: boolean;
  /** Says what would be played, and ends. */
  readonly dryRun?: boolean;
  /** Starts the viewer beside the local service, on a terminal. */
  readonly viewer?: boolean;
  readonly json: boolean;
}

export async function playRun(io: Io, given: PlayOptions): Promise<Answer | ExitCode | void> {
  const prepared = await prepare(io, given);
  return given.dryRun ? dryRun(io, prepared) : playPrepared(io, prepared, given);
}

/** Refuses what cannot be played. */
export async function prepare(io: Io, given: PlayOptions): Promise<PreparedRun> {
  const caller = callerOf(io, given);
  const prepared = await prepareRun(given, caller);
  return given.dryRun ? prepared : completeRunRecord(prepared, caller);
}

export function playPrepared(
  io: Io,
  prepared: PreparedRun,
  given: Pick<PlayOptions, 'detach' | 'json' | 'viewer'>,
): Promise<Answer | ExitCode | void> {
  const options = { ...given, maxFailed: prepared.parts.options.maxFailed };
  return playPlanned(io, prepared, options, (link) => playedLines(io, link, prepared));
}

/** `about`: lines about what is played. `facts`: what --json's event has beside. */
export async function playPlanned(
  io: Io,
  planned: PlannedRun,
  options: FollowOptions & Pick<PlayOptions, 'detach'>,
  about: (link: Link) => Promise<readonly string[]>,
  facts: object = {},
): Promise<Answer | ExitCode | void> {
  const { place, isThere } = planned;
  const { run, store } = place;
  const { detach, json } = options;
  const known = isThere && (await knownResult(place));
  if (known) return showEnded(io, place, known, options);
  const { link, attached } = await startRun(planned, callerOf(io, { json, isLeft: detach }));
  try {
    say(io, `Run        ${run} in ${shortPath(io, store.folder)}${attached ? ' (attached: it is running)' : ''}`);
    for (const line of await about(link)) say(io, line);
    const url = workflowUrl(link, run);
    if (url) say(io, `Temporal   ${url}`);
    const { address, namespace } = link.session;
    const started = { event: 'started', run, folder: store.folder, attached, address, namespace, url, ...facts };
    if (json) printJson(io, started);
    const follows = `It runs in the background: \`${followLine(io, place, options)}\` follows it.`;
    say(io, detach ? follows : STAYS);
    return detach ? undefined : await followToEnd(io, link, place, options);
  } finally {
    await link.close();
  }
}

export const BIASED =
  'Biased     tokens are left out when drawing, and the servers do not say which: recomputed logprobs are not the sampler’s';

export const EXPERTS_MISSING =
  'Experts    a mixture of experts, whose routing is not recorded: a trainer that routes the tokens anew may diverge';

export const STAYS = 'Ctrl-C detaches; the run continues.';

/** Shows the end of a run that is not played again. */
export async function showEnded(
  io: Io,
  place: RunPlace,
  result: CollectionResult,
  { maxFailed, json }: FollowOptions,
): Promise<Answer> {
  const { run, store } = place;
  const record = (await store.get('run'))?.record;
  const mayTry =
    record && !record.train && !record.forkedFrom && !result.cancelled && result.counts.outcomes.failed > 0;
  const next = mayTry
    ? ` \`${commandLine(io, place, 'retry', '--failed')}\` plays what failed again.`
    : noneComplete(result)
      ? ' With another --name the same command begins a new one.'
      : '';
  say(io, `Run "${run}" ${result.cancelled ? 'was cancelled' : 'has ended'}; it is not played again.${next}`);
  return showEnding(io, { place, result, maxFailed, isPast: true }, json);
}

async function playedLines(io: Io, link: Link, { place, record, rows, parts }: PreparedRun): Promise<string[]> {
  const { options } = parts;
  const { numTurns, samples, epochs, maxConcurrent, batchGroups, maxStaleness, evalEvery: every, agent } = options;
  const { program, tools, environments = [] } = parts.settings;
  const queries = plural(rows.dataset.accepted, 'query', 'queries');
  const rounds = epochs > 1 ? ` × ${epochs} epochs` : '';
  const turns = program ? '' : ` × ${plural(numTurns, 'turn')}`;
  const by = `${link.local ? 'the local service, and by ' : ''}\`${commandLine(io, place, 'feed')}\``;
  return lines(
    `Playing    ${queries} × ${plural(samples, 'sample')}${rounds}${turns} with ${oneLine(options.model)}, ${maxConcurrent} at once`,
    options.train &&
      `Training   ${batchGroups} groups a step, at most ${plural(maxStaleness, 'version')} old, handed out by ${by}`,
    options.train && isBiased(record.settings) && BIASED,
    options.train && record.model?.hasExperts && !record.model.givesExperts && EXPERTS_MISSING,
    options.eval !== null &&
      `Evaluated  versions 0, ${every}, ${2 * every}, … of the weights, as runs in ${shortPath(io, evaluationsFolder(place.store.folder))}`,
    program
      ? isSession(program)
        ? `Sessions   ${sessionsText(io, link)}`
        : `Agent      ${oneLine(programTitle(program))}, at most ${plural(program.maxCalls, 'call')} a rollout`
      : agent !== null && `Agent      ${oneLine(agent)}`,
    (tools?.list ?? []).map((tool) => `Tool       ${oneLine(toolTitle(tool))}`),
    environments.map((one) => `Answered   by ${oneLine(environmentTitle(one))}`),
    await workersText(link, Math.min(maxConcurrent, rows.dataset.accepted * samples * epochs)),
  );
}

/** The address where the agents come for their sessions. */
function sessionsText(io: Io, { local }: Link): string {
  if (!local) return 'handed out by `everturn worker --sessions <address>`';
  const { sessionsFile } = homeOf(io.env);
  const { url = '' } = JSON.parse(readPrivate(sessionsFile) ?? '{}') as { readonly url?: string };
  return `${url}, with the key in ${sessionsFile}`;
}
