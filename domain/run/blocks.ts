// A run with more rollouts in flight than one workflow can have (domain/run/defaults.ts) is dealt, ten units at a time, to
// blocks: each plays its units as a window of its own (domain/run/window.ts) with its share of the limit. A root orders
// the shares and adds up what the blocks report. Guarantees: each unit belongs to one block; the limits that blocks follow
// add up to no more than the largest of the run's limits that one of them still follows. Leaves out how orders and reports
// travel (workflows/block-children.ts).

import { MAX_CONCURRENT, MAX_WINDOW } from './defaults.ts';
import { BOOLEAN, COUNT, NAME, objectOf, type TypeOf } from '../schema/fields.ts';
import { addCounts, type CollectionCounts, COUNTS, countEnded, noCounts } from './progress.ts';
import { countBegun, firstUnit, isWindowFinished, totalUnits } from './window.ts';
import type { UnitInFlight, WindowState } from './window.ts';

/** The orders of a root to a block. */
const ORDER = objectOf({
  paused: BOOLEAN,
  stopping: BOOLEAN,
  /** Rollouts in flight at most. */
  limit: COUNT,
});
export type Order = TypeOf<typeof ORDER>;

/** The reports of a block to its root. */
const REPORT = objectOf({
  block: NAME,
  inFlight: COUNT,
  counts: COUNTS,
  /** It has counted all that it played, and plays no more. */
  ended: BOOLEAN,
});
export type BlockReport = TypeOf<typeof REPORT>;

/** Any client of the server may signal, and a signal cannot be refused: one of another form is ignored. */
export const isOrder = (given: unknown): given is Order => ORDER[0](given);
export const isBlockReport = (given: unknown): given is BlockReport => REPORT[0](given);

export interface Block {
  /** The first unit that was dealt, and the block's number: `0-7`. A run that outgrew one workflow is dealt from another. */
  readonly name: string;
  readonly number: number;
  /** Rollouts that were in flight before the run was dealt. */
  readonly before: readonly UnitInFlight[];
  /** `absent`: it is to be started. */
  state: 'absent' | 'open' | 'ended';
  /** The newest one that it was sent. */
  order: Order;
  inFlight: number;
  counts: CollectionCounts;
  /** When it reported last or was started. Epoch milliseconds. */
  heardAt?: number;
}

/** The run's window, dealt from `next`; its counts are those of rollouts that ended before. */
export interface BlocksState extends WindowState {
  readonly blocks: readonly Block[];
  /** Rollouts in flight of one workflow at most. */
  readonly most: number;
}

const BLOCKS = MAX_CONCURRENT / MAX_WINDOW;
/** After so long without a report a block is sent its order again: it may be gone. */
export const SILENT_MS = 120_000;

export function isInBlocks(w: WindowState): w is BlocksState {
  return 'blocks' in w;
}

export function openBlocks(w: WindowState, most: number): BlocksState {
  const blocks = Array.from({ length: BLOCKS }, (_, number): Block => {
    const before = w.inFlight.filter((_unit, i) => i % BLOCKS === number);
    const isEmpty = before.length === 0 && firstUnit({ from: w.next, number, of: BLOCKS }, w.next) >= totalUnits(w);
    return {
      ...{ name: `${w.next}-${number}`, number, before, state: isEmpty ? 'ended' : 'absent' },
      ...{ order: { paused: false, stopping: false, limit: 0 }, inFlight: before.length, counts: noCounts() },
    };
  });
  return { ...w, inFlight: [], blocks, most };
}

/** The window of a block that is started: also one that was started before, which finds in its records what has ended. */
export function windowOf(s: BlocksState, { number, before }: Block): WindowState {
  const { blocks: _, most: __, ...run } = s;
  const deal = { from: run.next, number, of: BLOCKS };
  const ownFields = { deal, next: firstUnit(deal, run.next), inFlight: [...before], counts: noCounts() };
  return { ...run, ...ownFields, stopping: false };
}

/** The order of a block from now on: the open ones share the limit. */
export function orderFor({ blocks, paused, stopping, maxConcurrent, most }: BlocksState, block: Block): Order {
  const open = blocks.filter(({ state }) => state !== 'ended');
  const share = Math.floor((maxConcurrent + open.length - 1 - open.indexOf(block)) / open.length);
  // One that stops begins nothing, and takes up whatever had begun.
  return { paused, stopping, limit: stopping ? most : Math.min(share, most) };
}

/** It is to be started, or to be sent another order. */
export function isDue(s: BlocksState, block: Block): boolean {
  if (block.state !== 'open') return block.state === 'absent';
  const { paused, stopping, limit } = orderFor(s, block);
  return block.order.paused !== paused || block.order.stopping !== stopping || block.order.limit !== limit;
}

/** False for a block that is none of this run's. */
export function takeReport(
  s: BlocksState,
  { block: name, inFlight, counts, ended: over }: BlockReport,
  now: number,
): boolean {
  const block = s.blocks.find((one) => one.name === name);
  if (block && block.state !== 'ended')
    Object.assign(block, { inFlight, counts, heardAt: now, state: over ? 'ended' : block.state });
  return block !== undefined;
}

export function isRunFinished(w: WindowState): boolean {
  return isInBlocks(w) ? w.blocks.every(({ state }) => state === 'ended') : isWindowFinished(w);
}

interface RunFacts {
  readonly done: number;
  readonly inFlight: number;
  readonly counts: CollectionCounts;
}

/** The counts of a run: those of all its blocks, as each reported last. */
export function runFacts(w: WindowState): RunFacts {
  if (!isInBlocks(w)) return { done: countEnded(w.counts), inFlight: countBegun(w), counts: w.counts };
  const counts = noCounts();
  for (const part of [w, ...w.blocks]) addCounts(counts, part.counts);
  const inFlight = w.blocks.reduce((sum, block) => sum + block.inFlight, 0);
  return { done: countEnded(counts), inFlight, counts };
}
