// One activity from its schedule to its end, as the server and the workers live it: attempts that fail, workers
// that die and that were only thought dead, retries with backoff, limits, and cancellation that comes late, is
// ignored, or crosses a failure. Effects are at least once; the workflow hears of one end only.

import { BOUNDARIES } from '../../domain/errors/reasons.ts';
import { body, NOT_YET } from './bodies.ts';
import { named } from './random.ts';
import {
  applicationFailure,
  cancelledFailure,
  type Ending,
  type Failure,
  heartbeatTimeout,
  ofActivity,
  payload,
  scheduleToCloseTimeout,
  timestamp,
} from './wire.ts';
import type { World } from './world.ts';

export interface Life {
  /** The workflow asks it to end. */
  cancel(): void;
  /** Nobody waits for it any more; a worker that is at it does not know. */
  forget(): void;
}

export interface ActivityFacts {
  readonly type: string;
  readonly id: string;
  readonly args: readonly unknown[];
  readonly isLocal: boolean;
  /** 1, or where a timer of the workflow waited for this try. */
  readonly attempt: number;
}

type Fate = 'ok' | 'retryable' | 'fatal' | 'death' | 'zombie' | 'exhausted';

/** After so many tries all goes well: every run ends. */
const PATIENCE = 4;
const HEARTBEAT_TIMEOUT_MS = 10_000;
/** Shorter than the real ones: what polls meanwhile would fill the run. */
const SCHEDULE_TO_CLOSE_MS = 300_000;
/** Longer waits of a local activity are timers of its workflow. */
const LOCAL_RETRY_THRESHOLD_MS = 20_000;
const POLL_MS = 1000;

export function live(world: World, facts: ActivityFacts, resolve: (ending: Ending) => void): Life {
  const { random, clock, plan } = world;
  const { trouble } = plan;
  const { type, id, args, isLocal } = facts;
  let over = false;
  let cancelled = false;
  /** Ends the attempt that is going on, when there is one. */
  let interrupt: (() => void) | undefined;
  let waiting = true;

  const end = (ending: Ending) => {
    if (over) return;
    over = true;
    resolve(ending);
  };
  const wrapped = (cause: Failure) => (isLocal && random.chance(0.5) ? cause : ofActivity(type, id, cause));
  const endCancelled = () => end({ cancelled: { failure: wrapped(cancelledFailure) } });
  const endFailed = (cause: Failure) => end({ failed: { failure: wrapped(cause) } });

  /** Most carry their boundary, any of them: the workflow knows no other source of it. */
  const thrown = (what: string, nonRetryable: boolean) =>
    applicationFailure(
      `${type}-${what}`,
      nonRetryable,
      named(plan.seed, `${type} ${id} ${what}`).pick([undefined, ...BOUNDARIES]),
    );

  const fateOf = (attempt: number): Fate => {
    if (attempt >= PATIENCE) return 'ok';
    if (random.chance(trouble.fatal * 0.3)) return 'fatal';
    if (random.chance(trouble.exhausted * 0.3)) return 'exhausted';
    if (random.chance(trouble.retryable)) return 'retryable';
    if (isLocal) return 'ok';
    return random.chance(trouble.death) ? 'death' : random.chance(trouble.zombie) ? 'zombie' : 'ok';
  };

  const backOff = (attempt: number) => {
    const backoffDuration = timestamp(random.int(LOCAL_RETRY_THRESHOLD_MS, 30_000));
    end({ backoff: { attempt: attempt + 1, backoffDuration, originalScheduleTime: timestamp(clock.now) } });
  };

  const retry = (attempt: number, failure: Failure) => {
    if (over) return;
    if (cancelled) return isLocal && random.chance(0.5) ? endCancelled() : endFailed(failure);
    if (isLocal && random.chance(trouble.backoff)) return backOff(attempt);
    waiting = true;
    clock.after(random.int(200, 5000), () => begin(attempt + 1));
  };

  function begin(attempt: number): void {
    if (over) return;
    waiting = false;
    const held = world.ambush(type);
    if (held === 'backoff' && isLocal) return backOff(attempt);
    // What is held up breaks more often: a stop that meets a failure is what all this waits for.
    const fate = held && random.chance(0.4) ? random.pick<Fate>(['retryable', 'fatal']) : fateOf(attempt);
    const work = body(world, type, args);
    let settled = false;
    const once = (act: () => void) => () => {
      if (settled) return;
      settled = true;
      interrupt = undefined;
      act();
    };
    interrupt = once(() => {
      work.abandon();
      endCancelled();
    });
    const quickMs = isLocal && !random.chance(trouble.slowLocal) ? random.int(0, 40) : random.int(20, 12_000);
    clock.after(
      held ? random.int(9000, 14_000) : quickMs,
      once(() => {
        switch (fate) {
          case 'ok': {
            const value = work.done();
            if (value !== NOT_YET) return end({ completed: { result: payload(value) } });
            if (!over) clock.after(POLL_MS, () => begin(attempt));
            return;
          }
          case 'fatal':
            work.abandon();
            return endFailed(thrown('broke', true));
          case 'exhausted':
            work.abandon();
            waiting = true;
            return clock.after(isLocal ? LOCAL_RETRY_THRESHOLD_MS : SCHEDULE_TO_CLOSE_MS, () =>
              endFailed(scheduleToCloseTimeout(thrown('busy', false))),
            );
          case 'retryable':
            work.abandon();
            return retry(attempt, thrown('busy', false));
          case 'death':
            if (random.chance(0.5)) work.abandon();
            else work.done();
            return clock.after(HEARTBEAT_TIMEOUT_MS, () => retry(attempt, heartbeatTimeout));
          case 'zombie':
            clock.after(HEARTBEAT_TIMEOUT_MS, () => retry(attempt, heartbeatTimeout));
            return clock.after(random.int(0, 40_000), () => void work.done());
        }
      }),
    );
  }

  clock.after(isLocal ? 0 : random.int(0, 300), () => begin(facts.attempt));
  return {
    cancel() {
      cancelled = true;
      // Nobody is at it: the server ends it at once. A worker hears of it with its next heartbeat.
      if (waiting) return clock.after(0, endCancelled);
      if (!random.chance(trouble.ignoresCancel)) clock.after(random.int(0, 5000), () => interrupt?.());
    },
    forget() {
      over = true;
    },
  };
}
