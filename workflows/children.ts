// A collection's rollouts: starts them as children and learns how each ended. A child of this execution reports its
// end itself; one that was started before (by a history that continued as new, or by an earlier collection of the
// same run) is awaited through `awaitEnds`.

import { WorkflowExecutionAlreadyStartedError } from '@temporalio/common';
import {
  ApplicationFailure,
  CancellationScope,
  ChildWorkflowFailure,
  getExternalWorkflowHandle,
  isCancellation,
  ParentClosePolicy,
  startChild,
  TimeoutFailure,
} from '@temporalio/workflow';
import type { Unit } from '../activities/collection.ts';
import { type RolloutResult, unrecordedResult } from '../domain/rollout/ending.ts';
import { rolloutWorkflowId } from '../domain/names/ids.ts';
import { rolloutPriority, TASK_QUEUE } from '../domain/names/queues.ts';
import { begin, pass, settle, type UnitInFlight, type WindowState } from '../domain/run/window.ts';
import { awaitEnds, cancelWaiting } from './collection-steps.ts';
import type { CollectionInput } from '../domain/run/messages.ts';
import { applicationFailure } from './failure.ts';
import { rollout } from './rollout.ts';
import { QUERY, RUN } from './search-attributes.ts';

export interface Children {
  /** Starts one unit; its result is counted in the window when it ends. Of a window that stops, ends one that has begun. */
  start(unit: Unit): void;
  /** Awaits units that are in flight already. */
  follow(units: readonly UnitInFlight[]): void;
  cancelAll(): void;
  /** Rejects when a unit's end cannot be learned; nothing is to be started then. */
  readonly failure: Promise<never>;
  hasFailed(): boolean;
  /** Starts that are not acknowledged: the collection may continue as new only without any. */
  starting(): number;
}

/** Of more than that, `awaitEnds` would ask for the server's list of open workflows. */
const TOGETHER = 100;

/** `many`: those that were cancelled are followed together. */
export function openChildren(
  { run, out }: Pick<CollectionInput, 'run' | 'out'>,
  state: WindowState,
  { changed, many = false }: { changed(): void; readonly many?: boolean | undefined },
): Children {
  const starting = new Set<number>();
  /** Those that were not acknowledged when the stop came are each cancelled once they exist. */
  let cancelledLater = false;
  let failed = false;
  let fail: (error: unknown) => void;
  const failure = new Promise<never>((_, reject) => {
    fail = (error) => {
      failed = true;
      reject(error);
    };
  });
  const workflowId = ({ query, sample }: UnitInFlight) => rolloutWorkflowId({ run, query, sample, attempt: 1 });
  const cancel = (unit: UnitInFlight) => {
    // Sent even if the run itself is cancelled. A rollout that has closed meanwhile has nothing to cancel.
    CancellationScope.nonCancellable(() => getExternalWorkflowHandle(workflowId(unit)).cancel()).catch(() => {});
  };
  const count = (unit: number, result: RolloutResult) => {
    settle(state, unit, result);
    changed();
  };

  async function follow(units: readonly UnitInFlight[]): Promise<void> {
    let open = [...units];
    while (open.length > 0) {
      const settled = await awaitEnds({ run, out, rollouts: open });
      for (const { unit, result } of settled) count(unit, result);
      open = open.filter((u) => !settled.some((s) => s.unit === u.unit));
    }
  }

  const closed: UnitInFlight[] = [];
  let following = false;
  /** All of a run that is cancelled end at once, and each alone would be an activity of its own. */
  async function followClosed(unit: UnitInFlight): Promise<void> {
    if (!many) return follow([unit]);
    closed.push(unit);
    if (following) return;
    following = true;
    while (closed.length > 0) await follow(closed.splice(0, TOGETHER));
    following = false;
  }

  /** The others are cancelled last: the slots that they free would be taken by some that wait. */
  async function endAll(): Promise<void> {
    cancelledLater = starting.size > 0;
    const units = state.inFlight.filter(({ unit }) => !cancelledLater || !starting.has(unit));
    const parts = Array.from({ length: Math.ceil(units.length / TOGETHER) }, async (_, i) => {
      const rollouts = units.slice(i * TOGETHER, (i + 1) * TOGETHER);
      for (const { unit, result } of await cancelWaiting({ run, out, rollouts })) count(unit, result);
    });
    await Promise.all(parts);
    (cancelledLater ? units.filter((unit) => state.inFlight.includes(unit)) : state.inFlight).forEach(cancel);
  }

  const tally = () => {
    if (state.starting !== undefined) state.starting = starting.size;
  };
  const acknowledged = ({ unit }: Unit) => {
    starting.delete(unit);
    tally();
  };

  async function launch(unit: Unit): Promise<void> {
    starting.add(unit.unit);
    tally();
    try {
      const child = await startChild(rollout, {
        workflowId: workflowId(unit),
        taskQueue: TASK_QUEUE,
        args: [{ run, out, index: unit.index, sample: unit.sample }],
        parentClosePolicy: ParentClosePolicy.ABANDON,
        staticSummary: unit.title,
        priority: rolloutPriority(run),
        typedSearchAttributes: [
          { key: RUN, value: run },
          { key: QUERY, value: unit.query },
        ],
      });
      acknowledged(unit);
      if (state.stopping) cancel(unit);
      count(unit.unit, await child.result());
    } catch (error) {
      if (cancelledLater && starting.has(unit.unit)) cancel(unit);
      acknowledged(unit);
      const known = error instanceof ChildWorkflowFailure ? failedResult(error, { run, out, ...unit }) : undefined;
      if (known) count(unit.unit, known);
      else if (error instanceof WorkflowExecutionAlreadyStartedError || isCancellation(error))
        await (isCancellation(error) ? followClosed(unit) : follow([unit]));
      else throw error;
    }
  }

  return {
    start({ unit, query, sample, ...rest }) {
      if (state.stopping && !rest.begun) return pass(state, unit);
      const begun = { unit, query, sample };
      begin(state, begun);
      if (rest.ended) return count(unit, rest.ended);
      if (!state.stopping) return void launch({ ...begun, ...rest }).catch(fail);
      cancel(begun);
      followClosed(begun).catch(fail);
    },
    follow: (units) => void follow(units).catch(fail),
    failure,
    hasFailed: () => failed,
    cancelAll() {
      if (!many) return state.inFlight.forEach(cancel);
      endAll().catch(fail);
    },
    starting: () => starting.size,
  };
}

/** The result of a rollout whose workflow itself failed; undefined where its records say more. */
function failedResult(
  error: ChildWorkflowFailure,
  unit: Unit & { run: string; out: string },
): RolloutResult | undefined {
  if (isCancellation(error)) return undefined;
  const { cause } = error;
  const failure =
    cause instanceof ApplicationFailure
      ? applicationFailure(cause)
      : ({ boundary: 'temporal', reason: cause instanceof TimeoutFailure ? 'timed-out' : 'terminated' } as const);
  const { run, out, query, sample } = unit;
  return unrecordedResult({ out, run, query, sample, attempt: 1 }, failure);
}
