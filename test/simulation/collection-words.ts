// A collection's commands in words, as its specification names them.

import type { CollectionInput } from '../../domain/run/messages.ts';
import type { WindowState } from '../../domain/run/window.ts';
import { type Command, type Schedule, valueOf } from './wire.ts';

/** The runs here are too small for blocks. */
export type WindowInput = CollectionInput & { readonly carried?: WindowState };
export type Place = 'accepting' | 'playing' | 'paging' | 'renewing' | 'concluding' | 'closed';

interface Input {
  readonly from?: number;
  readonly rollouts?: readonly { readonly unit: number }[];
}

/** One activity, as it is asked for. */
export function sayings(schedule: Schedule): string;
/** None for what does not matter here. */
export function sayings(command: Command): string[];
export function sayings(said: Schedule | Command): string | string[] {
  if ('activityType' in said) return activity(said);
  const schedule = said.scheduleActivity ?? said.scheduleLocalActivity;
  if (schedule) return [activity(schedule)];
  if (said.startChildWorkflowExecution) return [`start ${said.startChildWorkflowExecution.workflowId}`];
  const cancel = said.requestCancelExternalWorkflowExecution;
  if (cancel) return [`cancel ${cancel.workflowExecution.workflowId}`];
  if (said.updateResponse)
    return said.updateResponse.completed ? ['updated'] : said.updateResponse.rejected ? ['refused'] : [];
  if (said.startTimer) return ['timer'];
  if (said.continueAsNewWorkflowExecution) return ['continue'];
  if (said.completeWorkflowExecution) return ['complete'];
  if (said.cancelWorkflowExecution) return ['cancelled'];
  if (said.failWorkflowExecution) return ['failed'];
  if (said.setPatchMarker || said.modifyWorkflowProperties) return [];
  return [Object.keys(said)[0]!];
}

function activity({ activityType, arguments: args }: Schedule): string {
  const { from, rollouts } = valueOf<Input>(args[0]);
  if (activityType === 'page') return `page ${from}`;
  if (rollouts) return `settle ${rollouts.map((r) => r.unit).join()}`;
  return activityType;
}
