// Starts a run that is known to be playable: its workers are there, its folder is made, its collection begins. One that is
// running is attached to.

import { startFeed } from '../client/temporal/feed.ts';
import { describeWorkflow, runElsewhere, startCollection } from '../client/temporal/runs.ts';
import { ensureSearchAttributes } from '../client/temporal/search-attributes.ts';
import { unusable } from '../domain/errors/unusable.ts';
import { CODE_QUEUE, ENVIRONMENT_QUEUE } from '../domain/names/queues.ts';
import { plural } from '../domain/text/plural.ts';
import { registerRun } from '../local/permissions/registered.ts';
import { homeOf } from '../local/service/home.ts';
import { type Link, openLink } from '../local/service/link.ts';
import { recordCommand } from '../local/service/worker-process.ts';
import type { RunRecord } from '../records/format/run-record.ts';
import { type Caller, linkOptionsOf } from './caller.ts';
import { createRun } from './create-run.ts';
import { evaluationPlace, planFirstEvaluation } from './evaluations.ts';
import { type RunPlace, runPlace } from './place.ts';
import type { PreparedRun } from './prepare-run.ts';
import { mustHaveSandbox, mustNeedNoProgram, requireWorker } from './require-worker.ts';
import { mustHoldKeys } from './service-keys.ts';

export interface NewRun {
  readonly place: RunPlace;
  /** As it is planned, with its code as the caller named it: workers of this user trust that, and no claim of a folder. */
  readonly record: RunRecord;
  /** In Temporal's UI. */
  readonly title: string;
  readonly maxConcurrent?: number;
  /** It has rows that ask for programs, which a model then writes. */
  readonly hasCodeRows: boolean;
  /** Makes the run's folder, unless it is there. `attached`: its workflow is open. */
  make(attached: boolean): Promise<unknown>;
}

export interface StartedRun {
  /** It was running already. */
  readonly attached: boolean;
  /** The caller closes it; the run goes on. */
  readonly link: Link;
}

export async function startRun(run: NewRun, caller: Caller): Promise<StartedRun> {
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

async function begin(start: NewRun, link: Link, { env, onEvent, functions }: Caller): Promise<boolean> {
  const { place, record, title, maxConcurrent } = start;
  const { run, out, store } = place;
  const { session, local } = link;
  const { settings } = record;
  const needs = needsOf(start);
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
  await start.make(attached);
  const { environments, tools, program } = settings;
  const code = {
    ...(environments && { environments }),
    ...(tools && { tools: tools.list }),
    ...(program && { program }),
  };
  registerRun(homeOf(env), { folder: store.folder, ...settings }, code);
  onEvent({ type: 'made', run, folder: store.folder });
  await startCollection(session, { run, out, ...(maxConcurrent !== undefined && { maxConcurrent }) }, title);
  if (record.train) {
    await startFeed(session, { run, out, since: (await store.getRun())?.record.createdAt });
    recordCommand(homeOf(env));
  }
  return attached;
}

/** What the workers of a run must have. */
function needsOf({ record: { settings }, hasCodeRows }: NewRun) {
  const { environments = [], tools, program, apiKeyEnv } = settings;
  const doors = [...environments, ...(tools?.list ?? [])].map(({ door }) => door);
  return {
    programs: hasCodeRows || doors.includes('python'),
    ownCode: doors.some((door) => door !== 'python' && door !== 'function') || program !== undefined,
    keys: [apiKeyEnv, ...environments.map(({ judge }) => judge?.apiKeyEnv)],
  };
}

/** `dataset`: as the caller named it. */
export function newRunOf(prepared: PreparedRun, dataset: string): NewRun {
  const { place, record, rows, heldOut, parts, isThere, again } = prepared;
  const { settings } = record;
  const queries = plural(rows.dataset.accepted, 'query', 'queries');
  return {
    ...{ place, record, maxConcurrent: parts.options.maxConcurrent },
    title: `${dataset}: ${queries}, ${settings.numTurns} turns, ${settings.model}`,
    hasCodeRows: [rows, heldOut].some((some) => (some?.byTask.code ?? 0) > 0),
    async make(attached) {
      // Another command may have made it since.
      if (attached && !isThere && !(await place.store.getRun())) throw withoutFolder(place);
      if (!attached) await again?.begin();
      if (heldOut && !isThere) {
        const evaluation = planFirstEvaluation(record, heldOut);
        const { out, run } = evaluationPlace({ ...evaluation.evaluates!, out: place.out });
        await createRun(runPlace(out, run).store, evaluation, heldOut.queries(), parts.codes);
      }
      await createRun(place.store, record, rows.queries(), parts.codes);
      for (const some of [rows, heldOut]) some?.close();
    },
  };
}

/** Another run under its name would be played by a workflow that counts the first one's rollouts. */
const withoutFolder = ({ run, store }: RunPlace): Error =>
  unusable(
    `A run named "${run}" is running, and its folder ${store.folder} is gone.`,
    `Move the folder back; or end that run with \`everturn cancel ${run}\`, and repeat the command.`,
    'run-elsewhere',
  );
