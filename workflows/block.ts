// A block of a large run: plays the units that are dealt to it as a window of its own, follows its root's orders and
// reports its counts, at last when it has ended. Without a root, or cancelled, it begins nothing more and ends when its
// rollouts have; a root starts it again.

import * as wf from '@temporalio/workflow';
import { isOrder } from '../domain/run/blocks.ts';
import type { BlockInput } from '../domain/run/messages.ts';
import { countBegun } from '../domain/run/window.ts';
import { openHistoryLength } from './history-length.ts';
import { blockReport, orderBlock } from './messages.ts';
import { playWindow } from './play-window.ts';

/** Least time between two reports: of all blocks together four a second. */
const REPORT_MS = 5000;

export async function block(input: BlockInput): Promise<void> {
  const { run, block: name, window: state } = input;
  const history = openHistoryLength(input.maxHistoryEvents);
  let { order } = input;
  let isAlone = false;
  let stopAct = () => {};

  const follow = () => {
    state.to = isAlone ? state.next : undefined;
    state.paused = order.paused;
    state.maxConcurrent = order.limit;
    if (!order.stopping || state.stopping) return;
    state.stopping = state.counting = true;
    stopAct();
  };
  const leave = () => {
    isAlone = true;
    follow();
  };
  wf.setHandler(orderBlock, (given) => {
    history.did();
    if (!isOrder(given)) return;
    order = given;
    isAlone = false;
    follow();
  });
  wf.CancellationScope.current().cancelRequested.catch(leave);
  follow();

  let isClosing = false;
  let reported = '';
  const facts = () => `${state.next} ${state.inFlight.length} ${countBegun(state)}`;
  const sendReport = (ended: boolean) => {
    history.did();
    reported = facts();
    const { counts } = state;
    return wf.getExternalWorkflowHandle(run).signal(blockReport, {
      block: name,
      inFlight: countBegun(state),
      counts,
      ended,
    });
  };
  async function reportChanges(): Promise<void> {
    for (;;) {
      await wf.condition(() => isClosing || facts() !== reported);
      if (isClosing) return;
      await sendReport(false).catch(leave);
      await wf.condition(() => isClosing, REPORT_MS);
    }
  }

  return wf.CancellationScope.nonCancellable(async () => {
    const reporting = reportChanges();
    const allReported = () => {
      isClosing = true;
      return reporting;
    };
    await playWindow(input, state, {
      history,
      changed() {},
      many: true,
      onStop(act) {
        stopAct = act;
        if (state.stopping) act();
      },
      async moveOn() {
        await allReported();
        await wf.continueAsNew<typeof block>({ ...input, order, window: state });
      },
    });
    await allReported();
    if (!isAlone) await sendReport(true).catch(() => {});
  });
}
