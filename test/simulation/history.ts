// What the server keeps of a workflow: its tasks, each with the activations it was made of and the commands that
// came of them; how many events that makes; and the replay, which must bring the same commands again.

import type { Activation, Instance } from './sandbox.ts';
import { type Command, type Job, type Schedule, textOf } from './wire.ts';
import { must } from './breach.ts';

export interface Step {
  readonly activation: Activation;
  readonly commands: readonly Command[];
  readonly flags: readonly number[];
}

/** A workflow task that was completed. */
export interface Task {
  readonly steps: readonly Step[];
  /** What Core read of its start. */
  readonly start: Pick<Activation, 'timestampMs' | 'historyLength' | 'continueAsNewSuggested'>;
  /** Nothing had arrived: it only carried local activities on. */
  readonly isHeartbeat: boolean;
}

/** Scheduled, started, completed. */
const TASK_EVENTS = 3;

export function eventsOf({ steps }: Task): number {
  return steps.reduce((sum, { activation, commands }) => {
    const jobs = activation.jobs.reduce((n, job) => n + eventsOfJob(job), 0);
    return sum + jobs + commands.reduce((n, command) => n + eventsOfCommand(command), 0);
  }, TASK_EVENTS);
}

export function eventsOfJob(job: Job): number {
  if (job.resolveActivity) return job.resolveActivity.isLocal ? 1 : 2;
  if (job.doUpdate) return 2;
  return job.updateRandomSeed ? 0 : 1;
}

function eventsOfCommand(command: Command): number {
  const silent = command.scheduleLocalActivity ?? command.requestCancelLocalActivity ?? command.updateResponse;
  return silent ? 0 : 1;
}

/**
 * Feeds a fresh instance all that happened; any other command than then is non-determinism. A task that came to nothing
 * but a local activity which outlasted it is one with the heartbeats behind it: what happened in it is told with the
 * time and the length of the last of them, as Core does.
 */
export async function replay(instance: Instance, tasks: readonly Task[], who: string): Promise<void> {
  for (const [i, { steps }] of tasks.entries()) {
    let last = i;
    while (isSilent(tasks[last]!) && tasks[last + 1]?.isHeartbeat) last++;
    // Core looks ahead: what a task finds out to be patched it is told at its begin.
    let patches: Job[] = steps
      .flatMap((step) => step.commands)
      .flatMap(({ setPatchMarker: patch }) => (patch ? [{ notifyHasPatch: { patchId: patch.patchId } }] : []));
    for (const { activation, commands, flags } of steps) {
      const jobs = [...patches, ...activation.jobs];
      patches = [];
      const seen = last > i ? { ...activation, ...tasks[last]!.start } : activation;
      const again = await instance.activate({ ...seen, jobs, isReplaying: true, flags });
      const [then, now] = [textOf(commands), textOf(again.commands)];
      must(then === now, () => `${who} is not deterministic: it commanded ${then}, and on replay ${now}`);
    }
  }
}

/** It left no event but its own. */
function isSilent({ steps }: Task): boolean {
  return steps.every(
    ({ activation, commands }) =>
      commands.every((command) => eventsOfCommand(command) === 0 && !command.updateResponse) &&
      activation.jobs.every((job) => !job.resolveActivity?.isLocal),
  );
}

/** Signals, then updates, then what else happened, in its order: as Core sorts an activation. */
export function inOrder(jobs: readonly Job[]): Job[] {
  return jobs.toSorted((a, b) => rank(a) - rank(b));
}

function rank(job: Job): number {
  if (job.initializeWorkflow) return 0;
  if (job.updateRandomSeed) return 1;
  if (job.signalWorkflow) return 2;
  return job.doUpdate ? 3 : 4;
}

/** Local activities that were begun in a completed task and had no end in any. */
export function unresolvedLocals(
  tasks: readonly Task[],
): { readonly schedule: Schedule; readonly cancelled: boolean }[] {
  const begun = new Map<number, { schedule: Schedule; cancelled: boolean }>();
  for (const { activation, commands } of tasks.flatMap((task) => task.steps)) {
    for (const { resolveActivity } of activation.jobs) if (resolveActivity) begun.delete(resolveActivity.seq);
    for (const { scheduleLocalActivity: schedule, requestCancelLocalActivity: cancel } of commands) {
      if (schedule) begun.set(schedule.seq, { schedule, cancelled: false });
      const cancelled = cancel && begun.get(cancel.seq);
      if (cancelled) cancelled.cancelled = true;
    }
  }
  return [...begun.values()];
}

/** Updates that come with the very first task wait for their handlers, and are heard as these are set. */
export function asHeard({ activation: { jobs } }: Step): readonly Job[] {
  if (!jobs.some((job) => job.initializeWorkflow)) return jobs;
  const place = (job: Job) => HANDLERS.indexOf(job.doUpdate?.name ?? '');
  return jobs.toSorted((a, b) => place(a) - place(b));
}
const HANDLERS = ['pause', 'resume', 'stop', 'tune'];
