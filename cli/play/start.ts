// From a run that is known to be playable to one that plays: its workers are there, its folder is made, its collection
// started, and followed unless it shall go on by itself. One that is running is attached to.

import { namesCluster } from '../../client/temporal/cluster-settings.ts';
import { describeWorkflow, runElsewhere, startCollection } from '../../client/temporal/runs.ts';
import { ensureSearchAttributes } from '../../client/temporal/search-attributes.ts';
import { SandboxError } from '../../domain/errors/errors.ts';
import type { CollectionResult } from '../../domain/run/messages.ts';
import { CODE_QUEUE, ENVIRONMENT_QUEUE } from '../../domain/names/queues.ts';
import { proveSandbox } from '../../environments/code/canary.ts';
import { UNSAFE_VARIABLE, unsafeCodeAllowed } from '../../environments/code/consent.ts';
import type { Answer } from '../command.ts';
import { type ExitCode, noneComplete } from '../exit.ts';
import { withLink } from '../find/link.ts';
import { type Link, workflowUrl } from '../../local/service/link.ts';
import { type RunPlace, shortPath, commandLine } from '../find/place.ts';
import { mustHoldKeys } from '../../run/service-keys.ts';
import { requireWorker } from '../../run/require-worker.ts';
import { type Io, printJson, say } from '../io.ts';
import { showEnding } from './ending.ts';
import { followToEnd, type FollowOptions } from './follow.ts';

export interface Start extends FollowOptions {
  readonly place: RunPlace;
  /** In Temporal's UI. */
  readonly title: string;
  readonly maxConcurrent?: number;
  /** Variables with the keys that its workers need. */
  readonly keys: readonly (string | null | undefined)[];
  /** It runs programs that a model wrote. */
  readonly programs: boolean;
  /** It calls environments, tools or an agent of the user's own. */
  readonly own: boolean;
  readonly detach: boolean;
  /** One of several runs of a command, which follows them together. */
  readonly beside?: boolean | undefined;
  /** Makes the run's folder, if it is not there, and registers it. */
  make(attached: boolean): Promise<void>;
  /** Its collection has started: the lines that are said of it, and what --json's event has beside. */
  begun(link: Link): Promise<{ readonly lines: readonly string[]; readonly facts?: object }>;
}

export async function startRun(io: Io, start: Start): Promise<Answer | ExitCode | void> {
  const { place, title, maxConcurrent, programs, own, detach, beside, json } = start;
  const { run, out, store } = place;
  if (programs) await mustHaveSandbox(io);
  return withLink(io, async (link) => {
    const { session } = link;
    const { state, out: there } = await describeWorkflow(session, run);
    const attached = state === 'running';
    if (attached && there !== null && there !== out) throw runElsewhere(run, there);
    if (!attached) mustHoldKeys(io.env, link, start.keys);
    if (programs && !attached) await requireWorker(io.env, link, CODE_QUEUE);
    if (own && !attached) await requireWorker(io.env, link, ENVIRONMENT_QUEUE);
    if (!link.local) await ensureSearchAttributes(session.client.connection, session.namespace);
    await start.make(attached);
    // From here on Ctrl-C detaches, with a message; the run continues.
    if (!detach) io.interrupted();
    await startCollection(session, { run, out, ...(maxConcurrent !== undefined && { maxConcurrent }) }, title);
    const { lines, facts } = await start.begun(link);
    say(io, `Run        ${run} in ${shortPath(io, store.folder)}${attached ? ' (attached: it is running)' : ''}`);
    for (const line of lines) say(io, line);
    const url = workflowUrl(link, run);
    if (url) say(io, `Temporal   ${url}`);
    const { address, namespace } = session;
    if (json)
      printJson(io, { event: 'started', run, folder: store.folder, attached, address, namespace, url, ...facts });
    if (beside) return;
    say(
      io,
      detach ? `It runs in the background: \`${commandLine(io, place, 'status', '--follow')}\` follows it.` : STAYS,
    );
    if (!detach) return followToEnd(io, link, place, start);
  });
}

export const STAYS = 'Ctrl-C detaches; the run continues.';

/** Shows the end of a run that is not played again. */
export async function showEnded(
  io: Io,
  place: RunPlace,
  result: CollectionResult,
  { maxFailed, json }: FollowOptions,
): Promise<Answer> {
  await sayEnded(io, place, result);
  return showEnding(io, { place, result, maxFailed, isPast: true }, json);
}

export async function sayEnded(io: Io, place: RunPlace, result: CollectionResult): Promise<void> {
  const { run, store } = place;
  const record = (await store.getRun())?.record;
  const mayTry =
    record && !record.train && !record.forkedFrom && !result.cancelled && result.counts.outcomes.failed > 0;
  const next = mayTry
    ? ` \`${commandLine(io, place, 'retry', '--failed')}\` plays what failed again.`
    : noneComplete(result)
      ? ' With another --name the same command begins a new one.'
      : '';
  say(io, `Run "${run}" ${result.cancelled ? 'was cancelled' : 'has ended'}; it is not played again.${next}`);
}

/** A run whose programs no worker takes would wait without an error. Workers of a cluster are elsewhere. */
export async function mustHaveSandbox(io: Io): Promise<void> {
  if (namesCluster() || unsafeCodeAllowed(io.env)) return;
  const proof = await proveSandbox({ env: io.env });
  if (proof.ok) return;
  throw new SandboxError(`No sandbox is available, and the run has programs to run: ${proof.why}.`, {
    reason: 'no-sandbox',
    fix: `${proof.fix} On a throw-away machine: ${UNSAFE_VARIABLE}=1.`,
  });
}
