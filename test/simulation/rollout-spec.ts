// What a rollout must do, as a state machine that reads its history: after every activation it knows which commands
// must have come, no more and no fewer, and at the end which result. It shares no code with the workflow.

import type { TurnLimits, RolloutResult, StopReason } from '../../domain/rollout/ending.ts';
import { expectedResult, type Failed, failedOf, type JudgedTurn } from './expected-result.ts';
import { asHeard, type Step, type Task } from './history.ts';
import { wordsOf } from './command-words.ts';
import { type Ending, type Failure, type Job, type Schedule, valueOf } from './wire.ts';
import { must, sameJson } from './breach.ts';
import type { World } from './world.ts';

export interface RolloutSpec {
  committed(task: Task): void;
}

export interface Who {
  readonly query: string;
  readonly sample: number;
  /** Started by itself: nobody gave it search attributes. */
  readonly alone: boolean;
}

type Place = 'new' | 'opening' | 'paused' | 'generating' | 'judging' | 'logging' | 'finishing' | 'closed';

interface Generated {
  readonly noRoom: boolean;
  readonly outputTokens: number;
}

export function openRolloutSpec(world: World, workflowId: string, who: Who): RolloutSpec {
  const { limits } = world.plan;
  let at: Place = 'new';
  let backoff = false;
  let paused = false;
  let stopped = false;
  let cancelled = false;
  const turns: JudgedTurn[] = [];
  let generated: Generated | undefined;
  let verdict: { readonly verdict: string; readonly reason: string } | undefined;
  let ending: RolloutResult | undefined;
  /** How the rollout ended, by its own account; a later failure of the last step is the workflow's own. */
  let final = false;
  let asCancelled = false;
  /** Whether the activity that is waited for was asked to end. */
  let requested = false;
  /** Cancelled before it had opened: it opens all the same, so that its end has a record. */
  let reopened = false;

  const stopping = () => stopped || cancelled;
  const go = (to: Place, why: string, words: string[]) => {
    world.saw(`rollout: ${at}${backoff ? ' (waiting)' : ''} → ${to}, ${why}`);
    at = to;
    backoff = false;
    requested = false;
    return words;
  };
  const finish = (stop: StopReason, why: string, failed: Failed | null = null): string[] => {
    ending = expectedResult(world.plan, who, turns, stop, failed);
    asCancelled = stop === 'cancelled';
    final ||= stop === 'failed' || stop === 'cancelled';
    return go('finishing', why, [`finish ${ending.outcome} ${stop} ${turns.length}`]);
  };
  const turn = () => turns.length + 1;
  const next = (why: string): string[] => {
    if (stopping()) return finish('cancelled', 'cancelled');
    return paused ? go('paused', why, []) : go('generating', why, [`generate ${turn()}`]);
  };
  const fail = (failure: Failure, what: string): string[] => {
    return stopping()
      ? finish('cancelled', 'cancelled, though it failed')
      : finish('failed', 'failed', failedOf(failure, what));
  };

  const reopen = () => {
    reopened = true;
    return go('opening', 'cancelled', ['open']);
  };
  const giveUp = () => (at === 'opening' ? reopen() : finish('cancelled', 'cancelled'));
  const again = (): string[] => {
    if (at === 'opening') return ['open'];
    if (at === 'finishing') return [`finish ${ending!.outcome} ${ending!.stopReason} ${ending!.turns}`];
    return [at === 'judging' ? `evaluate ${turn()}` : `log ${turn()}`];
  };

  /** What follows when the work of this place ended so. */
  const after = (end: Ending): string[] => {
    if (end.backoff) {
      if (stopping() && isSteerable()) return giveUp();
      world.saw(`rollout: ${at}, waits for its next try`);
      backoff = true;
      return ['timer'];
    }
    const value = end.completed ? valueOf<unknown>(end.completed.result) : undefined;
    const failure = (end.failed ?? end.cancelled)?.failure;
    switch (at) {
      case 'opening':
        if (end.completed) return [...(who.alone ? ['upsert'] : []), ...next('opened')];
        return end.cancelled ? reopen() : go('closed', 'failed', ['failed']);
      case 'generating':
        if (end.cancelled) return finish('cancelled', 'cancelled');
        if (failure) return fail(failure, 'generate');
        generated = value as Generated;
        if (generated.noRoom) return finish('context-length', 'no room');
        return stopping()
          ? finish('cancelled', 'cancelled, though it answered')
          : go('judging', 'answered', [`evaluate ${turn()}`]);
      case 'judging':
        if (end.cancelled) return finish('cancelled', 'cancelled');
        if (failure) return fail(failure, 'evaluate');
        verdict = value as { verdict: string; reason: string };
        if (stopping()) return finish('cancelled', 'cancelled, though it was judged');
        return go('logging', verdict.verdict, [`log ${turn()}`]);
      case 'logging': {
        if (end.cancelled) return finish('cancelled', 'cancelled');
        if (failure) return fail(failure, 'log');
        turns.push({ outputTokens: generated!.outputTokens, ...verdict! });
        const stop = stopOf(turns, limits);
        if (stop) return finish(stop, `${stop}${stopping() ? ', when it was cancelled' : ''}`);
        return next('logged');
      }
      case 'finishing': {
        must(!end.cancelled, () => `${workflowId}: its last step was cancelled`);
        if (!failure) {
          ending = (value as RolloutResult | null | undefined) ?? ending;
          const word = cancelled && asCancelled && ending!.outcome === 'cancelled' ? 'cancelled' : 'complete';
          return go('closed', ending!.outcome, ['upsert', word]);
        }
        if (final) return go('closed', 'its end could not be kept', ['failed']);
        return fail(failure, 'finish');
      }
      default:
        throw new Error(`${workflowId}: an activity ended while it was ${at}`);
    }
  };

  /** Whether a stop reaches the work of this place. */
  const isSteerable = () => (at === 'opening' ? cancelled && !reopened : at !== 'finishing' && at !== 'closed');

  const steer = (deed: string) => {
    world.saw(`rollout: ${at}${backoff ? ' (waiting)' : ''}, ${deed}`);
    if (deed === 'pause') paused = true;
    if (deed === 'resume') paused = false;
    if (deed === 'stop') stopped = true;
    if (deed === 'cancel') cancelled = true;
  };

  function step(thisStep: Step): void {
    const { commands } = thisStep;
    const jobs = asHeard(thisStep);
    must(at !== 'closed', () => `${workflowId} goes on after its end`);
    const resolved = jobs.find((job) => job.resolveActivity)?.resolveActivity?.result;
    const starts = jobs.some((job) => job.initializeWorkflow);
    // A stop reaches the scope of the turns at once, a cancellation by way of the workflow's own: an activity that
    // ended before it in the same task goes on to its next step, which is then asked to end; one that failed does not.
    const ended = jobs.findIndex((job) => job.resolveActivity ?? job.fireTimer);
    const broke = jobs[ended]?.resolveActivity?.result.failed;
    const said = commands.filter((c) => !c.updateResponse).flatMap((command) => wordsOf(command, activityWord));
    // A verdict takes more steps on its way than another result: either may come first.
    const overtook = at === 'judging' && said.some((word) => word.startsWith('finish cancelled'));
    const early = jobs.filter(
      (job, i) => ended < 0 || broke || overtook || at === 'opening' || i < ended || job.doUpdate,
    );
    const late = jobs.filter((job) => !early.includes(job));
    for (const deed of early.flatMap(deedOf)) steer(deed);
    const words: string[] = [];
    if (starts) words.push(...(cancelled ? reopen() : go('opening', 'started', ['open'])));
    else if (resolved) words.push(...after(resolved));
    else if (jobs.some((job) => job.fireTimer) && backoff) {
      backoff = false;
      words.push(...(stopping() && isSteerable() ? giveUp() : again()));
    } else if (stopping() && isSteerable() && backoff) {
      words.push('cancel-timer', ...giveUp());
    } else if (at === 'paused' && (stopping() || !paused)) words.push(...next(stopping() ? 'cancelled' : 'resumed'));
    else if (stopping() && isSteerable() && at !== 'paused' && !requested) {
      requested = true;
      words.push('request-cancel');
    }
    for (const deed of late.flatMap(deedOf)) {
      steer(deed);
      if (isSteerable() && at !== 'paused' && !requested) {
        requested = true;
        words.push('request-cancel');
      }
    }
    must(
      said.join() === words.join(),
      () => `${workflowId}, ${at}: it commanded [${said.join(', ')}], and should [${words.join(', ')}]`,
    );
    const result = commands.find((c) => c.completeWorkflowExecution)?.completeWorkflowExecution?.result;
    if (result) {
      const told = valueOf<RolloutResult>(result);
      const kept = world.store.rollout(who.query, who.sample)?.end;
      must(
        sameJson(told, kept),
        () => `${workflowId} ended with ${JSON.stringify(told)}, and its folder says ${JSON.stringify(kept)}`,
      );
      must(
        sameJson(told, ending),
        () => `${workflowId} ended with ${JSON.stringify(told)}, and should with ${JSON.stringify(ending)}`,
      );
    }
  }

  return { committed: ({ steps }) => steps.forEach(step) };
}

function stopOf(turns: readonly JudgedTurn[], limits: TurnLimits): StopReason | undefined {
  const { verdict } = turns.at(-1)!;
  if (verdict === 'undecided') return 'undecided';
  if (verdict === 'right' && limits.stop === 'success') return 'success';
  return turns.length === limits.numTurns ? 'max-turns' : undefined;
}

export function deedOf(job: Job): string[] {
  if (job.cancelWorkflow) return ['cancel'];
  return job.doUpdate ? [job.doUpdate.name] : [];
}

function activityWord({ activityType, arguments: args }: Schedule): string {
  const { turn, result } = valueOf<{ turn?: number; result?: RolloutResult }>(args[0]);
  if (result) return `finish ${result.outcome} ${result.stopReason} ${result.turns}`;
  return `${activityType}${turn ? ` ${turn}` : ''}`;
}
