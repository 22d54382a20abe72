// A run: a sliding window over the accepted queries, each played by a `rollout` child that outlives
// this workflow's continue-as-new; with more in flight than one workflow can have, blocks of such windows. Guarantees:
// every unit is started once and counted once, under any replay; history and carried state are bounded by what is in
// flight, not by the data set.

import {
  allHandlersFinished,
  ApplicationFailure,
  CancelledFailure,
  CancellationScope,
  condition,
  continueAsNew,
  getExternalWorkflowHandle,
} from '@temporalio/workflow';
import { type BlocksState, openBlocks, runFacts } from '../domain/run/blocks.ts';
import { DEFAULT_MAX_CONCURRENT, MAX_WINDOW } from '../domain/run/defaults.ts';
import { openWindow, totalUnits, type WindowState } from '../domain/run/window.ts';
import { openBlockReports, playBlocks } from './blocks.ts';
import { feedWorkflowId } from '../domain/run/ids.ts';
import { type HistorySteps, openHistorySteps } from './history-steps.ts';
import { accept, conclude } from './collection-steps.ts';
import { collectionBegan } from './messages.ts';
import { playWindow } from './play-window.ts';
import { openSteering, type Steering } from './steering.ts';
import type { CollectionInput, CollectionResult } from '../domain/run/messages.ts';

export async function collection(input: CollectionInput): Promise<CollectionResult> {
  const history = openHistorySteps(input.maxHistoryEvents);
  const steering = openSteering(input, history);
  const reports = openBlockReports(input);
  const root = CancellationScope.current();
  // A cancelled run ends in order: its rollouts end as cancelled, and all are counted.
  root.cancelRequested.catch(() => steering.stop());

  const result = await CancellationScope.nonCancellable(async () => {
    const state = steering.opened(input.carried ?? (await accepted(input)));
    if ('blocks' in state) {
      const moveOn = () => continueAsNew<typeof collection>({ ...input, carried: state });
      await playBlocks(input, state, { reports, history, changed: steering.show, moveOn });
    } else await play(input, state, { steering, history });
    const { numTurns, stopping } = state;
    const { counts } = runFacts(state);
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

async function accepted(input: CollectionInput): Promise<WindowState | BlocksState> {
  const window = openWindow(await accept(input), input.maxConcurrent ?? DEFAULT_MAX_CONCURRENT, Date.now());
  const most = input.maxWindow ?? MAX_WINDOW;
  if (window.maxConcurrent <= most) return window;
  if (window.admitted === undefined) return openBlocks(window, most);
  throw ApplicationFailure.nonRetryable(
    `A run that a trainer lives on has at most ${most} rollouts in flight, not ${window.maxConcurrent}.`,
    'bad-value',
  );
}

interface Held {
  readonly steering: Steering;
  readonly history: HistorySteps;
}

async function play(input: CollectionInput, state: WindowState, { steering, history }: Held): Promise<void> {
  if (state.admitted !== undefined) await askFeed(input.run);
  const most = input.maxWindow ?? MAX_WINDOW;
  const end = await playWindow(input, state, {
    history,
    changed: steering.show,
    onStop: steering.onStop,
    moveOn: () => continueAsNew<typeof collection>({ ...input, carried: state }),
    isOutgrown: () => state.admitted === undefined && state.maxConcurrent > most,
  });
  if (end === 'outgrown') await continueAsNew<typeof collection>({ ...input, carried: openBlocks(state, most) });
}
