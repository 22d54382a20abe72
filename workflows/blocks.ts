// The root's side of a large run: starts its blocks as children, sends them orders, and counts what they report. A block
// whose workflow has closed before its end, or of which nothing was heard for long, is started again or asked, so that
// no lost message or terminated workflow stops the run. Blocks outlive this workflow's continue-as-new: their reports
// come as signals to the run.

import { WorkflowExecutionAlreadyStartedError } from '@temporalio/common';
import {
  allHandlersFinished,
  ChildWorkflowFailure,
  condition,
  getExternalWorkflowHandle,
  ParentClosePolicy,
  setHandler,
  sleep,
  startChild,
  TerminatedFailure,
  TimeoutFailure,
} from '@temporalio/workflow';
import { type BlockReport, isBlockReport } from '../domain/run/block-messages.ts';
import {
  type BlocksState,
  closed,
  isFinished,
  type OpenBlock,
  report,
  SILENT_MS,
  stepsOf,
  take,
  untilAsked,
} from '../domain/run/blocks.ts';
import { blockWorkflowId } from '../domain/run/ids.ts';
import type { CollectionInput } from '../domain/run/messages.ts';
import { steeringPriority } from '../domain/run/priority.ts';
import { TASK_QUEUE } from '../domain/run/queues.ts';
import { openWindow } from '../domain/run/window.ts';
import { block as blockWorkflow } from './block.ts';
import { blockReport, orderBlock } from './messages.ts';
import type { HistorySteps } from './history-steps.ts';
import { RUN } from './search-attributes.ts';

export interface BlockReports {
  /** Gives all reports to come to `hear`, which says whether the block is one of this run. */
  to(hear: (reported: BlockReport) => boolean): void;
}

/** A block of an earlier root, of other ranges, is dismissed: its units belong to others. Set before the first await. */
export function openBlockReports({ run, carried }: CollectionInput): BlockReports {
  let hear = (reported: BlockReport) =>
    carried !== undefined && 'blocks' in carried && report(carried, reported, Date.now());
  setHandler(blockReport, (reported) => {
    if (!isBlockReport(reported) || hear(reported) || reported.ended) return;
    const dismissal = {
      order: reported.order + 1,
      paused: true,
      stopping: false,
      window: 0,
      reportMs: 0,
      dismissed: true,
    };
    getExternalWorkflowHandle(blockWorkflowId(run, reported.block))
      .signal(orderBlock, dismissal)
      .catch(() => {});
  });
  return {
    to(given) {
      hear = given;
    },
  };
}

export interface Root {
  readonly reports: BlockReports;
  readonly history: HistorySteps;
  changed(): void;
  /** Continues as new, with the state as it is. */
  moveOn(): Promise<unknown>;
}

export async function playBlocks(
  input: CollectionInput,
  state: BlocksState,
  { reports, history, changed, moveOn }: Root,
): Promise<void> {
  const { run, out } = input;
  /** Blocks of which a start or an order is not acknowledged yet. */
  const busy = new Set<OpenBlock>();
  const heardAt = new Map<string, number>();
  let failure: { readonly cause: unknown } | undefined;
  let isOver = false;
  const isOpen = (block: OpenBlock) => state.blocks.includes(block);
  const hear = (reported: BlockReport) => {
    heardAt.set(reported.block, Date.now());
    history.did();
    const known = report(state, reported, Date.now());
    if (known) changed();
    return known;
  };
  reports.to(hear);

  async function start(block: OpenBlock): Promise<void> {
    const { name, from, to, before, order } = block;
    const { queries, samples, numTurns, epochs, most, startedAt } = state;
    const shape = { queries, samples, numTurns, ...(epochs === undefined ? {} : { epochs }) };
    const window = { ...openWindow(shape, order.window, startedAt), next: from, to, inFlight: [...(before ?? [])] };
    block.absent = false;
    block.heardAt ??= Date.now();
    try {
      const child = await startChild(blockWorkflow, {
        workflowId: blockWorkflowId(run, name),
        taskQueue: TASK_QUEUE,
        args: [{ run, out, block: name, to, most, order, window, ...limitOf(input) }],
        parentClosePolicy: ParentClosePolicy.ABANDON,
        staticSummary: `rollouts ${from} to ${to} of ${run}`,
        priority: steeringPriority(run),
        typedSearchAttributes: [{ key: RUN, value: run }],
      });
      child.result().then(hear, (error: unknown) => lost(block, error));
    } catch (error) {
      if (!(error instanceof WorkflowExecutionAlreadyStartedError)) failure = { cause: error };
      else await send(block);
    }
  }

  async function send(block: OpenBlock): Promise<void> {
    try {
      await getExternalWorkflowHandle(blockWorkflowId(run, block.name)).signal(orderBlock, block.order);
    } catch {
      if (isOpen(block) && !block.absent) closed(state, block);
    }
  }

  function lost(block: OpenBlock, error: unknown): void {
    const cause = error instanceof ChildWorkflowFailure ? error.cause : error;
    if (cause instanceof TerminatedFailure || cause instanceof TimeoutFailure) {
      if (isOpen(block) && !block.absent) closed(state, block);
    } else failure = { cause };
  }

  const whileBusy = (block: OpenBlock, work: Promise<void>) => {
    history.did();
    busy.add(block);
    void work.finally(() => busy.delete(block));
  };

  async function askSilent(): Promise<void> {
    for (;;) {
      await sleep(untilAsked(state, Date.now()));
      if (isOver) return;
      delete state.askAt;
      for (const block of state.blocks) {
        if (busy.has(block) || block.absent || Date.now() - (heardAt.get(block.name) ?? 0) < SILENT_MS) continue;
        block.order = { ...block.order, order: ++state.orders };
        whileBusy(block, send(block));
      }
    }
  }
  void askSilent();

  const due = () => {
    const { orders, opens } = stepsOf(state);
    return { orders: orders.filter(({ block }) => !busy.has(block)), opens };
  };
  const isDue = () => {
    const { orders, opens } = due();
    return orders.length + opens.length > 0 || state.blocks.some((block) => block.absent && !busy.has(block));
  };
  while (!isFinished(state)) {
    await condition(() => failure !== undefined || isFinished(state) || history.isFull() || isDue());
    if (failure) throw failure.cause;
    if (history.isFull() && !isFinished(state)) {
      await condition(() => busy.size === 0 && allHandlersFinished());
      isOver = true;
      await moveOn();
    }
    const ordered = take(state, due());
    for (const block of state.blocks) {
      if (busy.has(block)) continue;
      if (block.absent) whileBusy(block, start(block));
      else if (ordered.includes(block)) whileBusy(block, send(block));
    }
  }
  isOver = true;
}

const limitOf = ({ maxHistoryEvents }: CollectionInput) => (maxHistoryEvents === undefined ? {} : { maxHistoryEvents });
