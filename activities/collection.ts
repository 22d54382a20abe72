// A collection's activities: accept the data set, page through the accepted queries, await rollouts that another
// workflow started, and store the run's result.

import { Context } from '@temporalio/activity';
import { type RolloutResult, rolloutResult, scoredTurns, unrecordedResult } from '../domain/rollout/ending.ts';
import { rolloutWorkflowId, type TrajectoryReference } from '../domain/names/ids.ts';
import { titleOf } from '../domain/query/query.ts';
import { StoreError } from '../domain/errors/errors.ts';
import type { CollectionInput, CollectionResult } from '../domain/run/messages.ts';
import type { ActivityDeps, WorkflowClosing } from './deps.ts';
import { readEndedResult } from './recorded.ts';
import { withHeartbeats } from './heartbeat.ts';
import { recordedFacts, turnFacts } from '../domain/rollout/rollout-facts.ts';
import type { TurnFacts } from '../domain/rollout/turn-facts.ts';
import type { Store } from '../records/store.ts';
import { finishActivity } from './finish.ts';

export interface Accepted {
  readonly queries: number;
  readonly samples: number;
  readonly numTurns: number;
  /** Absent: 1. */
  readonly epochs?: number;
  /** Groups that may begin at once, of a run that its feed paces. */
  readonly admitted?: number;
}

export interface PageInput {
  readonly out: string;
  readonly run: string;
  /** Units: domain/run/window.ts. */
  readonly from: number;
  readonly count: number;
  readonly samples: number;
  /** Queries of the run, where it has epochs: a page ends with its epoch. */
  readonly queries?: number;
  /** Units that have not begun are told apart. */
  readonly stopping?: boolean;
}

export interface PagedUnit {
  readonly unit: number;
  readonly index: number;
  readonly sample: number;
  readonly query: string;
  readonly title: string;
  /** Set if this rollout ended before, under an earlier workflow of the same run. */
  readonly ended: RolloutResult | null;
  /** Set for a run that stops: whether the unit has ended, or its workflow was started. */
  readonly begun?: boolean;
}

export interface SettleInput {
  readonly out: string;
  readonly run: string;
  readonly rollouts: readonly { readonly unit: number; readonly query: string; readonly sample: number }[];
}

export interface Settled {
  readonly unit: number;
  readonly result: RolloutResult;
}

const POLL_MS = 1000;
const MANY = 100;
/** Calls of this worker that wait at the same time. */
let waiting = 0;
/** Polls take at most a tenth of the time, on a busy server too, but are at most 5 s apart, unless very many wait. */
const pollMs = (tookMs: number): number =>
  Math.max(Math.min(Math.max(POLL_MS, 9 * tookMs), 5000), waiting * EACH_POLL_MS);
/** Together they ask the server at most a hundred times a second. */
const EACH_POLL_MS = 10;

export function collectionActivities(deps: ActivityDeps) {
  return {
    accept: (input: CollectionInput) => withHeartbeats(() => acceptDataset(deps, input)),
    page: (input: PageInput) => readPage(deps, input),

    /** Waits until at least one of these rollouts has ended, and returns their results. */
    settle: (input: SettleInput): Promise<Settled[]> => {
      waiting++;
      // A busy server may take longer to answer than a heartbeat may be missing.
      return withHeartbeats(() => settleSome(deps, input)).finally(() => waiting--);
    },

    async conclude({ out, result }: { readonly out: string; readonly result: CollectionResult }): Promise<void> {
      await deps.openStore(out, result.run).put('result', null, result);
    },
  };
}

/** Makes the run's folder, unless it is there already. */
async function acceptDataset({ openStore, createRun }: ActivityDeps, input: CollectionInput): Promise<Accepted> {
  const { run, out, dataset } = input;
  const store = openStore(out, run);
  if (!(await store.get('run'))) {
    if (!dataset) {
      throw new StoreError(`Run "${run}" has no folder in ${out}, and no \`dataset\` was given to make one.`, {
        reason: 'no-such-run',
        fix: 'Give `dataset`: a data set file that the workers can read.',
      });
    }
    await createRun({ ...input, dataset });
  }
  const { record } = (await store.get('run'))!;
  if (!record.dataset) {
    throw new StoreError(`Run "${run}" in ${out} is made of rollouts that were started one by one.`, {
      reason: 'run-without-dataset',
      fix: 'Give the collection another name.',
    });
  }
  const { epochs, train } = record;
  return {
    queries: await store.countQueries(),
    samples: record.samples,
    numTurns: record.settings.numTurns,
    ...(epochs === undefined ? {} : { epochs }),
    ...(train === undefined ? {} : { admitted: (train.maxStaleness + 1) * train.batchGroups }),
  };
}

async function readPage(deps: ActivityDeps, input: PageInput): Promise<PagedUnit[]> {
  const { out, run, from, count, samples, queries: perEpoch = Infinity, stopping = false } = input;
  const store = deps.openStore(out, run);
  const epoch = Math.floor(from / samples / perEpoch);
  const start = epoch === 0 ? 0 : epoch * perEpoch * samples;
  const first = Math.floor((from - start) / samples);
  const last = Math.ceil((from - start + count) / samples);
  const queries = await store.readQueries(first, last - first);
  const unitCount = Math.min(from + count, start + (first + queries.length) * samples) - from;
  if (unitCount <= 0) {
    throw new StoreError(`Run "${run}" has no query at index ${first} in ${store.folder}.`, {
      reason: 'queries-missing',
      fix: `It holds ${await store.countQueries()}; was queries.jsonl changed after the run began?`,
    });
  }
  // Units are read concurrently: in sequence each would wait for other rollouts' writes.
  const units = await Promise.all(
    Array.from({ length: unitCount }, async (_, i): Promise<PagedUnit> => {
      const unit = from + i;
      const index = Math.floor((unit - start) / samples);
      const sample = epoch * samples + ((unit - start) % samples);
      const query = queries[index - first]!;
      const id = { out, run, query: query.queryId, sample, attempt: 1 };
      const ended = (await readEndedResult(store, id)) ?? null;
      return { unit, index, sample, query: query.queryId, title: titleOf(query, 60), ended };
    }),
  );
  return stopping ? withBegun(deps, run, units) : units;
}

async function withBegun(
  { closedRollouts }: ActivityDeps,
  run: string,
  units: readonly PagedUnit[],
): Promise<PagedUnit[]> {
  const idOf = (unit: PagedUnit) => rolloutWorkflowId({ run, ...unit, attempt: 1 });
  const closed = await closedRollouts(run, units.filter(({ ended }) => ended === null).map(idOf));
  return units.map((unit) => ({ ...unit, begun: unit.ended !== null || closed.get(idOf(unit)) !== 'absent' }));
}

async function settleSome({ openStore, closedRollouts }: ActivityDeps, input: SettleInput): Promise<Settled[]> {
  const { out, run, rollouts } = input;
  const store = openStore(out, run);
  const context = Context.current();
  const byId = new Map(rollouts.map((rollout) => [rolloutWorkflowId({ run, ...rollout, attempt: 1 }), rollout]));
  // Each call puts all remaining rollouts into the history; of many, some end within a second.
  if (rollouts.length > MANY) await context.sleep(POLL_MS);
  for (;;) {
    const askedAt = performance.now();
    const closed = await closedRollouts(run, [...byId.keys()]);
    if (closed.size > 0) return Promise.all([...closed].map(settled));
    await context.sleep(pollMs(performance.now() - askedAt));
  }

  async function settled([workflowId, closing]: readonly [string, WorkflowClosing]): Promise<Settled> {
    const { unit, query, sample } = byId.get(workflowId)!;
    const id = { out, run, query, sample, attempt: 1 };
    const failure = closing === 'cancelled' ? null : ({ boundary: 'temporal', reason: 'terminated' } as const);
    return { unit, result: (await readEndedResult(store, id)) ?? unrecordedResult(id, failure) };
  }
}

const AT_ONCE = 8;

/**
 * Ends rollouts of a cancelled run that only wait for a generation which no worker has begun, with all turns that were played. The
 * record of the end counts: a generation that begins later is refused, and one that began meanwhile is cancelled. Workflows end all
 * others. Repeated, it goes on where it stopped.
 */
export function cancelActivities(deps: ActivityDeps) {
  const { openStore, isWaiting, cancelRollout } = deps;
  const finish = finishActivity(deps);

  async function recordEnd(store: Store, id: TrajectoryReference): Promise<RolloutResult | undefined> {
    const ended = await readEndedResult(store, id);
    if (ended) return ended;
    const rollout = (await store.get('rollout', id))?.record;
    if (!rollout) return undefined;
    const { query, settings } = rollout;
    const own = settings.environments?.find(({ name }) => name === query.environment);
    const turns = own?.ends ? undefined : await playedTurns(store, id);
    if (!turns) return undefined;
    const result = rolloutResult(id, turns, 'cancelled', null, scoredTurns(turns, 'cancelled', settings));
    return (await finish({ result, message: null })) ?? result;
  }

  return {
    /** The results of those that it ended. */
    cancelWaiting: ({ out, run, rollouts }: SettleInput): Promise<Settled[]> =>
      withHeartbeats(async (signal) => {
        const store = openStore(out, run);
        const left = [...rollouts];
        const settled: Settled[] = [];
        const cancelSome = async () => {
          for (let next = left.shift(); next; next = left.shift()) {
            signal.throwIfAborted();
            const { unit, query, sample } = next;
            const id = { out, run, query, sample, attempt: 1 };
            const workflowId = rolloutWorkflowId(id);
            const result = (await isWaiting(workflowId)) ? await recordEnd(store, id) : undefined;
            if (!result) continue;
            // A generation that began before the record does not know of it.
            if (!(await isWaiting(workflowId))) await cancelRollout(workflowId);
            settled.push({ unit, result });
          }
        };
        await Promise.all(Array.from({ length: AT_ONCE }, cancelSome));
        return settled;
      }),
  };
}

/** Undefined if one of them is not judged: its workflow is in the middle of a turn. */
async function playedTurns(store: Store, id: TrajectoryReference): Promise<TurnFacts[] | undefined> {
  const played: TurnFacts[] = [];
  for (let turn = 1; ; turn++) {
    const [record, verdict] = await Promise.all([store.get('turn', id, turn), store.get('verdict', id, turn)]);
    if (!record) return played;
    if (!verdict) return undefined;
    played.push(turnFacts(recordedFacts(record.record), verdict.record));
  }
}
