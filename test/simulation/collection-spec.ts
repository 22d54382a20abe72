// What a collection must do, as a state machine that reads its history: which rollouts it starts and never more at
// once than it may, what it counts, whom it cancels, what it carries into its next history, and its result.

import type { PagedUnit } from '../../activities/collection.ts';
import type { RolloutResult } from '../../domain/rollout/ending.ts';
import type { WindowState } from '../../domain/run/window.ts';
import type { CollectionResult } from '../../domain/run/messages.ts';
import { must, sameJson } from './breach.ts';
import { collectionWord, type Place, type WindowInput, wordsOf } from './command-words.ts';
import { failedResult } from './expected-result.ts';
import { asHeard, type Step, type Task } from './history.ts';
import { childId, queryOf, RUN } from './names.ts';
import { sameCounts, tally } from './tally.ts';
import { openMemoSpec } from './memo-spec.ts';
import { type Ending, type Job, type Schedule, valueOf } from './wire.ts';
import { wasReset, type World } from './world.ts';

export function openCollectionSpec(world: World): { committed(task: Task): void } {
  const { samples, queries, limits, maxHistoryEvents } = world.plan;
  const total = queries * samples;
  let at: Place = 'accepting';
  let paused = false;
  let stopping = false;
  let cancelled = false;
  let stoppedEarly = false;
  let max = world.plan.maxConcurrent;
  let next = 0;
  let base: WindowState['counts'] | null = null;
  let counted: { readonly unit: number; readonly result: RolloutResult }[] = [];
  const inFlight = new Set<number>();
  let units: PagedUnit[] = [];
  let waiting: Schedule | undefined;
  const starting = new Set<number>();
  const activities = new Map<number, Schedule>();
  const children = new Map<number, number>();
  const memoSpec = openMemoSpec();
  let happened = { opened: false, steered: 0, maybeSteered: 0, moved: 0 };
  /** Rollouts begun and words heard in this history: five events each, by which alone it is full. */
  let steps = 0;
  const isFull = () => 5 * steps >= maxHistoryEvents;

  const saw = (what: string) => world.saw(`collection: ${what}`);
  const counts = () =>
    tally(
      base,
      counted.map((c) => c.result),
      limits.numTurns,
    );
  const state = () => (at !== 'playing' ? at : `${at}${paused ? ' (paused)' : ''}${stopping ? ' (stopping)' : ''}`);
  const count = (unit: number, result: RolloutResult, how: string) => {
    saw(`${how}: ${result.outcome}`);
    happened.moved++;
    if (inFlight.delete(unit)) counted.push({ unit, result });
  };

  /** What a rollout's end adds, and what must follow at once. */
  const ended = (unit: number, end: Ending): string[] => {
    if (end.completed) count(unit, valueOf(end.completed.result), 'child completed');
    else if (end.failed) {
      const query = queryOf(Math.floor(unit / samples));
      count(unit, failedResult(query, unit % samples, end.failed.failure), 'child failed');
    } else {
      saw('child cancelled → follow');
      return [`settle ${unit}`];
    }
    return [];
  };

  const begin = ({ initializeWorkflow }: Job): string[] => {
    const { arguments: args } = initializeWorkflow as { arguments: Schedule['arguments'] };
    const { carried, maxConcurrent } = valueOf<WindowInput>(args[0]);
    at = carried ? 'playing' : 'accepting';
    saw(`started${carried ? ' with what was carried' : ''}`);
    cancelled = false;
    units = [];
    waiting = undefined;
    for (const map of [activities, children, starting, inFlight]) map.clear();
    counted = [];
    steps = 0;
    base = carried?.counts ?? null;
    next = carried?.next ?? 0;
    paused = carried?.paused ?? false;
    stopping = carried?.stopping ?? false;
    max = carried?.maxConcurrent ?? maxConcurrent!;
    for (const { unit } of carried?.inFlight ?? []) inFlight.add(unit);
    if (!carried) return ['accept'];
    happened.opened = true;
    return [...(inFlight.size > 0 ? [`settle ${[...inFlight].join()}`] : []), ...(stopping ? cancels() : [])];
  };
  const cancels = () => [...inFlight].map((unit) => `cancel ${childId(unit, samples)}`);

  const steer = (job: Job): string[] => {
    const { doUpdate } = job;
    const name = job.cancelWorkflow ? 'cancel' : doUpdate?.name;
    if (!name) return [];
    if (name === 'tune') {
      const n = valueOf<{ maxConcurrent?: unknown } | null>(doUpdate!.input[0])?.maxConcurrent;
      const valid = Number.isInteger(n) && (n as number) >= 1 && (n as number) <= 20_000;
      saw(
        `${at}, tune${valid ? (at === 'playing' && (n as number) < inFlight.size ? ' below what is in flight' : '') : ' refused'}`,
      );
      if (valid) max = n as number;
      if (valid) happened.steered++;
      return [valid ? 'updated' : 'refused'];
    }
    saw(`${state()}, ${name}`);
    if (name === 'pause') paused = true;
    if (name === 'resume') paused = false;
    cancelled ||= name === 'cancel';
    const stops = (name === 'stop' || name === 'cancel') && !stopping;
    stopping ||= stops;
    if (name === 'cancel') happened.maybeSteered += stops ? 1 : 0;
    else if (stops || name !== 'stop') happened.steered++;
    return [...(stops && at !== 'accepting' && at !== 'concluding' ? cancels() : []), ...(doUpdate ? ['updated'] : [])];
  };

  const resolve = (job: Job): string[] => {
    const activity = job.resolveActivity;
    if (activity) return activityEnded(activities.get(activity.seq)!, activity.result);
    const start = job.resolveChildWorkflowExecutionStart;
    if (start) {
      const unit = children.get(start.seq)!;
      starting.delete(unit);
      saw(
        start.failed ? 'child is there already → follow' : stopping ? 'child started, when stopping' : 'child started',
      );
      if (start.failed) return [`settle ${unit}`];
      return stopping ? [`cancel ${childId(unit, samples)}`] : [];
    }
    const end = job.resolveChildWorkflowExecution;
    if (end) return ended(children.get(end.seq)!, end.result);
    if (job.fireTimer && waiting) {
      const again = waiting;
      waiting = undefined;
      return [collectionWord(again)];
    }
    return [];
  };

  function activityEnded(schedule: Schedule, end: Ending): string[] {
    const type = schedule.activityType;
    if (end.backoff) {
      saw(`${type} waits for its next try`);
      waiting = schedule;
      return ['timer'];
    }
    if (!end.completed) {
      saw(`${type} failed → closed`);
      at = 'closed';
      return ['failed'];
    }
    const value = valueOf<unknown>(end.completed.result);
    switch (type) {
      case 'accept':
        at = 'playing';
        happened.opened = true;
        return [];
      case 'page':
        units = value as PagedUnit[];
        at = 'playing';
        return [];
      case 'settle': {
        const settled = value as { unit: number; result: RolloutResult }[];
        for (const { unit, result } of settled) count(unit, result, 'followed');
        const asked = valueOf<{ rollouts: { unit: number }[] }>(schedule.arguments[0]).rollouts.map((r) => r.unit);
        const left = asked.filter((unit) => !settled.some((s) => s.unit === unit));
        saw(left.length > 0 ? 'some of the followed ended' : 'all of the followed ended');
        return left.length > 0 ? [`settle ${left.join()}`] : [];
      }
      default:
        at = 'closed';
        happened.steered++;
        saw(`concluding → closed, ${cancelled ? 'cancelled' : stoppedEarly ? 'stopped' : 'finished'}`);
        return [cancelled ? 'cancelled' : 'complete'];
    }
  }

  const isFinished = () => inFlight.size === 0 && (stopping || next >= total);

  /** Plays on as far as it may, as one that was asked for everything at once. */
  function advance(leaves: boolean): string[] {
    const words: string[] = [];
    while (at === 'playing') {
      if (isFinished() && !(isFull() && leaves)) {
        at = 'concluding';
        stoppedEarly = stopping;
        words.push('conclude');
      } else if (isFull()) {
        at = 'renewing';
        saw(
          `history is full${paused ? ' (paused)' : ''}${stopping ? ' (stopping)' : ''}${starting.size > 0 ? ', starts are awaited' : ''}`,
        );
      } else if (paused || stopping || next >= total || inFlight.size >= max) break;
      else if (units.length === 0) {
        at = 'paging';
        words.push(`page ${next}`);
      } else {
        const { unit, ended: before } = units.shift()!;
        must(unit === next, () => `unit ${unit} is begun, and ${next} is next`);
        next++;
        steps++;
        inFlight.add(unit);
        if (before) count(unit, before, 'ended before');
        else {
          starting.add(unit);
          words.push(`start ${childId(unit, samples)}`);
        }
      }
    }
    if (at === 'renewing' && starting.size === 0) words.push('continue');
    return words;
  }

  function step(thisStep: Step): void {
    const { activation, commands } = thisStep;
    const { jobs } = activation;
    must(at !== 'closed', () => 'the collection goes on after its end');
    const words: string[] = [];
    const finishedBefore = isFinished();
    const resolvedNow: number[] = counted.map((c) => c.unit);
    const first = jobs.find((job) => job.initializeWorkflow);
    happened = { opened: false, steered: 0, maybeSteered: 0, moved: 0 };
    if (first) words.push(...begin(first));
    const isOpen = !first && at !== 'accepting';
    for (const job of asHeard(thisStep)) words.push(...steer(job));
    steps += happened.steered + happened.maybeSteered;
    // What is asked for before is told when the window opens.
    if (!isOpen) happened.steered = 0;
    for (const job of jobs)
      if (!job.doUpdate && !job.cancelWorkflow && !job.initializeWorkflow) words.push(...resolve(job));
    const said = commands.flatMap((command) => wordsOf(command, collectionWord)).filter((word) => word !== 'memo');
    // What ends in the very task that finds the history full may be counted by the next history.
    const leaves = said.includes('continue') && !finishedBefore;
    words.push(...advance(leaves));
    // A cancellation, unlike a stop, may come before or after what ended in its very task; and a run that fails may
    // have begun something in the task that failed it.
    const free = jobs.some((job) => job.cancelWorkflow) ? counted.filter((c) => !resolvedNow.includes(c.unit)) : [];
    const cancelsOfEnded = free.map(({ unit }) => `cancel ${childId(unit, samples)}`);
    const failed = words.includes('failed');
    const comparable = (list: readonly string[]) =>
      list.filter((word) => !cancelsOfEnded.includes(word) && !(failed && /^(page|start) /.test(word)));
    must(
      sameJson(comparable(said).toSorted(), comparable(words).toSorted()),
      () => `the collection, ${state()}: it commanded [${said.join(' | ')}], and should [${words.join(' | ')}]`,
    );
    const facts = { ...{ total, maxConcurrent: max, paused, stopping, isFinished: isFinished() }, counts: counts() };
    memoSpec(thisStep, { ...facts, numTurns: limits.numTurns }, happened);
    for (const command of commands) {
      const schedule = command.scheduleActivity ?? command.scheduleLocalActivity;
      if (schedule) activities.set(schedule.seq, schedule);
      const child = command.startChildWorkflowExecution;
      if (child) children.set(child.seq, unitOf(valueOf(child.input[0])));
      const carried = command.continueAsNewWorkflowExecution;
      if (carried) checkCarried(valueOf<WindowInput>(carried.arguments[0]).carried!, resolvedNow);
      const told = command.completeWorkflowExecution;
      if (told) checkResult(valueOf(told.result));
    }
  }
  const unitOf = ({ index, sample }: { index: number; sample: number }) => index * samples + sample;

  /** What ended in this very task may be counted here, or be carried as in flight and counted later. */
  function checkCarried(carried: WindowState, before: readonly number[]): void {
    const open = carried.inFlight.map((u) => u.unit);
    counted = counted.filter(({ unit }) => before.includes(unit) || !open.includes(unit));
    const expected = counts();
    const known =
      carried.next === next &&
      carried.maxConcurrent === max &&
      carried.paused === paused &&
      carried.stopping === stopping;
    must(
      known && sameCounts(carried.counts, expected),
      () =>
        `it carries ${JSON.stringify(carried)}, and should ${JSON.stringify({ next, max, paused, stopping, expected })}`,
    );
    must(
      [...inFlight].every((unit) => open.includes(unit)),
      () => `it carries ${open.join()} in flight, of ${[...inFlight].join()}`,
    );
    saw(
      `renewed${stopping ? ' (stopping)' : paused ? ' (paused)' : ''}${open.length > 0 ? ', with rollouts in flight' : ''}`,
    );
  }

  function checkResult(told: CollectionResult): void {
    const expected = { run: RUN, total, cancelled: stoppedEarly, numTurns: limits.numTurns, counts: counts() };
    must(
      sameJson({ ...told, counts: null }, { ...expected, counts: null }) && sameCounts(told.counts, expected.counts),
      () => `its result is ${JSON.stringify(told)}, and should be ${JSON.stringify(expected)}`,
    );
    // A stop that crosses the last task is in the result, and not in the folder; after a reset the first result stays.
    const kept = { ...world.store.result, cancelled: told.cancelled };
    must(
      wasReset(world) || sameJson(kept, told),
      () => `its folder says ${JSON.stringify(world.store.result)}, its result ${JSON.stringify(told)}`,
    );
  }

  return { committed: ({ steps }) => steps.forEach(step) };
}
