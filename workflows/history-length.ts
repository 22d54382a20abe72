// The length of an execution's own history, estimated by the steps that it took: when it is full, the execution continues as
// new. The length that Temporal reports decides nothing, nor does the time: where a local activity lasts through several
// workflow tasks, a replay sees the length and the time of the last of them where the first execution saw those of the first.

export interface HistoryLength {
  /** A rollout or a block was begun, or a message came or went. */
  did(): void;
  isFull(): boolean;
}

const MAX_HISTORY_EVENTS = 4000;
/** A rollout's start and end, or an update, with their part of the workflow tasks: measured 4, at most 9. */
const EVENTS_PER_STEP = 5;

export function openHistoryLength(maxHistoryEvents = MAX_HISTORY_EVENTS): HistoryLength {
  let steps = 0;
  return {
    did: () => void steps++,
    isFull: () => EVENTS_PER_STEP * steps >= maxHistoryEvents,
  };
}
