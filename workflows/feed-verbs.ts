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
} from '../domain/feed-messages.ts';
import * as limits from '../domain/feed-limits.ts';
import * as rules from '../domain/feed-rules.ts';
import { type FeedState, isExhausted, type Lease } from '../domain/feed-state.ts';
import { sizeOf } from '../domain/number-set.ts';
import { record, refusal, whileMoved } from './feed-ledger.ts';
import { trainedAfter } from './feed-steps.ts';
import { loadWeights } from './feed-weights.ts';

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

export function openVerbs(input: FeedInput, stateOf: () => FeedState | undefined, changed: () => void): Verbs {
  const { run, out } = input;
  let updates = 0;
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

  async function take(given: LeaseArguments): Promise<Lease | undefined> {
    return alone(async () => rules.takeLease(stateOf()!, given, `${run}~${uuid4()}`, Date.now()));
  }

  setHandler(
    lease,
    async (given) => {
      updates++;
      const state = await opened();
      const until = Date.now() + (given.wait ?? 0) * 1000;
      let granted: Lease | undefined;
      waiting++;
      try {
        // Others may take them first.
        while (!(granted = await take(given)) && Date.now() < until && !draining && !isExhausted(stateOf()!)) {
          await condition(() => draining || rules.canLease(stateOf()!, given), until - Date.now());
        }
      } finally {
        waiting--;
      }
      changed();
      if (granted) {
        const { request: _, ...facts } = granted;
        return { lease: facts };
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
      updates++;
      await opened();
      return alone(async () => {
        const state = stateOf()!;
        const checked = rules.checkAcknowledge(state, given);
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
      updates++;
      await opened();
      const weights = given.weights ?? null;
      const done = publishing.then(async (): Promise<VersionResult> => {
        const check = () => {
          const checked = rules.checkVersion(stateOf()!, given);
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
      updates++;
      await opened();
      return alone(async () => {
        const state = stateOf()!;
        const checked = rules.checkRewind(state, given);
        if (typeof checked === 'object') throw refusal(checked);
        if (checked) return { version: given.version, line: state.line, offered: 0 };
        const trained =
          given.version < state.trained
            ? await trainedAfter({ run, out, entries: state.entries, version: given.version })
            : [];
        await record(input, state, { kind: 'rewind', to: given.version });
        const offered = rules.rewind(state, given.version, trained);
        changed();
        return { version: given.version, line: state.line, offered };
      });
    },
    { description: 'Goes back to a checkpoint', ...validated('rewind', rules.checkRewind) },
  );

  setHandler(
    renew,
    async ({ lease: id, seconds }) => {
      updates++;
      await opened();
      return alone(async () => {
        const found = rules.findLease(stateOf()!, id);
        if (rules.isRefusal(found)) throw refusal(found);
        if (!stateOf()!.leases.includes(found)) {
          throw refusal({
            reason: 'no-such-lease',
            message: `Lease ${id} has ended: its ${sizeOf(found.groups)} groups are offered again.`,
            fix: 'Acknowledge it, if they were trained, or lease others.',
          });
        }
        found.until = Date.now() + (seconds ?? DEFAULT_LEASE_SECONDS) * 1000;
        changed();
        return { lease: id, until: found.until };
      });
    },
    { description: 'The lease ends later', ...validated('renew') },
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
