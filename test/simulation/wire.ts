// How the Temporal server writes things down: payloads, failures and activation jobs as plain objects, in the
// shapes that the SDK's workflow runtime takes and gives.

import { msToTs } from '@temporalio/common/lib/time.js';
import type { Boundary } from '../../domain/errors/reasons.ts';

export interface Payload {
  readonly metadata?: Readonly<Record<string, Uint8Array>> | null;
  readonly data?: Uint8Array | null;
}

export interface Failure {
  readonly message: string;
  readonly cause?: Failure;
  readonly applicationFailureInfo?: {
    readonly type: string;
    readonly nonRetryable: boolean;
    readonly details?: { readonly payloads: readonly Payload[] };
  };
  readonly timeoutFailureInfo?: { readonly timeoutType: number };
  readonly canceledFailureInfo?: object;
  readonly terminatedFailureInfo?: object;
  readonly activityFailureInfo?: object;
  readonly childWorkflowExecutionFailureInfo?: object;
}

/** How an activity or a child ended; exactly one field is set. */
export interface Ending {
  readonly completed?: { readonly result: Payload };
  readonly failed?: { readonly failure: Failure };
  readonly cancelled?: { readonly failure: Failure };
  readonly backoff?: {
    readonly attempt: number;
    readonly backoffDuration: object;
    readonly originalScheduleTime: object;
  };
}

interface Seq {
  readonly seq: number;
}

/** One job of an activation; exactly one field is set. */
export interface Job {
  readonly initializeWorkflow?: object;
  readonly updateRandomSeed?: object;
  readonly notifyHasPatch?: object;
  readonly signalWorkflow?: { readonly signalName: string; readonly input: readonly Payload[] };
  readonly doUpdate?: { readonly id: string; readonly name: string; readonly input: readonly Payload[] };
  readonly cancelWorkflow?: object;
  readonly fireTimer?: Seq;
  readonly resolveActivity?: Seq & { readonly isLocal: boolean; readonly result: Ending };
  readonly resolveChildWorkflowExecutionStart?: Seq & { readonly succeeded?: object; readonly failed?: object };
  readonly resolveChildWorkflowExecution?: Seq & { readonly result: Ending };
  readonly resolveRequestCancelExternalWorkflow?: Seq & { readonly failure?: Failure };
  readonly queryWorkflow?: object;
}

export interface Schedule extends Seq {
  readonly activityType: string;
  readonly arguments: readonly Payload[];
  readonly attempt?: number;
}

/** One command of a workflow; exactly one field is set. Only what is read here is named. */
export interface Command {
  readonly scheduleActivity?: Schedule;
  readonly scheduleLocalActivity?: Schedule;
  readonly requestCancelActivity?: Seq;
  readonly requestCancelLocalActivity?: Seq;
  readonly startTimer?: Seq & { readonly startToFireTimeout: { readonly seconds: unknown; readonly nanos: number } };
  readonly cancelTimer?: Seq;
  readonly startChildWorkflowExecution?: Seq & {
    readonly workflowId: string;
    readonly workflowType: string;
    readonly input: readonly Payload[];
    readonly searchAttributes?: object | null;
  };
  readonly requestCancelExternalWorkflowExecution?: Seq & {
    readonly workflowExecution: { readonly workflowId: string };
  };
  readonly upsertWorkflowSearchAttributes?: {
    readonly searchAttributes?: { readonly indexedFields: Record<string, Payload> };
  };
  readonly modifyWorkflowProperties?: { readonly upsertedMemo: { readonly fields: Record<string, Payload> } };
  readonly updateResponse?: {
    readonly protocolInstanceId: string;
    readonly accepted?: object;
    readonly completed?: Payload;
    readonly rejected?: Failure;
  };
  readonly respondToQuery?: { readonly succeeded?: { readonly response: Payload }; readonly failed?: Failure };
  readonly continueAsNewWorkflowExecution?: { readonly arguments: readonly Payload[] };
  readonly completeWorkflowExecution?: { readonly result: Payload };
  readonly failWorkflowExecution?: { readonly failure: Failure };
  readonly cancelWorkflowExecution?: object;
  readonly setPatchMarker?: { readonly patchId: string };
}

const JSON_PLAIN = { encoding: Buffer.from('json/plain') };
const NULL: Payload = { metadata: { encoding: Buffer.from('binary/null') } };

export function payload(value: unknown): Payload {
  return value === undefined ? NULL : { metadata: JSON_PLAIN, data: Buffer.from(JSON.stringify(value)) };
}

export function valueOf<T>(written: Payload | undefined | null): T {
  return (written?.data?.length ? JSON.parse(Buffer.from(written.data).toString()) : undefined) as T;
}

export function isTerminal(command: Command): boolean {
  return Boolean(
    command.completeWorkflowExecution ||
    command.failWorkflowExecution ||
    command.cancelWorkflowExecution ||
    command.continueAsNewWorkflowExecution,
  );
}

/** As an activity of ours throws it, with its boundary; without one as a worker from before boundaries did, or a bug. */
export function applicationFailure(type: string, nonRetryable: boolean, boundary?: Boundary): Failure {
  const details = boundary && { details: { payloads: [payload({ boundary })] } };
  return { message: `It is simulated: ${type}.`, applicationFailureInfo: { type, nonRetryable, ...details } };
}

const HEARTBEAT = 4;
const SCHEDULE_TO_CLOSE = 3;
export const heartbeatTimeout: Failure = {
  message: 'activity Heartbeat timeout',
  timeoutFailureInfo: { timeoutType: HEARTBEAT },
};
export function scheduleToCloseTimeout(last: Failure): Failure {
  return {
    message: 'activity ScheduleToClose timeout',
    timeoutFailureInfo: { timeoutType: SCHEDULE_TO_CLOSE },
    cause: last,
  };
}
export const cancelledFailure: Failure = { message: 'It was cancelled.', canceledFailureInfo: {} };
export const terminatedFailure: Failure = { message: 'It was terminated.', terminatedFailureInfo: {} };

/** What a workflow sees of a failed activity. */
export function ofActivity(activityType: string, activityId: string, cause: Failure): Failure {
  return {
    message: 'Activity task failed',
    cause,
    activityFailureInfo: { activityType: { name: activityType }, activityId },
  };
}

/** What a parent sees of a failed child. */
export function ofChild(workflowId: string, cause: Failure): Failure {
  const info = { workflowExecution: { workflowId, runId: 'child' }, workflowType: { name: 'rollout' } };
  return { message: 'Child Workflow execution failed', cause, childWorkflowExecutionFailureInfo: info };
}

/** A moment or a duration. */
export function timestamp(ms: number): object {
  return msToTs(ms);
}

/** Jobs or commands as a text to be read, and by which two replays can be compared. */
export function textOf(all: readonly (Command | Job)[]): string {
  return JSON.stringify(all, (_, value: unknown) =>
    ArrayBuffer.isView(value) ? Buffer.from(value.buffer, value.byteOffset, value.byteLength).toString() : value,
  );
}

/** What an activity is asked to do. */
export function factsOf({ activityType, arguments: args, seq }: Schedule) {
  return { type: activityType, id: String(seq), args: args.map((arg) => valueOf(arg)) };
}
