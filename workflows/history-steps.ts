// When an execution's history is long enough to be left behind: by what it did itself. The length that Temporal reports decides
// nothing, nor does the time: where a local activity lasts through several workflow tasks, a replay sees the length and the
// time of the last of them where the first execution saw those of the first, and would go another way.

import { patched, workflowInfo } from '@temporalio/workflow';
import { REPLAYED_ALIKE } from './patches.ts';

export interface HistorySteps {
  /** Nothing is decided by the time, nor by the length that Temporal reports. */
  readonly byCount: boolean;
  /** A rollout or a block was begun, or a message came or went. */
  did(): void;
  isFull(): boolean;
}

const MAX_HISTORY_EVENTS = 4000;
/** A rollout's start and end, or an update, with their part of the workflow tasks: measured 4, at most 9. */
const EVENTS_PER_STEP = 5;

/** Before anything else in an execution: one that an older worker began goes on as it began. */
export function openHistorySteps(maxHistoryEvents = MAX_HISTORY_EVENTS): HistorySteps {
  const byCount = patched(REPLAYED_ALIKE);
  let steps = 0;
  return {
    byCount,
    did: () => void steps++,
    isFull() {
      if (byCount) return EVENTS_PER_STEP * steps >= maxHistoryEvents;
      const { historyLength, continueAsNewSuggested } = workflowInfo();
      return continueAsNewSuggested || historyLength >= maxHistoryEvents;
    },
  };
}
