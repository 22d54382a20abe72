// The steps of the saga of new weights. Each may be done again by another worker after this one died, and changes nothing
// then that was done. A server that is away is tried again by Temporal for a while, then the step says so: what became
// of one server is a result, never a failed workflow. A worker that was frozen and lost its step does it no more.

import { Context } from '@temporalio/activity';
import { EverturnError, explain, ModelError, UsageError } from '../domain/errors/errors.ts';
import {
  type DeclaredWeights,
  nextWeights,
  type WeightsInput,
  type WeightsProgress,
  weightsWorkflowId,
} from '../domain/weights/weights.ts';
import type { StepResult } from '../domain/weights/weights-saga.ts';
import type { WeightServer } from '../domain/weights/weight-parts.ts';
import type { ActivityDeps } from './deps.ts';
import { beat, heartbeating } from './heartbeat.ts';

/** The update, as its workflow knows it. */
export interface WeightsPlan extends Pick<DeclaredWeights, 'number' | 'label'> {
  /** Null for an embedded model. */
  readonly servers: readonly string[] | null;
}

export interface WeightsStep {
  readonly out: string;
  readonly run: string;
  /** Of the update, in the run's folder. */
  readonly number: number;
  readonly server: string;
  readonly apiKeyEnv?: string | null;
}

export interface ResumeStep extends WeightsStep {
  /** The label that the server gets before the load; null: none. */
  readonly label: string | null;
}

export interface NoteInput extends Pick<WeightsStep, 'out' | 'run' | 'number'> {
  readonly progress: WeightsProgress;
  /** A server has loaded the weights: from now on they are those of the run. */
  readonly loaded: boolean;
}

/** How long a server may be away before a step is given up. */
const PATIENCE_MS = 10_000;
/** One that is there and was paused by us: it must not stay so. */
const RESUME_PATIENCE_MS = 3_600_000;
/** Nobody listens: the process is gone, and what was paused with it. */
const GONE = new Set(['server-unreachable']);
/** After so long without a look, a step may be another worker's by now. */
const LOOK_AGAIN_MS = 3000;
const POLL_MS = 500;

/** Heartbeat details: when the server first failed this step, over all attempts. */
interface StepBeat {
  readonly failedAt: number | null;
}

export function weightsActivities(deps: ActivityDeps) {
  const { openStore, closedRollouts, weights, now } = deps;

  async function settingsOf(out: string, run: string) {
    const store = openStore(out, run);
    const record = (await store.getRun())?.record;
    if (!record) {
      throw new UsageError(`There is no run "${run}" in ${out}.`, {
        reason: 'no-such-run',
        fix: 'New weights are for a run that has begun.',
      });
    }
    return { settings: record.settings, folder: store.folder };
  }

  /** Does one thing to one server, as long as this attempt is the one that counts. */
  function onServer<T extends object>(
    step: WeightsStep,
    patienceMs: number,
    work: (server: WeightServer, entry: DeclaredWeights, mine: () => Promise<void>) => Promise<T>,
    isLoad = false,
  ): Promise<StepResult<T>> {
    return heartbeating(async (_signal, progress: (beat: StepBeat) => void) => {
      const { out, run, number, server: url } = step;
      const { info } = Context.current();
      const failedAt = (info.heartbeatDetails as StepBeat | undefined)?.failedAt ?? null;
      progress({ failedAt });
      const { settings, folder } = await settingsOf(out, run);
      const { entries } = await weights.ledger(folder).read();
      const entry = entryOf(entries, run, number);
      const apiKeyEnv = step.apiKeyEnv === undefined ? settings.apiKeyEnv : step.apiKeyEnv;
      weights.permit({ settings, folder, weights: entry.folder, apiKeyEnv });
      mustBeServers([url], weights.servers(settings.model) ?? [], run);
      let lookedAt = performance.now();
      const mine = async () => {
        if (performance.now() - lookedAt < LOOK_AGAIN_MS) return;
        if (!(await weights.holdsStep(info.workflowExecution!, info.activityId, info.attempt))) throw lostStep();
        lookedAt = performance.now();
      };
      const server = weights.server(settings.model, url, apiKeyEnv);
      // An attempt before may have paused it, and died.
      let mayBePaused = info.attempt > 1;
      const pause = () => {
        mayBePaused = true;
        return server.pause();
      };
      try {
        return { ok: true as const, ...(await work({ ...server, pause }, entry, mine)) };
      } catch (error) {
        if (!(error instanceof EverturnError)) throw error;
        if (error.reason === 'lost-step') throw error;
        const since = failedAt ?? now();
        const gone = GONE.has(error.reason);
        // A later update will find it, and must not wait for this one.
        const hurries = gone || entries.some((each) => each.number > number);
        const left = since + (hurries ? Math.min(patienceMs, PATIENCE_MS) : patienceMs) - now();
        // A server that answers a `load` with an error of its own will not load them at the next try.
        const final = isLoad && error.reason === 'server-error';
        if (error.retryable && left > 0 && !final) {
          beat({ failedAt: since } satisfies StepBeat);
          throw error;
        }
        const unchanged = !mayBePaused || server.keptItsWeights(error);
        return { ok: false as const, reason: error.reason, error: explain(error).slice(0, 1000), gone, unchanged };
      } finally {
        await server.close();
      }
    });
  }

  return {
    /** Accepts the update, or refuses it before any server is asked. Of an embedded model: proves that it can be loaded. */
    declareWeights: (input: WeightsInput): Promise<WeightsPlan> =>
      heartbeating(async () => {
        const { run, out, version, weights: from, label, rewind } = input;
        const { settings, folder } = await settingsOf(out, run);
        const apiKeyEnv = input.apiKeyEnv === undefined ? settings.apiKeyEnv : input.apiKeyEnv;
        weights.permit({ settings, folder, weights: from, apiKeyEnv });
        const all = weights.servers(settings.model);
        const servers = input.servers ?? all;
        if (all !== null) mustBeServers(servers, all, run);
        else if (input.servers) throw noServers(run, settings.model);
        const ledger = weights.ledger(folder);
        const wanted = {
          version,
          folder: from,
          ...(label === undefined ? {} : { label }),
          ...(rewind ? { rewind } : {}),
        };
        for (;;) {
          const next = nextWeights(await ledger.read(), wanted);
          const known = 'declaredAt' in next ? next : null;
          const contentHash = all === null ? await weights.prove(settings, folder, { ...next, folder: from }) : null;
          if (known && known.contentHash !== contentHash) throw changed(known);
          const entry = known ?? { ...next, contentHash, workflowId: weightsWorkflowId(input), declaredAt: now() };
          if (!known && !(await ledger.declare(entry))) continue;
          // Each worker loads them before its next turn.
          if (all === null) await ledger.markLoaded(entry.number);
          return { number: entry.number, label: entry.label, servers: all === null ? null : servers };
        }
      }),

    /** One update of a run at a time: waits for those that were declared before. False if a later one has begun. */
    awaitOtherUpdates: ({ out, run, number }: Pick<WeightsStep, 'out' | 'run' | 'number'>): Promise<boolean> =>
      heartbeating(async () => {
        const context = Context.current();
        const { folder } = await settingsOf(out, run);
        for (;;) {
          const ledger = weights.ledger(folder);
          const { entries, current } = await ledger.read();
          if ((current?.number ?? 0) > number) return false;
          const mine = entryOf(entries, run, number).workflowId;
          const others = entries.filter((entry) => entry.workflowId !== mine).slice(-LATEST);
          const ids = [...new Set(others.map(({ workflowId }) => workflowId))];
          const closed = await closedRollouts(run, ids);
          const open = others.filter(({ workflowId }) => !closed.has(workflowId));
          if (open.some((entry) => entry.number > number)) return false;
          if (open.length === 0) return true;
          await context.sleep(POLL_MS);
        }
      }),

    pauseServer: (step: WeightsStep) =>
      onServer(step, PATIENCE_MS, async (server, { label, number }, mine) => {
        const { folder } = await settingsOf(step.out, step.run);
        const current = await weights.ledger(folder).current();
        if ((current?.number ?? 0) > number) return { before: null, superseded: true };
        const before = await server.version();
        if (before === label) return { before };
        await mine();
        await server.pause();
        await stillMine(server, mine);
        return { before };
      }),

    loadWeights: (step: WeightsStep) =>
      onServer(
        step,
        PATIENCE_MS,
        async (server, { folder, label }, mine) => {
          // Its label changes last: who has it has all the rest.
          if ((await server.version()) === label) return { now: label };
          // Another process may be there by now, which nobody paused.
          await mine();
          await server.pause();
          await stillMine(server, mine);
          await server.load(folder, label);
          const said = await server.version();
          if (said === label) return { now: said };
          throw new ModelError(
            `${server.url} loaded the weights, and says that they are ${said ?? 'without a label'}`,
            {
              reason: 'version-not-taken',
              fix: `It should say ${label}.`,
            },
          );
        },
        true,
      ),

    resumeServer: (step: ResumeStep) =>
      onServer(step, RESUME_PATIENCE_MS, async (server, _entry, mine) => {
        await mine();
        if (step.label !== null) await server.name(step.label);
        await server.resume();
        // Another process may be there by now, with the weights that it is started with.
        return { now: await server.version() };
      }),

    async noteWeights({ out, run, number, progress, loaded }: NoteInput): Promise<void> {
      const { folder } = await settingsOf(out, run);
      const ledger = weights.ledger(folder);
      entryOf((await ledger.read()).entries, run, number);
      if (loaded) await ledger.markLoaded(number);
      await ledger.note(number, progress);
    },
  };
}

/** So many updates before may still be open. */
const LATEST = 50;

/** A pause that came late is taken back: the attempt that owns the step now pauses again. */
async function stillMine(server: WeightServer, mine: () => Promise<void>): Promise<void> {
  try {
    await mine();
  } catch (error) {
    if (error instanceof EverturnError && error.reason === 'lost-step') await server.resume().catch(() => undefined);
    throw error;
  }
}

function lostStep(): ModelError {
  return new ModelError('Another worker has taken this step over.', { reason: 'lost-step', retryable: true });
}

function mustBeServers(named: unknown, known: readonly string[], run: string): asserts named is readonly string[] {
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

function noServers(run: string, model: string): UsageError {
  return new UsageError(`Run "${run}" has no servers: ${model} runs in its workers.`, {
    reason: 'not-allowed',
    fix: 'Leave `servers` out.',
  });
}

/** A number that comes from elsewhere names no file. */
function entryOf(entries: readonly DeclaredWeights[], run: string, number: number): DeclaredWeights {
  const entry = entries.find((each) => each.number === number);
  if (entry) return entry;
  throw new UsageError(`Run "${run}" has no update ${String(number).slice(0, 20)}.`, {
    reason: 'not-allowed',
    fix: 'A step belongs to an update that was declared.',
  });
}

function changed({ version, folder }: DeclaredWeights): UsageError {
  return new UsageError(`${folder} holds other weights than when version ${version} was declared.`, {
    reason: 'weights-changed',
    fix: 'Other weights need another version, in a folder of their own.',
  });
}
