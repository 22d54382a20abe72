// A collection's sliding window, as plain JSON that continue-as-new can carry. Units are numbered
// epoch by epoch, each in data set order, then sample order: unit = group × samples + place in the group. Invariants: every
// unit of the window below `next` is in flight or counted, never both, and none is counted twice.

import { addResult, type CollectionCounts, noCounts } from './progress.ts';
import type { RolloutResult } from '../rollout/ending.ts';

export interface UnitInFlight {
  readonly unit: number;
  readonly query: string;
  readonly sample: number;
}

/** Every `of`-th ten units, counted from `from`; `number` is 0-based. */
interface Deal {
  readonly from: number;
  readonly number: number;
  readonly of: number;
}

export interface WindowState {
  readonly queries: number;
  readonly samples: number;
  readonly numTurns: number;
  /** Absent: 1. */
  readonly epochs?: number;
  /** Groups that may have begun in all, as the feed of a run that is trained on says; absent: all. */
  admitted?: number;
  /** The units that are dealt to a block of a large run (domain/run/blocks.ts), which plays no others; absent: all. */
  readonly deal?: Deal;
  /** The unit behind the last one that it begins; absent: the run's. */
  to?: number | undefined;
  /** It stops, and begins nothing, but does not know yet whether all that had begun is in flight or counted. */
  counting?: boolean;
  /** The first unit that was not started yet. */
  next: number;
  inFlight: UnitInFlight[];
  /** The starts in flight that the server has not acknowledged; absent: they were few at all times. */
  starting?: number;
  readonly counts: CollectionCounts;
  maxConcurrent: number;
  paused: boolean;
  stopping: boolean;
  /** Epoch milliseconds. */
  readonly startedAt: number;
}

interface WindowShape {
  readonly queries: number;
  readonly samples: number;
  readonly numTurns: number;
  readonly epochs?: number;
  readonly admitted?: number;
}

export function openWindow(shape: WindowShape, maxConcurrent: number, startedAt: number): WindowState {
  return {
    ...shape,
    next: 0,
    inFlight: [],
    counts: noCounts(),
    maxConcurrent,
    paused: false,
    stopping: false,
    startedAt,
  };
}

export function totalUnits({ queries, samples, epochs = 1 }: WindowShape): number {
  return queries * samples * epochs;
}

function endOf(w: WindowState): number {
  return w.to ?? totalUnits(w);
}

const DEAL_UNITS = 10;

/** The first unit of a deal that is `unit` or behind it. */
export function firstUnit({ from, number, of }: Deal, unit: number): number {
  const turn = Math.floor((unit - from) / DEAL_UNITS);
  const turns = (number - (turn % of) + of) % of;
  return turns === 0 ? unit : from + (turn + turns) * DEAL_UNITS;
}

/** How many units that belong to the window are in a row from `next`, `most` at most. */
export function unitsInRow({ deal, next }: WindowState, most: number): number {
  return deal ? Math.min(most, DEAL_UNITS - ((next - deal.from) % DEAL_UNITS)) : most;
}

export function canStart(w: WindowState): boolean {
  const units = Math.min(endOf(w), (w.admitted ?? Infinity) * w.samples);
  const wantsMore = w.stopping ? w.counting === true : !w.paused;
  return wantsMore && w.next < units && w.inFlight.length < w.maxConcurrent;
}

export function isWindowFinished(w: WindowState): boolean {
  return w.inFlight.length === 0 && ((w.stopping && !w.counting) || w.next >= endOf(w));
}

/** Units of a page may be started in any number, but always `next` first. */
export function beginUnit(w: WindowState, unit: UnitInFlight): void {
  passUnit(w, unit.unit);
  w.inFlight.push(unit);
}

/** The unit is not begun, and counts nowhere: the window stops. */
export function passUnit(w: WindowState, unit: number): void {
  if (unit !== w.next) throw new Error(`unit ${unit} begun, ${w.next} is next`);
  w.next = w.deal ? firstUnit(w.deal, unit + 1) : unit + 1;
}

/** Counts a unit's end once; a second report of the same unit changes nothing. */
export function settleUnit(w: WindowState, unit: number, result: RolloutResult): void {
  const at = w.inFlight.findIndex((u) => u.unit === unit);
  if (at < 0) return;
  w.inFlight.splice(at, 1);
  addResult(w.counts, result, w.numTurns);
}

/** The number of rollouts in flight that are known to have begun. */
export function countBegun(w: WindowState): number {
  return w.inFlight.length - (w.starting ?? 0);
}
