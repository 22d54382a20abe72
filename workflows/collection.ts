// A run: a sliding window over the accepted queries, each played by a `rollout` child that outlives
// this workflow's continue-as-new. Guarantees: every unit is started once and counted once, under any
// replay; history and carried state are bounded by the window, not by the data set.

import {
  allHandlersFinished,
  CancelledFailure,
  CancellationScope,
  condition,
  continueAsNew,
  getExternalWorkflowHandle,
  workflowInfo,
} from '@temporalio/workflow';
import type { Unit } from '../activities/collection.ts';
import { DEFAULT_MAX_CONCURRENT } from '../domain/defaults.ts';
import { canStart, isFinished, openWindow, totalUnits, type WindowState } from '../domain/window.ts';
import { openChildren } from './children.ts';
import { feedWorkflowId } from '../domain/ids.ts';
import { accept, conclude, page } from './collection-steps.ts';
import { collectionBegan } from './messages.ts';
import { openSteering, type Steering } from './steering.ts';
import type { CollectionInput, CollectionResult } from '../domain/messages.ts';

const MAX_HISTORY_EVENTS = 4000;
const PAGE_UNITS = 50;

export async function collection(input: CollectionInput): Promise<CollectionResult> {
  const steering = openSteering(input);
  const root = CancellationScope.current();
  // A cancelled run ends in order: its rollouts end as cancelled, and all are counted.
  root.cancelRequested.catch(() => steering.stop());

  const result = await CancellationScope.nonCancellable(async () => {
    const state = steering.opened(input.carried ?? (await accepted(input)));
    if (state.admitted !== undefined) await askFeed(input.run);
    await play(input, state, steering);
    const { counts, numTurns, stopping } = state;
    const ended = { run: input.run, total: totalUnits(state), cancelled: stopping, numTurns, counts };
    await conclude({ out: input.out, result: ended });
    steering.publish();
    await condition(allHandlersFinished);
    return ended;
  });
  if (root.consideredCancelled) throw new CancelledFailure('The run was cancelled; its result is in its folder.');
  return result;
}

/** The feed says how many groups may begin; one that is not there says it when it begins. */
async function askFeed(run: string): Promise<void> {
  await getExternalWorkflowHandle(feedWorkflowId(run))
    .signal(collectionBegan)
    .catch(() => {});
}

async function accepted(input: CollectionInput): Promise<WindowState> {
  return openWindow(await accept(input), input.maxConcurrent ?? DEFAULT_MAX_CONCURRENT, Date.now());
}

async function play(input: CollectionInput, state: WindowState, steering: Steering): Promise<void> {
  const children = openChildren(input, state, steering.show);
  children.follow(state.inFlight);
  steering.onStop(children.cancelAll);

  let units: Unit[] = [];
  const historyIsFull = () => {
    const { historyLength, continueAsNewSuggested } = workflowInfo();
    return continueAsNewSuggested || historyLength >= (input.maxHistoryEvents ?? MAX_HISTORY_EVENTS);
  };
  const startAll = async () => {
    while (!isFinished(state)) {
      await condition(() => !children.hasFailed() && (canStart(state) || isFinished(state) || historyIsFull()));
      if (historyIsFull() && !isFinished(state)) {
        await condition(() => children.allStarted() && allHandlersFinished());
        await continueAsNew<typeof collection>({ ...input, carried: state });
      }
      if (!canStart(state)) continue;
      if (units.length === 0) {
        const { run, out } = input;
        const { samples, epochs, queries } = state;
        units = await page({
          ...{ run, out, from: state.next, count: PAGE_UNITS, samples },
          ...(epochs === undefined ? {} : { queries }),
        });
        continue;
      }
      children.start(units.shift()!);
    }
  };
  await Promise.race([startAll(), children.failure]);
}
