// The Updates of a feed, by the names that any client uses. Changes of the state run one at a time, in the order of their
// arrival, and the ledger's entry is on disk before the state follows. A refusal is an ApplicationFailure with a stable
// type; one that a validator can see writes nothing into the history.

import { condition, defineQuery, defineUpdate, setHandler, uuid4 } from '@temporalio/workflow';
import {
  type AcknowledgeResult,
  argumentProblem,
  type ArgumentsOf,
  type FeedInput,
  feedProgress,
  type FeedProgress,
  type LeaseResult,
  type RewindResult,
  type Verb,
  type VersionResult,
} from '../domain/feed/messages.ts';
import * as rules from '../domain/feed/rules.ts';
import { acknowledge, type FeedState, isExhausted, publish, rewind } from '../domain/feed/state.ts';
import { record, refusal, whileMoved } from './feed-ledger.ts';
import { trainedAfter } from './feed-steps.ts';
import { loadWeights } from './feed-weights.ts';
import type { HistoryLength } from './history-length.ts';

const leaseUpdate = defineUpdate<LeaseResult, [ArgumentsOf<'lease'>]>('lease');
const acknowledgeUpdate = defineUpdate<AcknowledgeResult, [ArgumentsOf<'acknowledge'>]>('acknowledge');
const versionUpdate = defineUpdate<VersionResult, [ArgumentsOf<'version'>]>('version');
const rewindUpdate = defineUpdate<RewindResult, [ArgumentsOf<'rewind'>]>('rewind');
const progressQuery = defineQuery<FeedProgress | null>('progress');

/** Updates that wait for groups at once: the server lets ten be in flight. */
const MOST_WAITING = 5;

export interface Verbs {
  /** Updates so far. */
  readonly updates: () => number;
  /** Ends the waiting of leases: the workflow is to continue as new. */
  drain(): void;
}

export function openVerbs(
  input: FeedInput,
  stateOf: () => FeedState | undefined,
  changed: () => void,
  history: HistoryLength,
  onVersion: () => void,
): Verbs {
  let updates = 0;
  let waiting = 0;
  let draining = false;
  let tail: Promise<unknown> = Promise.resolve();

  const opened = async (): Promise<FeedState> => {
    updates++;
    history.did();
    await condition(() => stateOf() !== undefined);
    return stateOf()!;
  };
  /** Runs work that changes the state, after all that was asked for before it. */
  const alone = <T>(work: () => Promise<T>): Promise<T> => {
    const done = tail.then(() => whileMoved(work));
    tail = done.catch(() => undefined);
    return done.finally(changed);
  };
  const validated = <A>(verb: Verb, find: (state: FeedState, given: A) => unknown) => ({
    validator: (given: A) => {
      const problem = argumentProblem(verb, given);
      const fix = 'docs/feed.md has the arguments.';
      if (problem !== undefined) throw refusal({ reason: 'bad-value', message: `${problem}.`, fix });
      const state = stateOf() ?? input.carried;
      if (state) allowed(find(state, given));
      else if (verb === 'acknowledge' || verb === 'version') throw refusal(rules.OPENING);
    },
  });

  setHandler(
    leaseUpdate,
    async (given) => {
      const state = await opened();
      const deadline = Date.now() + (given.wait ?? 0) * 1000;
      // By the name in its record: its folder may have been renamed.
      const take = async () => {
        allowed(rules.checkLine(state, given.line));
        return rules.takeLease(state, given, `${state.run}~${uuid4()}`, Date.now());
      };
      let lease;
      waiting++;
      try {
        // Others may take them first.
        while (!(lease = await alone(take)) && Date.now() < deadline && !draining && !isExhausted(state)) {
          const isStale = () => rules.checkLine(state, given.line) !== undefined;
          const woken = () => draining || isStale() || rules.canLease(state, given, Date.now());
          const ends = state.leases.map(({ until }) => until).filter((until) => until > Date.now());
          await condition(woken, Math.max(1, Math.min(deadline, ...ends) - Date.now()));
        }
      } finally {
        waiting--;
      }
      if (!lease) return { lease: null, why: isExhausted(state) ? 'finished' : draining ? 'again' : 'waiting' };
      const { request: _, ...facts } = lease;
      return { lease: { ...facts, floors: state.floors } };
    },
    {
      description: 'Groups for a consumer, until the lease ends',
      ...validated<ArgumentsOf<'lease'>>('lease', (state, given) =>
        given.wait && waiting >= MOST_WAITING
          ? { reason: 'feed-busy', message: `${waiting} leases wait already.`, fix: 'Ask again in a second.' }
          : rules.checkLease(state, given),
      ),
    },
  );

  setHandler(
    acknowledgeUpdate,
    async (given) => {
      const state = await opened();
      return alone(async () => {
        const found = allowed(rules.checkAcknowledge(state, given));
        if ('before' in found) return { ...found.before, already: true };
        const { id, consumer, groups, version: leasedAt } = found.lease;
        await record(input, state, { kind: 'trained', lease: id, consumer, groups, leasedAt, version: given.version });
        return { ...acknowledge(state, found.lease, given.version), already: false };
      });
    },
    { description: 'These groups were trained', ...validated('acknowledge', rules.checkAcknowledge) },
  );

  let publishing: Promise<unknown> = Promise.resolve();
  setHandler(
    versionUpdate,
    async (given) => {
      const state = await opened();
      const { version, weights = null } = given;
      // A rewind may have come since it was accepted.
      const isPublished = () => allowed(rules.checkVersion(state, given));
      const done = publishing.then(async () => {
        if (isPublished()) return { version, already: true };
        if (weights !== null) await loadWeights(input, state, version, weights);
        return alone(async () => {
          if (isPublished()) return { version, already: true };
          await record(input, state, { kind: 'version', version, weights });
          publish(state, version, weights);
          onVersion();
          return { version, already: false };
        });
      });
      publishing = done.catch(() => undefined);
      return done;
    },
    { description: 'The newest weights', ...validated('version', rules.checkVersion) },
  );

  setHandler(
    rewindUpdate,
    async (given) => {
      const state = await opened();
      const { version, request } = given;
      return alone(async () => {
        const known = allowed(rules.checkRewind(state, given));
        if (known) return { version: known.version, line: known.line, offered: known.offered };
        const { run, out } = input;
        const { entries, trained } = state;
        const again = version < trained ? await trainedAfter({ run, out, entries, version }) : [];
        const named = request == null ? {} : { request };
        await record(input, state, { kind: 'rewind', to: version, ...named });
        const offered = rewind(state, version, again, request ?? undefined);
        return { version, line: state.line, offered };
      });
    },
    { description: 'Goes back to a checkpoint', ...validated('rewind', rules.checkRewind) },
  );

  setHandler(progressQuery, () => (stateOf() ? feedProgress(stateOf()!) : null), {
    description: 'Open, leased, trained and left out',
  });

  return {
    updates: () => updates,
    drain() {
      draining = true;
    },
  };
}

/** The finding of the rules; throws their refusal. */
function allowed<T>(found: T): Exclude<T, rules.Refusal> {
  if (typeof found === 'object' && found !== null && rules.isRefusal(found)) throw refusal(found);
  return found as Exclude<T, rules.Refusal>;
}
