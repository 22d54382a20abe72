// A run: a sliding window over the accepted queries, each played by a `rollout` child that outlives
// this workflow's continue-as-new; with more in flight than one workflow can have, blocks of such windows. Guarantees:
// every unit is started once and counted once, under any replay; history and carried state are bounded by what is in
// flight, not by the data set.

import * as wf from '@temporalio/workflow';
import { isBlockReport, isInBlocks, openBlocks, takeReport, runFacts } from '../domain/run/blocks.ts';
import { DEFAULT_MAX_CONCURRENT, MAX_WINDOW } from '../domain/run/defaults.ts';
import { openWindow, totalUnits, type WindowState } from '../domain/run/window.ts';
import { playBlocks } from './block-children.ts';
import { blockWorkflowId, feedWorkflowId } from '../domain/names/ids.ts';
import { type HistoryLength, openHistoryLength } from './history-length.ts';
import { accept, conclude } from './collection-steps.ts';
import { blockReport, collectionBegan } from './messages.ts';
import { playWindow } from './play-window.ts';
import { openCollectionSteering, type CollectionSteering } from './steering.ts';
import type { CollectionInput, CollectionResult } from '../domain/run/messages.ts';

export async function collection(input: CollectionInput): Promise<CollectionResult> {
  const history = openHistoryLength(input.maxHistoryEvents);
  const steering = openCollectionSteering(input, history);
  let held = input.carried;
  wf.setHandler(blockReport, (given) => {
    if (!held || !isBlockReport(given)) return;
    history.did();
    if (isInBlocks(held) && takeReport(held, given, Date.now())) steering.show();
    else if (!given.ended) leaveAlone(input.run, given.block);
  });
  const root = wf.CancellationScope.current();
  // A cancelled run ends in order: its rollouts end as cancelled, and all are counted.
  root.cancelRequested.catch(() => steering.stop());

  const result = await wf.CancellationScope.nonCancellable(async () => {
    const state = (held = steering.opened(input.carried ?? (await accepted(input))));
    if (isInBlocks(state)) {
      const moveOn = () => wf.continueAsNew<typeof collection>({ ...input, carried: state });
      await playBlocks(input, state, { history, moveOn });
    } else await play(input, state, { steering, history });
    const { numTurns, stopping } = state;
    const { counts } = runFacts(state);
    const ended = { run: input.run, total: totalUnits(state), cancelled: stopping, numTurns, counts };
    await conclude({ out: input.out, result: ended });
    steering.publish();
    await wf.condition(wf.allHandlersFinished);
    return ended;
  });
  if (root.consideredCancelled) throw new wf.CancelledFailure('The run was cancelled; its result is in its folder.');
  return result;
}

/** A block of an earlier root that was dealt other units: they belong to others now. */
function leaveAlone(run: string, block: string): void {
  wf.getExternalWorkflowHandle(blockWorkflowId(run, block))
    .cancel()
    .catch(() => {});
}

/** The feed says how many groups may begin; one that is not there says it when it begins. */
async function askFeed(run: string): Promise<void> {
  await wf
    .getExternalWorkflowHandle(feedWorkflowId(run))
    .signal(collectionBegan)
    .catch(() => {});
}

async function accepted(input: CollectionInput): Promise<WindowState> {
  const window = openWindow(await accept(input), input.maxConcurrent ?? DEFAULT_MAX_CONCURRENT, Date.now());
  const most = input.maxWindow ?? MAX_WINDOW;
  if (window.maxConcurrent <= most) return window;
  if (window.admitted === undefined) return openBlocks(window, most);
  throw wf.ApplicationFailure.nonRetryable(
    `A run that a trainer lives on has at most ${most} rollouts in flight, not ${window.maxConcurrent}.`,
    'bad-value',
  );
}

interface Held {
  readonly steering: CollectionSteering;
  readonly history: HistoryLength;
}

async function play(input: CollectionInput, state: WindowState, { steering, history }: Held): Promise<void> {
  if (state.admitted !== undefined) await askFeed(input.run);
  const most = input.maxWindow ?? MAX_WINDOW;
  const end = await playWindow(input, state, {
    history,
    changed: steering.show,
    onStop: steering.onStop,
    moveOn: () => wf.continueAsNew<typeof collection>({ ...input, carried: state }),
    isOutgrown: () => state.admitted === undefined && state.maxConcurrent > most,
  });
  if (end === 'outgrown') await wf.continueAsNew<typeof collection>({ ...input, carried: openBlocks(state, most) });
}
