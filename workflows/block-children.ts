// The root's side of a large run: starts its blocks as children and sends them orders. A block whose workflow closed before
// it has counted all is started again, and one that is silent is sent its order, so that no lost message or terminated
// workflow stops the run. Blocks outlive this workflow's continue-as-new: their reports come as signals to the run.

import { WorkflowExecutionAlreadyStartedError } from '@temporalio/common';
import * as wf from '@temporalio/workflow';
import {
  type Block,
  type BlocksState,
  isDue,
  isRunFinished,
  orderFor,
  SILENT_MS,
  windowOf,
} from '../domain/run/blocks.ts';
import { blockWorkflowId } from '../domain/names/ids.ts';
import type { CollectionInput } from '../domain/run/messages.ts';
import { steeringPriority, TASK_QUEUE } from '../domain/names/queues.ts';
import { block as blockWorkflow } from './block.ts';
import { orderBlock } from './messages.ts';
import type { HistoryLength } from './history-length.ts';
import { RUN_ATTRIBUTE } from './search-attributes.ts';

/** `moveOn` continues as new, with the state as it is. */
export async function playBlocks(
  { run, out, maxHistoryEvents }: CollectionInput,
  state: BlocksState,
  { history, moveOn }: { readonly history: HistoryLength; readonly moveOn: () => Promise<unknown> },
): Promise<void> {
  /** Blocks of which a start or an order is not acknowledged yet. */
  const busy = new Set<Block>();
  let failure: { readonly cause: unknown } | undefined;

  async function start(block: Block): Promise<void> {
    block.state = 'open';
    block.heardAt = Date.now();
    const { name, order } = block;
    try {
      const child = await wf.startChild(blockWorkflow, {
        workflowId: blockWorkflowId(run, name),
        taskQueue: TASK_QUEUE,
        args: [{ run, out, maxHistoryEvents, block: name, order, window: windowOf(state, block) }],
        parentClosePolicy: wf.ParentClosePolicy.ABANDON,
        staticSummary: `block ${name} of ${run}`,
        priority: steeringPriority(run),
        typedSearchAttributes: [{ key: RUN_ATTRIBUTE, value: run }],
      });
      child.result().then(
        () => closed(block),
        (error: unknown) => closed(block, error),
      );
    } catch (error) {
      if (!(error instanceof WorkflowExecutionAlreadyStartedError)) throw error;
      await send(block);
    }
  }

  async function send(block: Block): Promise<void> {
    const handle = wf.getExternalWorkflowHandle(blockWorkflowId(run, block.name));
    await handle.signal(orderBlock, block.order).catch(() => closed(block));
  }

  /** One that has not said that it ended is started again. */
  function closed(block: Block, error?: unknown): void {
    const cause = error instanceof wf.ChildWorkflowFailure ? error.cause : error;
    const isLost = cause === undefined || cause instanceof wf.TerminatedFailure || cause instanceof wf.TimeoutFailure;
    if (!isLost) failure = { cause };
    else if (block.state === 'open') block.state = 'absent';
  }

  const actOn = (block: Block) => {
    history.did();
    busy.add(block);
    block.order = orderFor(state, block);
    const done = block.state === 'absent' ? start(block) : send(block);
    done.catch((cause: unknown) => (failure = { cause })).finally(() => busy.delete(block));
  };
  const due = () => state.blocks.filter((block) => !busy.has(block) && isDue(state, block));
  const isSilent = ({ state: is, heardAt = 0 }: Block) => is === 'open' && Date.now() - heardAt >= SILENT_MS;

  while (!isRunFinished(state)) {
    due().forEach(actOn);
    const silent = state.blocks.filter((block) => !busy.has(block) && isSilent(block));
    silent.forEach(actOn);
    const woken = () => failure !== undefined || isRunFinished(state) || history.isFull() || due().length > 0;
    await wf.condition(woken, SILENT_MS / 2);
    if (failure) throw failure.cause;
    if (!history.isFull() || isRunFinished(state)) continue;
    await wf.condition(() => busy.size === 0 && wf.allHandlersFinished());
    await moveOn();
  }
}
