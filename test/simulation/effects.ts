// What the server does with a workflow's commands: regular activities, timers, children and requests to other
// workflows. All of it belongs to one run of the workflow and ends with it, but for children, which outlive it.

import { live, type Life } from './activity-life.ts';
import type { RealExecution } from './execution.ts';
import type { Task } from './history.ts';
import {
  cancelledFailure,
  type Command,
  type Ending,
  factsOf,
  type Failure,
  type Job,
  ofChild,
  payload,
  terminatedFailure,
  valueOf,
} from './wire.ts';
import type { Closing, Execution, World } from './world.ts';

/** How a child closed, for whoever waits for it. */
export interface ChildClosing {
  readonly how: Closing;
  readonly result?: unknown;
  readonly failure?: Failure;
}

export type StartChild = (
  workflowId: string,
  input: unknown,
  /** Null for one that somebody starts by itself. */
  searchAttributes: object | null,
  onClosed: (closing: ChildClosing) => void,
) => Execution;

export interface Effects {
  carryOut(command: Command): void;
  /** The run ended: nobody waits for anything of it. */
  end(): void;
  /** Begins again what these tasks had begun and not seen the end of. */
  resume(tasks: readonly Task[]): void;
}

export function openEffects(world: World, self: RealExecution, startChild: StartChild): Effects {
  const { clock, random } = world;
  const lives = new Map<number, Life>();
  const timers = new Set<number>();
  const inThisRun = (act: () => void) => {
    const run = self.runId;
    return () => {
      if (self.runId === run && !self.closing) act();
    };
  };
  const deliver = (job: Job) => inThisRun(() => self.deliver(job))();

  function carryOut(command: Command): void {
    const { scheduleActivity, requestCancelActivity, startTimer, cancelTimer } = command;
    if (scheduleActivity) {
      const { seq } = scheduleActivity;
      const { runId } = self;
      const facts = { ...factsOf(scheduleActivity), isLocal: false, attempt: 1 };
      const resolve = (result: Ending) => {
        if (self.runId === runId) deliver({ resolveActivity: { seq, isLocal: false, result } });
      };
      lives.set(seq, live(world, facts, resolve));
    }
    if (requestCancelActivity) lives.get(requestCancelActivity.seq)?.cancel();
    if (startTimer) {
      const { seconds, nanos } = startTimer.startToFireTimeout;
      timers.add(startTimer.seq);
      const fire = inThisRun(() => {
        if (timers.delete(startTimer.seq)) deliver({ fireTimer: { seq: startTimer.seq } });
      });
      clock.after(Number(String(seconds)) * 1000 + nanos / 1e6, fire);
    }
    if (cancelTimer) timers.delete(cancelTimer.seq);
    if (command.startChildWorkflowExecution) child(command.startChildWorkflowExecution);
    if (command.requestCancelExternalWorkflowExecution) cancelOther(command.requestCancelExternalWorkflowExecution);
  }

  function child({
    seq,
    workflowId,
    workflowType,
    input,
    searchAttributes,
  }: NonNullable<Command['startChildWorkflowExecution']>): void {
    const { runId } = self;
    clock.after(random.int(0, random.pick([10, 100, 3000])), () => {
      // Asked for is asked for: also where the parent is gone by now.
      const there = world.executions.get(workflowId);
      if (there && !there.closing) {
        if (self.runId !== runId) return;
        return deliver({
          resolveChildWorkflowExecutionStart: { seq, failed: { workflowId, workflowType, cause: 1 } },
        });
      }
      startChild(workflowId, valueOf(input[0]), searchAttributes ?? null, (closing) => {
        if (self.runId === runId)
          deliver({ resolveChildWorkflowExecution: { seq, result: endingOf(workflowId, closing) } });
      });
      if (self.runId === runId)
        deliver({ resolveChildWorkflowExecutionStart: { seq, succeeded: { runId: `${workflowId}#1` } } });
    });
  }

  function cancelOther({
    seq,
    workflowExecution: { workflowId },
  }: NonNullable<Command['requestCancelExternalWorkflowExecution']>): void {
    clock.after(
      random.int(0, 100),
      inThisRun(() => {
        const there = world.executions.get(workflowId)?.cancel() ?? false;
        world.saw(there ? 'cancel request: received' : 'cancel request: nobody there');
        const failure = {
          message: 'There is no such open workflow.',
          applicationFailureInfo: { type: '', nonRetryable: true },
        };
        deliver({ resolveRequestCancelExternalWorkflow: there ? { seq } : { seq, failure } });
      }),
    );
  }

  return {
    carryOut,
    end() {
      for (const life of lives.values()) life.forget();
      lives.clear();
      timers.clear();
    },
    resume(tasks) {
      const begun = new Map<number, Command>();
      const cancelled: Command[] = [];
      for (const { activation, commands } of tasks.flatMap((task) => task.steps)) {
        for (const job of activation.jobs) begun.delete(job.resolveActivity?.seq ?? -(job.fireTimer?.seq ?? 0));
        for (const command of commands) {
          if (command.scheduleActivity) begun.set(command.scheduleActivity.seq, command);
          // Timers are numbered by themselves.
          if (command.startTimer) begun.set(-command.startTimer.seq, command);
          if (command.requestCancelActivity) cancelled.push(command);
          if (command.cancelTimer) begun.delete(-command.cancelTimer.seq);
        }
      }
      for (const command of [...begun.values(), ...cancelled]) carryOut(command);
    },
  };
}

function endingOf(workflowId: string, { how, result, failure }: ChildClosing): Ending {
  if (how === 'completed') return { completed: { result: payload(result) } };
  if (how === 'cancelled') return { cancelled: { failure: ofChild(workflowId, cancelledFailure) } };
  return { failed: { failure: ofChild(workflowId, failure ?? terminatedFailure) } };
}
