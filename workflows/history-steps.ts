// An execution's history is long enough to be left behind when the execution has done so much itself. The length that
// Temporal reports decides nothing, nor does the time: where a local activity lasts through several workflow tasks, a replay
// sees the length and the time of the last of them where the first execution saw those of the first.

export interface HistorySteps {
  /** A rollout or a block was begun, or a message came or went. */
  did(): void;
  isFull(): boolean;
}

const MAX_HISTORY_EVENTS = 4000;
/** A rollout's start and end, or an update, with their part of the workflow tasks: measured 4, at most 9. */
const EVENTS_PER_STEP = 5;

export function openHistorySteps(maxHistoryEvents = MAX_HISTORY_EVENTS): HistorySteps {
  let steps = 0;
  return {
    did: () => void steps++,
    isFull: () => EVENTS_PER_STEP * steps >= maxHistoryEvents,
  };
}
