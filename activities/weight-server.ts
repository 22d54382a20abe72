// The steps of an update of weights at one server. A step that is done again finds what was done, and a server that is away
// is tried again by Temporal for a while: then the failure is the step's result. An attempt that lost its step to another
// worker does it no more.

import { Context } from '@temporalio/activity';
import { EverturnError, explain, ModelError, UsageError } from '../domain/errors/errors.ts';
import { adapterToLoad } from '../domain/weights/adapter.ts';
import type { DeclaredWeights, WeightServer, WeightsLedger } from '../domain/weights/weights.ts';
import type { StepResult } from '../domain/weights/weights-saga.ts';
import type { ActivityDeps } from './deps.ts';
import { beat, withHeartbeats } from './heartbeat.ts';
import type { RolloutSettings } from '../domain/rollout/settings.ts';

export interface WeightsStep {
  readonly out: string;
  readonly run: string;
  /** The number of the update in the run's folder. */
  readonly number: number;
  readonly server: string;
  readonly apiKeyEnv?: string | null;
}

export interface ResumeStep extends WeightsStep {
  /** The label that the server gets before the load; null: none. */
  readonly label: string | null;
}

/** Nobody listens: the process is gone, and what was paused with it. */
const GONE = new Set(['server-unreachable']);
/** After so long without a look, a step may be another worker's by now. */
const LOOK_AGAIN_MS = 3000;

/** Heartbeat details: when the server first failed this step, over all attempts. */
interface StepBeat {
  readonly failedAt: number | null;
}

/** When a step that fails is given up. */
interface Patience {
  readonly ms: number;
  /** The reason after which another try would fail alike. */
  readonly finalReason?: string;
}
const PATIENCE: Patience = { ms: 10_000 };
/** A server that answers a load with an error of its own will not load the weights at the next try. */
const LOAD_PATIENCE: Patience = { ms: PATIENCE.ms, finalReason: 'server-error' };
/** A server that is there and was paused by us must not stay so. */
const RESUME_PATIENCE: Patience = { ms: 3_600_000 };

/** One attempt at a step, while it is this worker's. */
interface Attempt {
  readonly server: WeightServer;
  readonly ledger: UpdatedRun['ledger'];
  /** The update to which the step belongs. */
  readonly entry: DeclaredWeights;
  /** Throws if another worker has taken the step over. */
  mustOwn(): Promise<void>;
}

export function weightServerActivities(deps: ActivityDeps) {
  return {
    pauseServer: (step: WeightsStep) =>
      attemptStep(deps, step, PATIENCE, async ({ server, ledger, entry, mustOwn }) => {
        const current = await ledger.current();
        if ((current?.number ?? 0) > entry.number) return { before: null, superseded: true };
        const before = await server.version();
        if (before === entry.label) return { before };
        await pauseAsOwner(server, mustOwn);
        return { before };
      }),

    loadWeights: (step: WeightsStep) =>
      attemptStep(deps, step, LOAD_PATIENCE, async ({ server, entry: { folder, label }, mustOwn }) => {
        // The label changes last: a server that has it has all the rest.
        if ((await server.version()) === label) return { now: label };
        // Another process may be there by now, which nobody paused.
        await pauseAsOwner(server, mustOwn);
        await server.load(folder, label);
        const labelNow = await server.version();
        if (labelNow === label) return { now: labelNow };
        throw new ModelError(
          `${server.url} loaded the weights, and says that they are ${labelNow ?? 'without a label'}`,
          { reason: 'version-not-taken', fix: `It should say ${label}.` },
        );
      }),

    resumeServer: (step: ResumeStep) =>
      attemptStep(deps, step, RESUME_PATIENCE, async ({ server, mustOwn }) => {
        await mustOwn();
        if (step.label !== null) await server.name(step.label);
        await server.resume();
        // Another process may be there by now, with the weights that it is started with.
        return { now: await server.version() };
      }),
  };
}

/** Does one thing to one server, as long as this attempt is the one that counts. */
function attemptStep<T extends object>(
  deps: ActivityDeps,
  step: WeightsStep,
  patience: Patience,
  work: (attempt: Attempt) => Promise<T>,
): Promise<StepResult<T>> {
  return withHeartbeats(async (_signal, progress: (beat: StepBeat) => void) => {
    const { info } = Context.current();
    const failedAt = (info.heartbeatDetails as StepBeat | undefined)?.failedAt ?? null;
    progress({ failedAt });
    const { ledger, entry, entries, server } = await permittedServer(deps, step);
    // An attempt before may have paused it, and died.
    let mayBePaused = info.attempt > 1;
    const pause = () => {
      mayBePaused = true;
      return server.pause();
    };
    try {
      const attempt = { server: { ...server, pause }, ledger, entry, mustOwn: ownership(deps) };
      return { ok: true as const, ...(await work(attempt)) };
    } catch (error) {
      if (!(error instanceof EverturnError) || error.reason === 'lost-step') throw error;
      const firstFailedAt = failedAt ?? deps.now();
      const gone = GONE.has(error.reason);
      // A later update will find it, and must not wait for this one.
      const hurries = gone || entries.some(({ number }) => number > step.number);
      const mostMs = hurries ? Math.min(patience.ms, PATIENCE.ms) : patience.ms;
      const isOver = deps.now() - firstFailedAt >= mostMs || error.reason === patience.finalReason;
      if (!error.retryable || isOver) return failedStep(error, gone, !mayBePaused || server.keptItsWeights(error));
      beat({ failedAt: firstFailedAt } satisfies StepBeat);
      throw error;
    } finally {
      await server.close();
    }
  });
}

const failedStep = (error: EverturnError, gone: boolean, unchanged: boolean) =>
  ({ ok: false, reason: error.reason, error: explain(error).slice(0, 1000), gone, unchanged }) as const;

/** The server of a step, if the operator lets workflows use it with the update's weights. */
async function permittedServer(deps: ActivityDeps, step: WeightsStep) {
  const { weights } = deps;
  const { settings, folder, ledger } = await readUpdatedRun(deps, step);
  const known = await ledger.read();
  const { entries } = known;
  const entry = findUpdate(entries, step.run, step.number);
  const apiKeyEnv = step.apiKeyEnv === undefined ? settings.apiKeyEnv : step.apiKeyEnv;
  weights.permit({ settings, folder, weights: entry.folder, apiKeyEnv });
  mustBeServers([step.server], weights.servers(settings.model) ?? [], step.run);
  const adapter = adapterToLoad(entry, known);
  return { ledger, entries, entry, server: weights.server(settings.model, step.server, apiKeyEnv, adapter) };
}

/** Asks Temporal from time to time whether this attempt still owns its step, and throws if it does not. */
function ownership({ weights }: ActivityDeps): () => Promise<void> {
  const { workflowExecution, activityId, attempt } = Context.current().info;
  let lookedAt = performance.now();
  return async () => {
    if (performance.now() - lookedAt < LOOK_AGAIN_MS) return;
    if (!(await weights.holdsStep(workflowExecution!, activityId, attempt)))
      throw new ModelError('Another worker has taken this step over.', { reason: 'lost-step', retryable: true });
    lookedAt = performance.now();
  };
}

/** A pause that came late is taken back: the attempt that owns the step now pauses again. */
async function pauseAsOwner(server: WeightServer, mustOwn: Attempt['mustOwn']): Promise<void> {
  await mustOwn();
  await server.pause();
  try {
    await mustOwn();
  } catch (error) {
    if (error instanceof EverturnError && error.reason === 'lost-step') await server.resume().catch(() => undefined);
    throw error;
  }
}

interface UpdatedRun {
  readonly settings: RolloutSettings;
  readonly folder: string;
  readonly ledger: WeightsLedger;
  /** The servers' label of the model when the run began; null: they said none. */
  readonly base: string | null;
}

export async function readUpdatedRun(
  { openStore, weights }: Pick<ActivityDeps, 'openStore' | 'weights'>,
  { out, run }: { readonly out: string; readonly run: string },
): Promise<UpdatedRun> {
  const store = openStore(out, run);
  const record = (await store.get('run'))?.record;
  const base = record?.model?.canary?.version ?? null;
  if (record) return { settings: record.settings, folder: store.folder, ledger: weights.ledger(store.folder), base };
  throw new UsageError(`There is no run "${run}" in ${out}.`, {
    reason: 'no-such-run',
    fix: 'New weights are for a run that has begun.',
  });
}

export function mustBeServers(
  named: unknown,
  known: readonly string[],
  run: string,
): asserts named is readonly string[] {
  const urls = Array.isArray(named) ? (named as readonly unknown[]) : [named];
  const foreign = urls.find((url) => typeof url !== 'string' || !known.includes(url));
  if (foreign === undefined && urls.length > 0) return;
  throw new UsageError(
    `\`servers\` names ${(JSON.stringify(foreign) ?? 'none').slice(0, 200)}, no server of run "${run}".`,
    {
      reason: 'not-allowed',
      fix: `There are ${known.join(', ')}.`,
    },
  );
}

/** A number that comes from elsewhere names no file. */
export function findUpdate(entries: readonly DeclaredWeights[], run: string, number: number): DeclaredWeights {
  const entry = entries.find((each) => each.number === number);
  if (entry) return entry;
  throw new UsageError(`Run "${run}" has no update ${String(number).slice(0, 20)}.`, {
    reason: 'not-allowed',
    fix: 'A step belongs to an update that was declared.',
  });
}
