// A run with more rollouts in flight than one workflow can have (domain/run/defaults.ts): its root gives ranges of units to
// blocks, each a window of its own (domain/run/window.ts), in the order of the data set, and shares its limit among them.
// Plain JSON that continue-as-new can carry. Guarantees: each unit belongs to one open block, or its block was counted
// once; the blocks never have more in flight than the limit, by any order that they may still follow, except by what
// was in flight when the limit fell. Leaves out how orders and reports travel (workflows/blocks.ts).

import type { BlockReport, Order } from './block-messages.ts';
import { addCounts, type CollectionCounts, ended, noCounts } from './progress.ts';
import {
  begun,
  done,
  isFinished as windowIsFinished,
  totalUnits,
  type UnitInFlight,
  type WindowShape,
  type WindowState,
} from './window.ts';

export interface OpenBlock {
  /** The units that it was made for: `2000-4000`. */
  readonly name: string;
  readonly from: number;
  to: number;
  /** In flight before it began, of a run that outgrew one workflow. */
  readonly before?: readonly UnitInFlight[];
  /** The last one sent. */
  order: Order;
  /** In flight at most, by every order that it may still follow. */
  held: number;
  next: number;
  inFlight: number;
  /** Of those in flight, how many have not begun for all that the block knows. */
  starting?: number;
  /** When it reported last, or was first started. Epoch milliseconds; absent until it is started. */
  heardAt?: number;
  counts: CollectionCounts;
  /** It is to be started: it is new, or its workflow closed before its end. */
  absent: boolean;
  /** It was started before: what had ended is in its records. */
  again?: boolean;
}

export interface BlocksState extends Omit<WindowShape, 'admitted'> {
  /** The first unit of no block yet. */
  next: number;
  readonly blocks: OpenBlock[];
  /** Of the blocks that have ended. */
  readonly counts: CollectionCounts;
  maxConcurrent: number;
  paused: boolean;
  stopping: boolean;
  /** Epoch milliseconds. */
  readonly startedAt: number;
  /** Rollouts in flight of one workflow at most. */
  readonly most: number;
  /** Number of the last order. */
  orders: number;
  /** When blocks that were silent are asked next. Epoch milliseconds. */
  askAt?: number;
}

/** `most`: what one workflow may have in flight. The first block gets what the window has in flight. */
export function openBlocks(w: WindowState, most: number): BlocksState {
  const { queries, samples, numTurns, epochs, next, inFlight, counts, maxConcurrent, paused, stopping, startedAt } = w;
  const s: BlocksState = {
    ...{ queries, samples, numTurns, ...(epochs === undefined ? {} : { epochs }) },
    ...{ next, blocks: [], counts, maxConcurrent, paused, stopping, startedAt, most },
    // An earlier root of this run counted from its own start.
    orders: startedAt,
  };
  if (inFlight.length > 0) open(s, { from: next, to: next, before: inFlight }, inFlight.length);
  return s;
}

/** Half of what one workflow may have, so that the last blocks of a run can take over from those that ended. */
const blockWindow = ({ most }: BlocksState): number => Math.max(1, Math.floor(most / 2));
const blocksFor = (s: BlocksState): number => Math.ceil(s.maxConcurrent / blockWindow(s));
/** Open blocks at most, beside those that the limit needs: of some only the slowest rollouts are left. */
const OLD_BLOCKS = 100;
/** Of all blocks together at most two a second. */
const MS_PER_REPORT = 500;
const LEAST_REPORT_MS = 2000;
/** A window grows by this part of its share at least: each order costs both sides a workflow task. */
const LEAST_PART = 8;

/** After so long without a report a block is asked for one. */
export const SILENT_MS = 120_000;
/** One that is asked answers long before: after so long without a report its counts are old. */
export const OVERDUE_MS = 2.5 * SILENT_MS;

/**
 * Milliseconds until the silent are asked. The time is carried: an execution of the root may be shorter than the silence,
 * and learns nothing of a block that was terminated and was started by an earlier one.
 */
export function untilAsked(s: BlocksState, now: number): number {
  s.askAt ??= now + SILENT_MS;
  return Math.max(1, s.askAt - now);
}

type Range = Pick<OpenBlock, 'from' | 'to' | 'before'>;

function open(s: BlocksState, { from, to, before }: Range, window: number): void {
  s.blocks.push({
    ...{ name: `${from}-${to}`, from, to, ...(before ? { before } : {}) },
    order: ordered(s, { paused: s.paused, stopping: s.stopping, window }),
    ...{ held: window, next: from, inFlight: before?.length ?? 0, counts: noCounts(), absent: true },
  });
}

type Wanted = Pick<Order, 'paused' | 'stopping' | 'window'>;

function ordered(s: BlocksState, wanted: Wanted): Order {
  const reportMs = Math.max(LEAST_REPORT_MS, MS_PER_REPORT * Math.max(blocksFor(s), s.blocks.length));
  return { order: ++s.orders, ...wanted, reportMs };
}

export interface Steps {
  /** Open blocks, each with what it is to do from now on. */
  readonly orders: readonly { readonly block: OpenBlock; readonly wanted: Wanted }[];
  readonly opens: readonly (Range & { readonly window: number })[];
}

/** The steps that are due; after them more may be, soon none. */
export function stepsOf(s: BlocksState): Steps {
  const share = Math.ceil(s.maxConcurrent / blocksFor(s));
  const least = Math.max(1, Math.floor(share / LEAST_PART));
  const begins = s.blocks.filter(({ next, to }) => next < to);
  const windows = new Map(begins.map((block) => [block, block.order.window]));
  let free = s.maxConcurrent - s.blocks.reduce((sum, { held }) => sum + held, 0);
  let left = s.maxConcurrent - s.blocks.reduce((sum, b) => (windows.has(b) ? sum : sum + b.held), 0);
  const fair = new Map<OpenBlock, number>();
  const give = (most: number) => {
    for (const block of begins) {
      const more = Math.min(Math.max(left, 0), most - (fair.get(block) ?? 0));
      fair.set(block, (fair.get(block) ?? 0) + more);
      left -= more;
    }
  };
  give(share);
  const mostBlocks = blocksFor(s) + OLD_BLOCKS;
  if (s.next >= totalUnits(s) || s.blocks.length >= mostBlocks) give(s.most);
  for (const [block, wanted] of fair) {
    const { window } = block.order;
    const most = Math.min(wanted, block.held + Math.max(0, free));
    const grows = most > window && (most === wanted || most - window >= least);
    if (!grows && wanted >= window) continue;
    windows.set(block, Math.min(most, wanted));
    free -= Math.max(0, most - block.held);
  }
  const opens: (Range & { window: number })[] = [];
  const end = s.paused || s.stopping ? s.next : totalUnits(s);
  for (let from = s.next; from < end; from = opens.at(-1)!.to) {
    const window = Math.min(share, left, free);
    const isFirst = begins.length + opens.length === 0;
    if (window < (isFirst ? 1 : least) || s.blocks.length + opens.length >= mostBlocks) break;
    // Of few units each block gets its part, so that the limit is filled.
    const units = Math.max(share, Math.min(2 * s.most, Math.ceil((end - from) / blocksFor(s))));
    opens.push({ from, to: Math.min(from + units, end), window });
    left -= window;
    free -= window;
  }
  const orders = s.blocks.flatMap((block) => {
    const wanted = { ...steered(s, block), window: windows.get(block) ?? block.order.window };
    const { paused, stopping, window } = block.order;
    const same = wanted.stopping === stopping && wanted.window === window && wanted.paused === paused;
    return same || (!windows.has(block) && wanted.stopping === stopping) ? [] : [{ block, wanted }];
  });
  return { orders, opens };
}

/** A block that is started again while the run stops counts what had begun, before it stops too. */
function steered(s: BlocksState, { again, next, to }: OpenBlock): Pick<Wanted, 'paused' | 'stopping'> {
  const counts = s.stopping && again === true && next < to;
  return { paused: s.paused && !counts, stopping: s.stopping && !counts };
}

/** Takes the steps, and returns the blocks that have a new order. */
export function take(s: BlocksState, { orders, opens }: Steps): OpenBlock[] {
  for (const { block, wanted } of orders) {
    block.order = ordered(s, wanted);
    block.held = Math.max(block.held, wanted.window);
  }
  for (const { window, ...range } of opens) {
    open(s, range, window);
    s.next = range.to;
  }
  return orders.map(({ block }) => block);
}

/** False for a block that is none of this run's: it is to be dismissed. */
export function report(s: BlocksState, reported: BlockReport, now?: number): boolean {
  const at = s.blocks.findIndex(({ name }) => name === reported.block);
  const block = s.blocks[at];
  if (!block) return false;
  const { order, next, inFlight, starting = 0, counts } = reported;
  if (now !== undefined) block.heardAt = now;
  if (!reported.ended) {
    Object.assign(block, { next, inFlight, starting, counts });
    if (next >= block.to) block.held = inFlight;
    else if (order >= block.order.order) block.held = Math.max(block.order.window, inFlight);
  } else if (next < block.to && !block.order.stopping) closed(s, block);
  else {
    s.blocks.splice(at, 1);
    addCounts(s.counts, counts);
  }
  return true;
}

/**
 * The block's workflow has closed before its end: it is started again, and learns from its records what had ended. While the
 * run stops, it takes up what it had reported; a rollout that it began since then plays to its own end, and is not counted.
 */
export function closed(s: BlocksState, block: OpenBlock): void {
  if (s.stopping) block.to = Math.max(block.next, block.from);
  const window = Math.max(1, block.order.window);
  Object.assign(block, { absent: true, again: true, next: block.from, held: Math.max(block.held, window) });
  block.order = ordered(s, { ...steered(s, block), window });
}

export function isFinished(s: WindowState | BlocksState): boolean {
  if (!('blocks' in s)) return windowIsFinished(s);
  return s.blocks.length === 0 && (s.stopping || s.next >= totalUnits(s));
}

export interface RunFacts {
  readonly done: number;
  readonly inFlight: number;
  readonly counts: CollectionCounts;
  /** When each open block reported last or was first started, in epoch milliseconds; absent for a run without blocks. */
  readonly heardAt?: readonly number[];
}

/** Of all blocks, as each reported last. */
export function runFacts(s: WindowState | BlocksState): RunFacts {
  if (!('blocks' in s)) return { done: done(s), inFlight: begun(s), counts: s.counts };
  const counts = copyOf(s.counts);
  for (const block of s.blocks) addCounts(counts, block.counts);
  const inFlight = s.blocks.reduce((sum, b) => sum + b.inFlight - (b.starting ?? 0), 0);
  const heardAt = s.blocks.flatMap((block) => block.heardAt ?? []);
  return { done: ended(counts), inFlight, counts, heardAt };
}

function copyOf(counts: CollectionCounts): CollectionCounts {
  const copy = noCounts();
  addCounts(copy, counts);
  return copy;
}
