// Jobs and commands in few words, for the trace of a run.

import type { Command, Ending, Job } from './wire.ts';
import { valueOf } from './wire.ts';

export function describeJob(job: Job): string {
  const [[kind, what]] = Object.entries(job) as [[string, Record<string, unknown>]];
  const seq = what['seq'] === undefined ? '' : ` ${what['seq'] as number}`;
  const name = (what['name'] ?? what['signalName'] ?? '') as string;
  const ending = (job.resolveActivity ?? job.resolveChildWorkflowExecution)?.result;
  const outcome = ending ? `: ${describeEnding(ending)}` : what['failed'] || what['failure'] ? ': failed' : '';
  const input = job.doUpdate?.input.map((p) => JSON.stringify(valueOf(p))).join() ?? '';
  return `${kind}${seq}${name && ` ${name}`}${input && `(${input})`}${outcome}`;
}

export function describeCommand(command: Command): string {
  const kinds = Object.entries(command).filter(
    ([key, value]) => value && key !== 'userMetadata' && key !== 'eventGroupMarkers',
  );
  const [kind, what] = kinds[0] as [string, Record<string, unknown>];
  const seq = what['seq'] === undefined ? '' : ` ${what['seq'] as number}`;
  const schedule = command.scheduleActivity ?? command.scheduleLocalActivity;
  if (schedule) return `${kind}${seq} ${schedule.activityType}(${JSON.stringify(valueOf(schedule.arguments[0]))})`;
  if (command.updateResponse) {
    const { accepted, completed } = command.updateResponse;
    return `update ${accepted ? 'accepted' : completed ? 'completed' : 'rejected'}`;
  }
  const child = command.startChildWorkflowExecution;
  if (child) return `${kind}${seq} ${child.workflowId}`;
  const result = command.completeWorkflowExecution?.result ?? command.continueAsNewWorkflowExecution?.arguments[0];
  return `${kind}${seq}${result ? ` ${JSON.stringify(valueOf(result))}` : ''}`;
}

function describeEnding({ completed, failed, cancelled, backoff }: Ending): string {
  if (completed) return `done ${JSON.stringify(valueOf(completed.result)) ?? ''}`;
  if (backoff) return 'backoff';
  let failure = (failed ?? cancelled)!.failure;
  while (failure.cause) failure = failure.cause;
  return `${failed ? 'failed' : 'cancelled'} ${failure.applicationFailureInfo?.type ?? failure.message}`;
}
