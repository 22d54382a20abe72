// A range of a large run's units, played as a window of its own. Follows its root's orders and reports its counts, at
// last when it has ended. Without a root it begins nothing more, and ends when its rollouts have; the rest is played when
// a root starts it again. A cancellation of a block alone is ignored: the run is cancelled as a whole.

import {
  CancellationScope,
  condition,
  continueAsNew,
  getExternalWorkflowHandle,
  setHandler,
} from '@temporalio/workflow';
import { type BlockReport, isOrder, type Order } from '../domain/run/block-messages.ts';
import type { BlockInput } from '../domain/run/messages.ts';
import { type HistorySteps, openHistorySteps } from './history-steps.ts';
import { blockReport, orderBlock } from './messages.ts';
import { playWindow } from './play-window.ts';

export async function block(input: BlockInput): Promise<BlockReport> {
  const { window: state, to } = input;
  const history = openHistorySteps(input.maxHistoryEvents);
  let { order } = input;
  let hasRoot = true;
  let stopAct = () => {};

  const follow = () => {
    state.to = hasRoot && !order.dismissed ? to : state.next;
    state.paused = order.paused;
    state.maxConcurrent = Math.min(order.window, input.most);
    if (!order.stopping || state.stopping) return;
    state.stopping = true;
    stopAct();
  };
  setHandler(orderBlock, (given: Order) => {
    history.did();
    if (!isOrder(given) || given.order <= order.order) return;
    order = given;
    hasRoot = true;
    follow();
  });
  follow();

  return CancellationScope.nonCancellable(async () => {
    const reports = openReports(input, {
      history,
      order: () => order,
      rootIsGone() {
        hasRoot = false;
        follow();
      },
    });
    await playWindow(input, state, {
      history,
      changed: reports.changed,
      many: true,
      onStop(act) {
        stopAct = act;
        if (state.stopping) act();
      },
      async moveOn() {
        await reports.drained();
        await continueAsNew<typeof block>({ ...input, order, window: state });
      },
    });
    return reports.end(hasRoot && !order.dismissed);
  });
}

interface Surroundings {
  readonly history: HistorySteps;
  readonly order: () => Order;
  readonly rootIsGone: () => void;
}

interface Reports {
  changed(): void;
  /** No report is on its way, and none follows. */
  drained(): Promise<void>;
  /** `awaited`: the root counts on it. */
  end(awaited: boolean): Promise<BlockReport>;
}

function openReports(
  { run, block: name, to, window: state }: BlockInput,
  { history, order, rootIsGone }: Surroundings,
): Reports {
  let changes = 0;
  let sending = false;
  let closing = false;
  const facts = () => ({
    order: order().order,
    next: state.next,
    inFlight: state.inFlight.length,
    starting: state.starting,
    changes,
  });
  let reported = { ...facts(), at: Date.now() };
  // The root waits for these before it shares its limit again.
  const isUrgent = () => order().order > reported.order || (state.next >= to && reported.next < to);
  const isDue = () =>
    !closing &&
    (isUrgent() ||
      facts().changes !== reported.changes ||
      facts().inFlight !== reported.inFlight ||
      facts().starting !== reported.starting);

  const send = async (ended: boolean): Promise<BlockReport> => {
    history.did();
    reported = { ...facts(), at: Date.now() };
    const { order: followed, next, inFlight, starting } = reported;
    const some = starting === undefined ? {} : { starting };
    const said: BlockReport = { block: name, order: followed, next, inFlight, ...some, counts: state.counts, ended };
    await getExternalWorkflowHandle(run).signal(blockReport, said);
    return said;
  };
  const sendAll = async () => {
    for (;;) {
      await condition(isDue);
      // Always a timer: a replay sees another time where a local activity lasted through several tasks.
      const wait = Math.max(1, reported.at + order().reportMs - Date.now());
      if (!isUrgent()) await condition(() => closing || isUrgent(), wait);
      if (closing) return;
      sending = true;
      await send(false).catch(rootIsGone);
      sending = false;
    }
  };
  void sendAll();

  return {
    changed: () => void changes++,
    async drained() {
      await condition(() => !sending);
      closing = true;
    },
    async end(awaited) {
      await condition(() => !sending);
      closing = true;
      const { order: followed, next } = facts();
      const end: BlockReport = { block: name, order: followed, next, inFlight: 0, counts: state.counts, ended: true };
      // A root that is gone finds what had ended in the records.
      if (awaited) await send(true).catch(() => {});
      return end;
    },
  };
}
