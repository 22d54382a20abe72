// A collection's rollouts: starts them as children and learns how each ended. A child of this execution reports its
// end itself; one that was started before (by a history that continued as new, or by an earlier collection of the
// same run) is awaited through `awaitEnds`.

import { WorkflowExecutionAlreadyStartedError } from '@temporalio/common';
import * as wf from '@temporalio/workflow';
import type { PagedUnit } from '../activities/collection.ts';
import { type RolloutResult, unrecordedResult } from '../domain/rollout/ending.ts';
import { rolloutWorkflowId } from '../domain/names/ids.ts';
import { rolloutPriority, TASK_QUEUE } from '../domain/names/queues.ts';
import { beginUnit, passUnit, settleUnit, type UnitInFlight, type WindowState } from '../domain/run/window.ts';
import { awaitEnds, cancelWaiting } from './collection-steps.ts';
import type { CollectionInput } from '../domain/run/messages.ts';
import { applicationFailure } from './failure.ts';
import { rollout } from './rollout.ts';
import { QUERY_ATTRIBUTE, RUN_ATTRIBUTE } from './search-attributes.ts';

type Place = Pick<CollectionInput, 'run' | 'out'>;

/** Rollouts that are followed or cancelled together: with more, the activity would ask for the server's list of open workflows. */
const TOGETHER = 100;

/**
 * `onRoom`: more may be started. It is called in step with what made room, before anything else goes on: a server hands two ends
 * out in one task or in two, and a replay that takes them otherwise must give the same commands in the same order.
 * `many`: the window is one of many of a run; its rollouts that were cancelled are followed together. */
export function openChildren(
  place: Place,
  state: WindowState,
  { changed, onRoom, many = false }: { changed(): void; onRoom(): void; readonly many?: boolean | undefined },
) {
  const { failure, fail, hasFailed } = openFailure();
  const starts = openStarts(state);
  const count = (unit: number, result: RolloutResult) => {
    settleUnit(state, unit, result);
    changed();
    onRoom();
  };
  const follow = (units: readonly UnitInFlight[]) => followEnds(place, units, count);
  const followCancelled = many ? openBatches(follow) : (unit: UnitInFlight) => follow([unit]);
  const cancel = (unit: UnitInFlight) => cancelRollout(place, unit);
  /** Starts that were not acknowledged when the stop came are each cancelled once they exist. */
  let cancelledLater = false;

  /** The others are cancelled last: the slots that they free would be taken by some that wait. */
  async function endAll(): Promise<void> {
    cancelledLater = starts.count() > 0;
    const units = state.inFlight.filter(({ unit }) => !cancelledLater || !starts.has(unit));
    await cancelWaitingRollouts(place, units, count);
    (cancelledLater ? units.filter((unit) => state.inFlight.includes(unit)) : state.inFlight).forEach(cancel);
  }

  async function launch(unit: PagedUnit): Promise<void> {
    starts.add(unit.unit);
    try {
      const child = await startRollout(place, unit);
      starts.acknowledged(unit.unit);
      if (state.stopping) cancel(unit);
      onRoom();
      count(unit.unit, await child.result());
    } catch (error) {
      if (cancelledLater && starts.has(unit.unit)) cancel(unit);
      starts.acknowledged(unit.unit);
      const result = error instanceof wf.ChildWorkflowFailure ? failedResult(error, { ...place, ...unit }) : undefined;
      if (result) count(unit.unit, result);
      else if (wf.isCancellation(error)) await followCancelled(unit);
      else if (error instanceof WorkflowExecutionAlreadyStartedError) await follow([unit]);
      else throw error;
    }
  }

  return {
    /** Starts one unit; its result is counted in the window when it ends. Of a window that stops, ends one that has begun. */
    start({ unit, query, sample, ...rest }: PagedUnit): void {
      if (state.stopping && !rest.begun) return passUnit(state, unit);
      const inFlight = { unit, query, sample };
      beginUnit(state, inFlight);
      if (rest.ended) return count(unit, rest.ended);
      if (!state.stopping) return void launch({ ...inFlight, ...rest }).catch(fail);
      cancel(inFlight);
      followCancelled(inFlight).catch(fail);
    },
    /** Awaits units that are in flight already. */
    follow: (units: readonly UnitInFlight[]) => void follow(units).catch(fail),
    /** Rejects when a unit's end cannot be learned; nothing is to be started then. */
    failure,
    hasFailed,
    cancelAll(): void {
      if (!many) return state.inFlight.forEach(cancel);
      endAll().catch(fail);
    },
    /** Starts that are not acknowledged: the collection may continue as new only without any. */
    starting: starts.count,
  };
}

/** A promise that rejects with the first failure. */
function openFailure() {
  let failed = false;
  let fail!: (error: unknown) => void;
  const failure = new Promise<never>((_, reject) => {
    fail = (error) => {
      failed = true;
      reject(error);
    };
  });
  return { failure, fail, hasFailed: () => failed };
}

/** Units whose start the server has not acknowledged; the window counts them where it counts any. */
function openStarts(state: WindowState) {
  const units = new Set<number>();
  const tally = () => {
    if (state.starting !== undefined) state.starting = units.size;
  };
  return {
    add(unit: number) {
      units.add(unit);
      tally();
    },
    acknowledged(unit: number) {
      units.delete(unit);
      tally();
    },
    has: (unit: number) => units.has(unit),
    count: () => units.size,
  };
}

/** All rollouts of a run that is cancelled end at once, and each alone would be an activity of its own. */
function openBatches(follow: (units: readonly UnitInFlight[]) => Promise<void>) {
  const units: UnitInFlight[] = [];
  let following = false;
  return async (unit: UnitInFlight): Promise<void> => {
    units.push(unit);
    if (following) return;
    following = true;
    while (units.length > 0) await follow(units.splice(0, TOGETHER));
    following = false;
  };
}

type Count = (unit: number, result: RolloutResult) => void;

/** Counts the ends of rollouts that this execution did not start. */
async function followEnds({ run, out }: Place, units: readonly UnitInFlight[], count: Count): Promise<void> {
  let open = [...units];
  while (open.length > 0) {
    const settled = await awaitEnds({ run, out, rollouts: open });
    for (const { unit, result } of settled) count(unit, result);
    open = open.filter((u) => !settled.some((s) => s.unit === u.unit));
  }
}

/** Cancels and counts those of the rollouts that wait for a slot. */
function cancelWaitingRollouts({ run, out }: Place, units: readonly UnitInFlight[], count: Count): Promise<unknown> {
  const parts = Array.from({ length: Math.ceil(units.length / TOGETHER) }, async (_, i) => {
    const rollouts = units.slice(i * TOGETHER, (i + 1) * TOGETHER);
    for (const { unit, result } of await cancelWaiting({ run, out, rollouts })) count(unit, result);
  });
  return Promise.all(parts);
}

const workflowIdOf = ({ run }: Place, { query, sample }: UnitInFlight): string =>
  rolloutWorkflowId({ run, query, sample, attempt: 1 });

/** Sent even if the run itself is cancelled. A rollout that has closed meanwhile has nothing to cancel. */
function cancelRollout(place: Place, unit: UnitInFlight): void {
  const handle = () => wf.getExternalWorkflowHandle(workflowIdOf(place, unit));
  wf.CancellationScope.nonCancellable(() => handle().cancel()).catch(() => {});
}

function startRollout({ run, out }: Place, unit: PagedUnit) {
  return wf.startChild(rollout, {
    workflowId: workflowIdOf({ run, out }, unit),
    taskQueue: TASK_QUEUE,
    args: [{ run, out, index: unit.index, sample: unit.sample }],
    parentClosePolicy: wf.ParentClosePolicy.ABANDON,
    staticSummary: unit.title,
    priority: rolloutPriority(run),
    typedSearchAttributes: [
      { key: RUN_ATTRIBUTE, value: run },
      { key: QUERY_ATTRIBUTE, value: unit.query },
    ],
  });
}

/** The result of a rollout whose workflow itself failed; undefined where its records say more. */
function failedResult(
  error: wf.ChildWorkflowFailure,
  unit: PagedUnit & { run: string; out: string },
): RolloutResult | undefined {
  if (wf.isCancellation(error)) return undefined;
  const { cause } = error;
  const failure =
    cause instanceof wf.ApplicationFailure
      ? applicationFailure(cause)
      : ({ boundary: 'temporal', reason: cause instanceof wf.TimeoutFailure ? 'timed-out' : 'terminated' } as const);
  const { run, out, query, sample } = unit;
  return unrecordedResult({ out, run, query, sample, attempt: 1 }, failure);
}
