// The Updates of a feed, by the names that any client uses. Changes of the state run one at a time, in the order of their
// arrival, and the ledger's entry is on disk before the state follows. A refusal is an ApplicationFailure with a stable
// type; one that a validator can see writes nothing into the history.

import { condition, defineQuery, defineUpdate, setHandler, uuid4 } from '@temporalio/workflow';
import {
  type AcknowledgeArguments,
  type AcknowledgeResult,
  argumentProblem,
  DEFAULT_LEASE_SECONDS,
  type FeedInput,
  type FeedProgress,
  type LeaseArguments,
  type LeaseResult,
  type RenewArguments,
  type RewindArguments,
  type RewindResult,
  type Verb,
  type VersionArguments,
  type VersionResult,
} from '../domain/feed/messages.ts';
import { checkLine, repeatedRewind } from '../domain/feed/fence.ts';
import * as limits from '../domain/feed/limits.ts';
import * as rules from '../domain/feed/rules.ts';
import { type FeedState, isExhausted, type Lease } from '../domain/feed/state.ts';
import { sizeOf } from '../domain/run/number-set.ts';
import { record, refusal, whileMoved } from './feed-ledger.ts';
import { openDeadline } from './feed-leases.ts';
import { trainedAfter } from './feed-steps.ts';
import { loadWeights } from './feed-weights.ts';
import type { HistorySteps } from './history-steps.ts';

export const lease = defineUpdate<LeaseResult, [LeaseArguments]>('lease');
export const acknowledge = defineUpdate<AcknowledgeResult, [AcknowledgeArguments]>('acknowledge');
export const version = defineUpdate<VersionResult, [VersionArguments]>('version');
export const rewind = defineUpdate<RewindResult, [RewindArguments]>('rewind');
export const renew = defineUpdate<{ lease: string; until: number }, [RenewArguments]>('renew');
export const feedProgress = defineQuery<FeedProgress | null>('progress');

/** Updates that wait for groups at once: the server lets ten be in flight. */
const MOST_WAITING = 5;
const ARGUMENTS = 'docs/feed.md has the arguments.';
const LIMITED: ReadonlySet<Verb> = new Set(['acknowledge', 'version']);

export interface Verbs {
  /** Runs work that changes the state, after all that was asked for before it. */
  alone<T>(work: () => Promise<T>): Promise<T>;
  /** Updates so far. */
  readonly updates: () => number;
  /** Ends the waiting of leases: the workflow is to continue as new. */
  drain(): void;
}

export function openVerbs(
  input: FeedInput,
  stateOf: () => FeedState | undefined,
  changed: () => void,
  history: HistorySteps,
): Verbs {
  const { run, out } = input;
  let updates = 0;
  const begun = () => {
    updates++;
    history.did();
  };
  let waiting = 0;
  let draining = false;
  let tail: Promise<unknown> = Promise.resolve();

  const alone = <T>(work: () => Promise<T>): Promise<T> => {
    const done = tail.then(() => whileMoved(work));
    tail = done.catch(() => undefined);
    return done;
  };
  const opened = async (): Promise<FeedState> => {
    await condition(() => stateOf() !== undefined);
    return stateOf()!;
  };
  const validated = (verb: Verb, more: (state: FeedState, given: never) => object | boolean = () => true) => ({
    validator: (given: unknown) => {
      const problem = argumentProblem(verb, given);
      if (problem !== undefined) throw refusal({ reason: 'bad-value', message: `${problem}.`, fix: ARGUMENTS });
      const state = stateOf() ?? input.carried;
      // The limits on steps are asked here only: what is accepted unseen would escape them.
      if (!state && LIMITED.has(verb)) throw refusal(limits.OPENING);
      const found = state && more(state, given as never);
      if (typeof found === 'object' && rules.isRefusal(found)) throw refusal(found);
    },
  });

  function mustBeNewest(line: number): void {
    const stale = checkLine(stateOf()!, line);
    if (stale) throw refusal(stale);
  }

  async function take(given: LeaseArguments): Promise<Lease | undefined> {
    return alone(async () => {
      mustBeNewest(given.line ?? 0);
      // By the name in its record: its folder may have been renamed.
      return rules.takeLease(stateOf()!, given, `${stateOf()!.run}~${uuid4()}`, Date.now());
    });
  }

  setHandler(
    lease,
    async (given) => {
      begun();
      const state = await opened();
      const waitMs = (given.wait ?? 0) * 1000;
      const deadline = openDeadline(waitMs);
      let granted: Lease | undefined;
      waiting++;
      try {
        // Others may take them first.
        while (!(granted = await take(given)) && !deadline.isOver() && !draining && !isExhausted(stateOf()!)) {
          const woken = () => rules.canLease(stateOf()!, given) || checkLine(stateOf()!, given.line) !== undefined;
          await condition(() => draining || deadline.isOver() || woken());
        }
      } finally {
        deadline.cancel();
        waiting--;
      }
      changed();
      if (granted) {
        const { request: _, ...facts } = granted;
        return { lease: { ...facts, floors: stateOf()!.floors } };
      }
      return { lease: null, why: isExhausted(state) ? 'finished' : draining ? 'again' : 'waiting' };
    },
    {
      description: 'Groups for a consumer, until the lease ends',
      ...validated('lease', (state, given: LeaseArguments) =>
        given.wait && waiting >= MOST_WAITING
          ? { reason: 'feed-busy', message: `${waiting} leases wait already.`, fix: 'Ask again in a second.' }
          : limits.mayLease(state, given),
      ),
    },
  );

  setHandler(
    acknowledge,
    async (given) => {
      begun();
      await opened();
      return alone(async () => {
        const state = stateOf()!;
        const checked = limits.mayAcknowledge(state, given);
        if (rules.isRefusal(checked)) throw refusal(checked);
        if ('before' in checked) return { ...checked.before, already: true };
        const { id, consumer, groups, version: leasedAt } = checked.lease;
        await record(input, state, { kind: 'trained', lease: id, consumer, groups, leasedAt, version: given.version });
        const done = rules.acknowledge(state, checked.lease, given.version);
        changed();
        return { ...done, already: false };
      });
    },
    { description: 'These groups were trained', ...validated('acknowledge', limits.mayAcknowledge) },
  );

  let publishing: Promise<unknown> = Promise.resolve();
  setHandler(
    version,
    async (given) => {
      begun();
      await opened();
      const weights = given.weights ?? null;
      const done = publishing.then(async (): Promise<VersionResult> => {
        const check = () => {
          // A rewind may have come since it was accepted.
          const checked = limits.mayPublish(stateOf()!, given);
          if (typeof checked === 'object') throw refusal(checked);
          return checked;
        };
        if (check()) return { version: given.version, already: true };
        if (weights !== null) await loadWeights(input, stateOf()!, given.version, weights);
        return alone(async () => {
          if (check()) return { version: given.version, already: true };
          const state = stateOf()!;
          await record(input, state, { kind: 'version', version: given.version, weights });
          rules.publish(state, given.version, weights);
          changed();
          return { version: given.version, already: false };
        });
      });
      publishing = done.catch(() => undefined);
      return done;
    },
    { description: 'The newest weights', ...validated('version', limits.mayPublish) },
  );

  setHandler(
    rewind,
    async (given) => {
      begun();
      await opened();
      return alone(async () => {
        const state = stateOf()!;
        const checked = repeatedRewind(state, given.request) ?? rules.checkRewind(state, given);
        if (checked) {
          if (rules.isRefusal(checked)) throw refusal(checked);
          const { version, line, offered } = checked;
          return { version, line, offered };
        }
        const trained =
          given.version < state.trained
            ? await trainedAfter({ run, out, entries: state.entries, version: given.version })
            : [];
        const named = given.request == null ? {} : { request: given.request };
        await record(input, state, { kind: 'rewind', to: given.version, ...named });
        const offered = rules.rewind(state, given.version, trained, given.request);
        changed();
        return { version: given.version, line: state.line, offered };
      });
    },
    { description: 'Goes back to a checkpoint', ...validated('rewind', limits.mayRewind) },
  );

  setHandler(
    renew,
    async ({ lease: id, seconds, line }) => {
      begun();
      await opened();
      return alone(async () => {
        if (line != null) mustBeNewest(line);
        const found = rules.findLease(stateOf()!, id);
        if (rules.isRefusal(found)) throw refusal(found);
        if (!stateOf()!.leases.includes(found)) {
          throw refusal({
            reason: 'no-such-lease',
            message: `Lease ${id} has ended: its ${sizeOf(found.groups)} groups are offered again.`,
            fix: 'Acknowledge it, if they were trained, or lease others.',
          });
        }
        const until = Date.now() + (seconds ?? DEFAULT_LEASE_SECONDS) * 1000;
        rules.renewLease(stateOf()!, found, until);
        changed();
        return { lease: id, until };
      });
    },
    { description: 'The lease ends later', ...validated('renew', limits.mayRenew) },
  );

  setHandler(feedProgress, () => (stateOf() ? rules.feedProgress(stateOf()!) : null), {
    description: 'Open, leased, trained and left out',
  });

  return {
    alone,
    updates: () => updates,
    drain() {
      draining = true;
    },
  };
}
