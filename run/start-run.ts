// Starts a run that is known to be playable: its workers are there, its folder is made, its collection begins. One that is
// running is attached to.

import { startFeed } from '../client/temporal/feed.ts';
import { describeWorkflow, runElsewhere, startCollection } from '../client/temporal/runs.ts';
import { ensureSearchAttributes } from '../client/temporal/search-attributes.ts';
import { CODE_QUEUE, ENVIRONMENT_QUEUE } from '../domain/names/queues.ts';
import { registerRun } from '../local/permissions/registered.ts';
import { homeOf } from '../local/service/home.ts';
import { type Link, openLink } from '../local/service/link.ts';
import { recordCommand } from '../local/service/worker-process.ts';
import { type Caller, linkOptionsOf } from './caller.ts';
import { type Begun, knownResult } from './place.ts';
import { completeRunRecord, type PlannedRun } from './prepare-run.ts';
import { mustHaveSandbox, mustNeedNoProgram, requireWorker } from './require-worker.ts';
import { mustHoldKeys } from './service-keys.ts';

export interface StartedRun {
  /** It was running already. */
  readonly attached: boolean;
  /** The caller closes it; the run goes on. */
  readonly link: Link;
}

export async function startRun(run: PlannedRun, caller: Caller): Promise<StartedRun> {
  const { programs } = needsOf(run);
  if (programs) await mustHaveSandbox(caller.env);
  const link = await openLink(linkOptionsOf(caller));
  try {
    return { link, attached: await begin(run, link, caller) };
  } catch (error) {
    await link.close();
    throw error;
  }
}

/** Starts a run that is planned, and leaves it: it goes on by itself. */
export async function beginRun(planned: PlannedRun, caller: Caller): Promise<Begun> {
  const { place, isThere } = planned;
  if (isThere && (await knownResult(place))) return { place, found: 'ended' };
  caller.signal?.throwIfAborted();
  return leaveRun(await completeRunRecord(planned, caller), caller);
}

/** The same of a run whose model has answered. */
export async function leaveRun(proved: PlannedRun, caller: Caller): Promise<Begun> {
  const { place, isThere } = proved;
  if (isThere && (await knownResult(place))) return { place, found: 'ended' };
  caller.signal?.throwIfAborted();
  const { link, attached } = await startRun(proved, caller);
  const { address, namespace } = link.session;
  await link.close();
  return { place, found: attached ? 'attached' : 'new', ...(link.local && { at: { address, namespace } }) };
}

async function begin(planned: PlannedRun, link: Link, { env, onEvent, functions, signal }: Caller): Promise<boolean> {
  const { place, record, title, maxConcurrent } = planned;
  const { run, out, store } = place;
  const { session, local } = link;
  const { settings } = record;
  const needs = needsOf(planned);
  const { state, out: there } = await describeWorkflow(session, run);
  const attached = state === 'running';
  if (attached && there !== null && there !== out) throw runElsewhere(run, there);
  if (!functions) mustNeedNoProgram(settings, `Run "${run}"`);
  if (!attached) {
    mustHoldKeys(env, link, needs.keys);
    if (needs.programs) await requireWorker(env, link, CODE_QUEUE);
    if (needs.ownCode) await requireWorker(env, link, ENVIRONMENT_QUEUE);
  }
  if (!local) await ensureSearchAttributes(session.client.connection, session.namespace);
  signal?.throwIfAborted();
  await planned.make(record, attached);
  const { environments, tools, program } = settings;
  const code = {
    ...(environments && { environments }),
    ...(tools && { tools: tools.list }),
    ...(program && { program }),
  };
  registerRun(homeOf(env), { folder: store.folder, ...settings }, code);
  onEvent({ type: 'made', run, folder: store.folder });
  const isNew = await startCollection(
    session,
    { run, out, ...(maxConcurrent !== undefined && { maxConcurrent }) },
    title,
  );
  recordCommand(homeOf(env));
  if (record.train) await startFeed(session, { run, out, since: (await store.get('run'))?.record.createdAt });
  return !isNew;
}

/** What the workers of a run must have. */
function needsOf({ record: { settings }, hasCodeRows }: PlannedRun) {
  const { environments = [], tools, program, apiKeyEnv } = settings;
  const doors = [...environments, ...(tools?.list ?? [])].map(({ door }) => door);
  return {
    programs: hasCodeRows || doors.includes('python'),
    ownCode: doors.some((door) => door !== 'python' && door !== 'function') || program !== undefined,
    keys: [
      apiKeyEnv,
      ...[...environments.map(({ judge }) => judge), ...(program?.sideModels ?? [])].map((one) => one?.apiKeyEnv),
    ],
  };
}
