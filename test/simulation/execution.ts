// One workflow as the server and a worker's Core run it: what arrives is buffered while a task is open; local
// activities run inside of the task; a completed task is history, one that is lost with its worker never was, and
// its local activities run again. A task that would close the workflow fails when something arrived meanwhile.

import { type ActivityFacts, live, type Life } from './activity-life.ts';
import { eventsOf, eventsOfJob, inOrder, replay, type Step, type Task, unresolvedLocals } from './history.ts';
import type { Instance } from './sandbox.ts';
import type { Command, Ending, Job, Schedule } from './wire.ts';
import { factsOf, isTerminal, payload, textOf, valueOf } from './wire.ts';
import { must } from './breach.ts';
import type { Closing, Execution, World } from './world.ts';

export interface Start {
  readonly workflowId: string;
  readonly workflowType: 'rollout' | 'collection';
  readonly input: unknown;
  /** As a parent gives them to its child. */
  readonly searchAttributes?: object | null;
}

/** What becomes of an execution's commands and ends, and who checks them. */
export interface Surroundings {
  /** Called with every completed task, in order; throws what breaks a promise. */
  committed(task: Task): void;
  /** Carries out one command, not of a local activity. */
  carryOut(command: Command): void;
  closed(command: Command | null): void;
}

export interface RealExecution extends Execution {
  /** Starts the history anew: first task, or after continue-as-new. */
  begin(input: unknown, arrived: readonly Job[]): void;
  /** Goes back to the end of the first `count` tasks, as a new run of the same workflow. */
  reset(count: number, reapplied: readonly Job[]): void;
  /** Undefined before the first task, and while one is open. */
  ask<T>(query: string): Promise<T | undefined>;
  readonly runId: string;
  dispose(): Promise<void>;
}

const HEARTBEAT_AFTER_MS = 8000;
const TASK_TIMEOUT_MS = 10_000;

export function openExecution(
  world: World,
  start: Start,
  around: (self: RealExecution) => Surroundings,
): RealExecution {
  const { random, clock, plan } = world;
  const { workflowId, workflowType, searchAttributes } = start;
  const { trouble } = plan;
  let runs = 0;
  let startedAtMs = clock.now;
  let tasks: Task[] = [];
  let events = 0;
  let closing: Closing | undefined;
  let arrived: Job[] = [];
  let waking = false;
  let instance: Instance | undefined;
  /** Goes up when a worker, a run or the workflow ends: whatever belongs to an older one is nothing any more. */
  let life = 0;
  let open: (Task & { readonly jobs: Job[]; readonly steps: Step[]; readonly local: Map<number, Life> }) | undefined;
  let suggested = false;

  const self: RealExecution = {
    workflowId,
    get closing() {
      return closing;
    },
    get tasks() {
      return tasks;
    },
    get runId() {
      return `${workflowId}#${runs}`;
    },
    deliver(job) {
      if (closing) return;
      arrived.push(job);
      wake(random.pick([0, 0, 5, 50]));
    },
    cancel() {
      if (closing) return false;
      self.deliver({ cancelWorkflow: {} });
      return true;
    },
    terminate() {
      if (!closing) close('terminated', null);
    },
    begin(input, jobs) {
      life++;
      runs++;
      startedAtMs = clock.now;
      forget();
      tasks = [];
      events = 1;
      suggested = false;
      closing = undefined;
      const args = [payload(input)];
      arrived = [
        { initializeWorkflow: { workflowType, workflowId, arguments: args, searchAttributes, randomnessSeed: 7 } },
        ...jobs,
      ];
      wake(random.pick([0, 0, 20]));
    },
    reset(count, reapplied) {
      life++;
      runs++;
      forget();
      tasks = tasks.slice(0, count);
      events = 1 + tasks.reduce((sum, task) => sum + eventsOf(task), 0);
      closing = undefined;
      arrived = [
        { updateRandomSeed: { randomnessSeed: { toBytes: () => [9, runs, 9, 9, 9, 9, 9, 9] } } },
        ...reapplied,
      ];
      wake(0);
    },
    async ask<T>(query: string) {
      if (open || tasks.length === 0) return undefined;
      await revive();
      const { commands } = await instance!.activate({
        ...moment([{ queryWorkflow: { queryId: 'q', queryType: query, arguments: [] } }]),
        historyLength: events,
      });
      const answer = commands[0]?.respondToQuery;
      must(answer?.succeeded !== undefined, () => `${workflowId} does not answer ${query}: ${JSON.stringify(answer)}`);
      return valueOf<T>(answer.succeeded.response);
    },
    dispose: async () => forget(),
  };
  const surroundings = around(self);

  function wake(ms: number): void {
    if (waking || open || closing) return;
    waking = true;
    clock.after(ms, async () => {
      waking = false;
      if (!closing && !open) await beginTask();
    });
  }

  async function beginTask(): Promise<void> {
    const mine = life;
    await revive();
    const jobs = inOrder(arrived);
    arrived = [];
    suggested ||= workflowType === 'collection' && tasks.length > 2 && random.chance(0.01);
    const historyLength = events + jobs.reduce((sum, job) => sum + eventsOfJob(job), 0) + 2;
    open = { jobs, steps: [], start: begun(historyLength), isHeartbeat: false, local: new Map() };
    heartbeatLater(mine);
    // What a task carried over when its worker died is begun again.
    for (const { schedule, cancelled } of unresolvedLocals(tasks)) {
      runLocal(schedule);
      if (cancelled) open.local.get(schedule.seq)!.cancel();
    }
    if (jobs.length > 0) await activate(jobs);
  }

  /** A local activity that takes long is carried over into a new task, which tells what arrived meanwhile. */
  function heartbeatLater(mine: number): void {
    const task = open;
    clock.after(HEARTBEAT_AFTER_MS, async () => {
      if (mine !== life || open !== task || !open || open.local.size === 0) return;
      world.saw('task: outlasted by a local activity');
      const { local } = open;
      commit(true);
      const jobs = inOrder(arrived);
      arrived = [];
      open = { jobs, steps: [], start: begun(events + 2), isHeartbeat: jobs.length === 0, local };
      heartbeatLater(mine);
      if (jobs.length > 0) await activate(jobs);
    });
  }

  const begun = (historyLength: number): Task['start'] => ({
    timestampMs: clock.now,
    historyLength,
    continueAsNewSuggested: suggested,
  });

  function moment(jobs: readonly Job[]) {
    return {
      ...begun(open?.start.historyLength ?? events),
      isReplaying: false,
      flags: [],
      jobs,
    };
  }

  async function activate(jobs: readonly Job[]): Promise<void> {
    const task = open!;
    const activation = moment(jobs);
    const { commands, flags } = await instance!.activate(activation);
    task.steps.push({ activation, commands, flags });
    world.trace(() => `${self.runId} ◀ ${textOf(jobs)}`);
    world.trace(() => `${self.runId} ▶ ${textOf(commands)}`);
    for (const command of commands) {
      if (command.scheduleLocalActivity) runLocal(command.scheduleLocalActivity);
      if (command.requestCancelLocalActivity) task.local.get(command.requestCancelLocalActivity.seq)?.cancel();
    }
    if (random.chance(trouble.crash)) return loseWorker('task: its worker died');
    const ends = commands.some(isTerminal);
    if (task.local.size > 0 && !ends) return;
    const mine = life;
    clock.after(random.pick([0, 0, 0, 10]), () => {
      if (mine === life && open === task && (ends || task.local.size === 0)) commit();
    });
  }

  function runLocal(schedule: Schedule): void {
    const { seq, attempt } = schedule;
    const mine = life;
    const facts: ActivityFacts = { ...factsOf(schedule), isLocal: true, attempt: attempt ?? 1 };
    const resolve = async (result: Ending) => {
      if (mine !== life || !open?.local.delete(seq)) return;
      await activate([{ resolveActivity: { seq, isLocal: true, result } }]);
    };
    open!.local.set(
      seq,
      live(world, facts, (ending) => clock.after(0, () => resolve(ending))),
    );
  }

  /** Nothing of the task was told to the server: it is done once more, with what arrived meanwhile. */
  function loseWorker(transition: string): void {
    world.saw(transition);
    world.trace(() => `${self.runId} ✗ ${transition}`);
    life++;
    const keptItsEnd = open!.steps.some((s) =>
      s.commands.some((c) => c.scheduleLocalActivity?.activityType === 'finish'),
    );
    if (keptItsEnd) world.endedInVain.add(workflowId);
    arrived = [...open!.jobs, ...arrived];
    forget();
    wake(TASK_TIMEOUT_MS);
  }

  function forget(): void {
    for (const local of open?.local.values() ?? []) local.forget();
    open = undefined;
    const gone = instance;
    instance = undefined;
    if (gone) void gone.dispose();
  }

  async function revive(): Promise<void> {
    if (instance) return;
    instance = await world.sandbox.open({ workflowId, runId: self.runId, workflowType, startedAtMs });
    if (tasks.length > 0) world.saw('task: replayed');
    await replay(instance, tasks, workflowId);
  }

  function commit(goesOn = false): void {
    const { steps, start, isHeartbeat } = open!;
    const commands = steps.flatMap((step) => step.commands);
    const last = commands.find(isTerminal);
    if (last && arrived.some((job) => !job.doUpdate)) return loseWorker('task: refused, because something arrived');
    must(
      !last || commands.slice(commands.indexOf(last) + 1).every((c) => c.updateResponse),
      () => `${workflowId} commands something after its end`,
    );
    const task: Task = { steps, start, isHeartbeat };
    // An end takes what is still at work in its task with it.
    if (last) for (const local of open!.local.values()) local.forget();
    open = undefined;
    tasks.push(task);
    events += eventsOf(task);
    surroundings.committed(task);
    for (const command of commands) if (!isTerminal(command)) surroundings.carryOut(command);
    if (goesOn) return;
    if (last) return conclude(last);
    if (random.chance(trouble.evict)) forget();
    if (arrived.length > 0) wake(0);
  }

  function conclude(last: Command): void {
    const renewed = last.continueAsNewWorkflowExecution;
    if (renewed) {
      // Updates that no task has seen yet go to the next run.
      const early = arrived;
      surroundings.closed(last);
      world.ambush('renewal');
      self.begin(valueOf(renewed.arguments[0]), early);
      return;
    }
    close(last.completeWorkflowExecution ? 'completed' : last.failWorkflowExecution ? 'failed' : 'cancelled', last);
  }

  function close(how: Closing, last: Command | null): void {
    life++;
    closing = how;
    arrived = [];
    world.trace(() => `${self.runId} ■ ${how}`);
    forget();
    surroundings.closed(last);
  }

  self.begin(start.input, []);
  return self;
}
