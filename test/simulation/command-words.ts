// A workflow's commands in words, as the specifications name them.

import type { CollectionInput } from '../../domain/run/messages.ts';
import type { WindowState } from '../../domain/run/window.ts';
import { type Command, type Schedule, valueOf } from './wire.ts';

/** The runs here are too small for blocks. */
export type WindowInput = CollectionInput & { readonly carried?: WindowState };
export type Place = 'accepting' | 'playing' | 'paging' | 'renewing' | 'concluding' | 'closed';

const WORDS: { readonly [kind in keyof Command]?: string } = {
  requestCancelActivity: 'request-cancel',
  requestCancelLocalActivity: 'request-cancel',
  startTimer: 'timer',
  cancelTimer: 'cancel-timer',
  upsertWorkflowSearchAttributes: 'upsert',
  modifyWorkflowProperties: 'memo',
  continueAsNewWorkflowExecution: 'continue',
  completeWorkflowExecution: 'complete',
  cancelWorkflowExecution: 'cancelled',
  failWorkflowExecution: 'failed',
};

/** One word at most; none for what does not matter here. `activity`: the word of one that is asked for. */
export function wordsOf(command: Command, activity: (schedule: Schedule) => string): string[] {
  const schedule = command.scheduleActivity ?? command.scheduleLocalActivity;
  if (schedule) return [activity(schedule)];
  if (command.startChildWorkflowExecution) return [`start ${command.startChildWorkflowExecution.workflowId}`];
  const cancel = command.requestCancelExternalWorkflowExecution;
  if (cancel) return [`cancel ${cancel.workflowExecution.workflowId}`];
  if (command.updateResponse)
    return command.updateResponse.completed ? ['updated'] : command.updateResponse.rejected ? ['refused'] : [];
  if (command.setPatchMarker) return [];
  const known = Object.entries(WORDS).find(([kind]) => command[kind as keyof Command]);
  return [known ? known[1] : Object.keys(command)[0]!];
}

/** Of an activity of a collection, as it is asked for. */
export function collectionWord({ activityType, arguments: args }: Schedule): string {
  const { from, rollouts } = valueOf<{ from?: number; rollouts?: readonly { readonly unit: number }[] }>(args[0]);
  if (activityType === 'page') return `page ${from}`;
  return rollouts ? `settle ${rollouts.map((r) => r.unit).join()}` : activityType;
}
