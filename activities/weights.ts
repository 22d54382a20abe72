// New weights of a run: each is accepted in the order in which they were declared, and noted while servers load them
// (weight-server.ts). A step that is done again changes nothing that was done: what became of one server is a result, never a
// failed workflow.

import { Context } from '@temporalio/activity';
import { UsageError } from '../domain/errors/errors.ts';
import { adapterName } from '../domain/weights/adapter.ts';
import {
  type DeclaredWeights,
  nextWeights,
  type WeightsInput,
  type WeightsProgress,
  weightsWorkflowId,
} from '../domain/weights/weights.ts';
import type { ActivityDeps } from './deps.ts';
import { withHeartbeats } from './heartbeat.ts';
import {
  findUpdate,
  mustBeServers,
  readUpdatedRun,
  weightServerActivities,
  type WeightsStep,
} from './weight-server.ts';

/** The update, as its workflow knows it. */
export interface WeightsPlan extends Pick<DeclaredWeights, 'number' | 'label'> {
  /** Null for an embedded model. */
  readonly servers: readonly string[] | null;
  /** It is in force once each server that can be reached has it, not with the first. */
  readonly adapter?: true;
}

type UpdateReference = Pick<WeightsStep, 'out' | 'run' | 'number'>;

export interface NoteInput extends UpdateReference {
  readonly progress: WeightsProgress;
  /** A server has loaded the weights: from now on they are those of the run. */
  readonly loaded: boolean;
}

/** So many updates before may still be open. */
const LATEST = 50;
const POLL_MS = 500;

export function weightsActivities(deps: ActivityDeps) {
  return {
    ...weightServerActivities(deps),
    declareWeights: (input: WeightsInput) => withHeartbeats(() => declare(deps, input)),
    awaitOtherUpdates: (update: UpdateReference) => withHeartbeats(() => awaitOthers(deps, update)),

    async noteWeights({ out, run, number, progress, loaded }: NoteInput): Promise<void> {
      const { ledger } = await readUpdatedRun(deps, { out, run });
      findUpdate((await ledger.read()).entries, run, number);
      if (loaded) await ledger.markLoaded(number);
      await ledger.note(number, progress);
    },
  };
}

/** Accepts the update, or refuses it before any server is asked. Weights of an embedded model are proved to be loadable. */
async function declare(deps: ActivityDeps, input: WeightsInput): Promise<WeightsPlan> {
  const { weights, now } = deps;
  const { run, version, weights: from, label, rewind, adapter: isAdapter = false } = input;
  const { settings, folder, ledger, base } = await readUpdatedRun(deps, input);
  const apiKeyEnv = input.apiKeyEnv === undefined ? settings.apiKeyEnv : input.apiKeyEnv;
  weights.permit({ settings, folder, weights: from, apiKeyEnv });
  const all = weights.servers(settings.model);
  const servers = input.servers ?? all;
  if (all !== null) mustBeServers(servers, all, run);
  else if (input.servers) throw noServers(run, settings.model);
  else if (isAdapter) throw noAdapters(settings.model);
  const wanted = { version, folder: from, ...(label === undefined ? {} : { label }), rewind: rewind ?? false };
  const hash = isAdapter ? await weights.adapterHash(from) : undefined;
  for (;;) {
    const next = nextWeights(await ledger.read(), { ...wanted, adapter: isAdapter });
    const declared = 'declaredAt' in next ? next : null;
    const contentHash = all === null ? await weights.prove(settings, folder, { ...next, folder: from }) : null;
    if (declared && (declared.contentHash !== contentHash || declared.adapter?.hash !== hash)) throw changed(declared);
    const adapter = hash === undefined ? undefined : { name: adapterName(hash, next.label), base, hash };
    const made = { ...next, contentHash, workflowId: weightsWorkflowId(input), declaredAt: now() };
    const entry = declared ?? { ...made, ...(adapter && { adapter }) };
    if (!declared && !(await ledger.declare(entry))) continue;
    // Each worker loads them before its next turn.
    if (all === null) await ledger.markLoaded(entry.number);
    const plan = { number: entry.number, label: entry.label, servers: all === null ? null : servers };
    return isAdapter ? { ...plan, adapter: true } : plan;
  }
}

/** One update of a run at a time: waits for those that were declared before. False if a later one has begun. */
async function awaitOthers(deps: ActivityDeps, { out, run, number }: UpdateReference): Promise<boolean> {
  const context = Context.current();
  const { ledger } = await readUpdatedRun(deps, { out, run });
  for (;;) {
    const { entries, current } = await ledger.read();
    if ((current?.number ?? 0) > number) return false;
    const { workflowId } = findUpdate(entries, run, number);
    const others = entries.filter((entry) => entry.workflowId !== workflowId).slice(-LATEST);
    const closed = await deps.closedRollouts(run, [...new Set(others.map((entry) => entry.workflowId))]);
    const open = others.filter((entry) => !closed.has(entry.workflowId));
    if (open.some((entry) => entry.number > number)) return false;
    if (open.length === 0) return true;
    await context.sleep(POLL_MS);
  }
}

function noServers(run: string, model: string): UsageError {
  return new UsageError(`Run "${run}" has no servers: ${model} runs in its workers.`, {
    reason: 'not-allowed',
    fix: 'Leave `servers` out.',
  });
}

export function noAdapters(model: string): UsageError {
  return new UsageError(`${model} runs in workers, and they load no adapter.`, {
    reason: 'no-weights-to-update',
    fix: 'Merge it into the model, and give the folder of that as weights.',
  });
}

function changed({ version, folder }: DeclaredWeights): UsageError {
  return new UsageError(`${folder} holds other weights than when version ${version} was declared.`, {
    reason: 'weights-changed',
    fix: 'Other weights need another version, in a folder of their own.',
  });
}
