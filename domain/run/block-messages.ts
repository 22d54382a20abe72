// The messages between the root of a large run and its blocks, and their form: any client of the server may signal, and
// a signal cannot be refused, so one of another form is ignored.

import { OUTCOMES } from '../rollout/ending.ts';
import type { CollectionCounts } from './progress.ts';

/** Limits of a block, and whether it may begin more. */
export interface Order {
  /** Rises: a block ignores one that is not newer than its last. */
  readonly order: number;
  readonly paused: boolean;
  readonly stopping: boolean;
  /** Rollouts in flight at most. */
  readonly window: number;
  /** Least time between two reports of its counts. */
  readonly reportMs: number;
  /** The run goes on without this block: it begins nothing more. */
  readonly dismissed?: boolean;
}

export interface BlockReport {
  readonly block: string;
  /** The last order that it follows. */
  readonly order: number;
  readonly next: number;
  readonly inFlight: number;
  /** Of those in flight, how many have not begun for all that the block knows; absent: few. */
  readonly starting?: number;
  readonly counts: CollectionCounts;
  readonly ended: boolean;
}

export function isOrder(given: unknown): given is Order {
  return isObject(given) && ['order', 'window', 'reportMs'].every((key) => isCount(given[key]));
}

export function isBlockReport(given: unknown): given is BlockReport {
  if (!isObject(given) || typeof given['block'] !== 'string') return false;
  return (
    ['order', 'next', 'inFlight'].every((key) => isCount(given[key])) &&
    isCount(given['starting'] ?? 0) &&
    isCounts(given['counts'])
  );
}

function isCounts(given: unknown): boolean {
  if (!isObject(given)) return false;
  const {
    outcomes,
    reasons,
    boundaries = {},
    verdicts = {},
    turns,
    tokens,
    steered = 0,
    rewardAt = [],
    failures,
  } = given;
  const series = ['judgedAt', 'rightAt', 'rightBy'].map((key) => given[key]);
  return (
    OUTCOMES.every((outcome) => isObject(outcomes) && isCount(outcomes[outcome])) &&
    [reasons, boundaries].every((counts) => isObject(counts) && Object.values(counts).every(isCount)) &&
    isObject(verdicts) &&
    Object.values(verdicts).every((counts) => isObject(counts) && Object.values(counts).every(isCount)) &&
    [turns, tokens ?? 0, steered].every(isCount) &&
    series.every((counts) => Array.isArray(counts) && counts.every(isCount)) &&
    Array.isArray(rewardAt) &&
    rewardAt.every((sums) => isObject(sums) && Object.values(sums).every(Number.isFinite)) &&
    Array.isArray(failures) &&
    failures.every(isObject)
  );
}

function isObject(given: unknown): given is Record<string, unknown> {
  return typeof given === 'object' && given !== null && !Array.isArray(given);
}

function isCount(given: unknown): boolean {
  return Number.isSafeInteger(given) && (given as number) >= 0;
}
