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
import { record, refusal, trainedAfter, whileMoved } from './feed-steps.ts';
import { loadWeights } from './feed-weights.ts';
import type { HistoryLength } from './history-length.ts';

const leaseUpdate = defineUpdate<LeaseResult, [ArgumentsOf<'lease'>]>('lease');
const acknowledgeUpdate = defineUpdate<AcknowledgeResult, [ArgumentsOf<'acknowledge'>]>('acknowledge');
const versionUpdate = defineUpdate<VersionResult, [ArgumentsOf<'version'>]>('version');
const rewindUpdate = defineUpdate<RewindResult, [ArgumentsOf<'rewind'>]>('rewind');
const progressQuery = defineQuery<FeedProgress | null>('progress');

/** Updates that wait for groups at once: the server lets ten be in flight. */
const MOST_WAITING = 5;

interface VerbsInput {
  readonly input: FeedInput;
  /** Undefined until the ledger is read. */
  readonly stateOf: () => FeedState | undefined;
  /** The state is another one. */
  readonly changed: () => void;
  readonly history: HistoryLength;
  /** A version was published. */
  readonly onVersion: () => void;
}

/** The feed as its verbs use it. */
interface Served extends VerbsInput {
  /** The state, once the ledger is read; each Update begins with it. */
  opened(): Promise<FeedState>;
  /** Runs work that changes the state, after all that was asked for before it. */
  alone<T>(work: () => Promise<T>): Promise<T>;
}

export function openVerbs(verbs: VerbsInput) {
  const { stateOf, changed, history } = verbs;
  let updates = 0;
  let draining = false;
  let lastWork: Promise<unknown> = Promise.resolve();
  const served: Served = {
    ...verbs,
    async opened() {
      updates++;
      history.did();
      await condition(() => stateOf() !== undefined);
      return stateOf()!;
    },
    alone(work) {
      const done = lastWork.then(() => whileMoved(work));
      lastWork = done.catch(() => undefined);
      return done.finally(changed);
    },
  };
  serveLeases(served, () => draining);
  serveAcknowledgements(served);
  serveVersions(served);
  serveRewinds(served);
  setHandler(progressQuery, () => (stateOf() ? feedProgress(stateOf()!) : null), {
    description: 'Open, leased, trained and left out',
  });
  return {
    updates: () => updates,
    /** Ends the waiting of leases: the workflow is to continue as new. */
    drain(): void {
      draining = true;
    },
  };
}

function serveLeases(served: Served, isDraining: () => boolean): void {
  let waiting = 0;
  setHandler(
    leaseUpdate,
    async (asked) => {
      const state = await served.opened();
      const deadline = Date.now() + (asked.wait ?? 0) * 1000;
      const take = async () => {
        allowed(rules.checkLine(state, asked.line));
        // The run's name in its record: its folder may have been renamed.
        return rules.takeLease(state, asked, `${state.run}~${uuid4()}`, Date.now());
      };
      const mayWait = () => Date.now() < deadline && !isDraining() && !isExhausted(state);
      let lease;
      waiting++;
      try {
        // Others may take the groups first.
        while (!(lease = await served.alone(take)) && mayWait()) await nextChance(state, asked, deadline, isDraining);
      } finally {
        waiting--;
      }
      if (!lease) return { lease: null, why: isExhausted(state) ? 'finished' : isDraining() ? 'again' : 'waiting' };
      const { request: _, ...facts } = lease;
      return { lease: { ...facts, floors: state.floors } };
    },
    {
      description: 'Groups for a consumer, until the lease ends',
      validator: validatorOf(served, 'lease', (state, asked: ArgumentsOf<'lease'>) =>
        asked.wait && waiting >= MOST_WAITING
          ? { reason: 'feed-busy', message: `${waiting} leases wait already.`, fix: 'Ask again in a second.' }
          : rules.checkLease(state, asked),
      ),
    },
  );
}

/** Resolves when groups may be had or will never be, when another lease ends, and at the deadline. */
function nextChance(
  state: FeedState,
  asked: ArgumentsOf<'lease'>,
  deadline: number,
  isDraining: () => boolean,
): Promise<boolean> {
  const isStale = () => rules.checkLine(state, asked.line) !== undefined;
  const woken = () => isDraining() || isStale() || rules.canLease(state, asked, Date.now());
  const leaseEnds = state.leases.map(({ until }) => until).filter((until) => until > Date.now());
  return condition(woken, Math.max(1, Math.min(deadline, ...leaseEnds) - Date.now()));
}

function serveAcknowledgements(served: Served): void {
  setHandler(
    acknowledgeUpdate,
    async (asked) => {
      const state = await served.opened();
      return served.alone(async () => {
        const standing = allowed(rules.checkAcknowledge(state, asked));
        if ('before' in standing) return { ...standing.before, already: true };
        const { id, consumer, groups, version: leasedAt } = standing.lease;
        const { version } = asked;
        await record(served.input, state, { kind: 'trained', lease: id, consumer, groups, leasedAt, version });
        return { ...acknowledge(state, standing.lease, version), already: false };
      });
    },
    {
      description: 'These groups were trained',
      validator: validatorOf(served, 'acknowledge', rules.checkAcknowledge),
    },
  );
}

function serveVersions(served: Served): void {
  let lastPublishing: Promise<unknown> = Promise.resolve();
  setHandler(
    versionUpdate,
    async (asked) => {
      const state = await served.opened();
      const { version } = asked;
      const weights = asked.weights ?? asked.adapter ?? null;
      const kind = asked.adapter == null ? {} : ({ adapter: true } as const);
      // A rewind may have come since it was accepted.
      const isPublished = () => allowed(rules.checkVersion(state, asked));
      const done = lastPublishing.then(async () => {
        if (isPublished()) return { version, already: true };
        if (weights !== null) await loadWeights(served.input, state, version, { weights, ...kind });
        return served.alone(async () => {
          if (isPublished()) return { version, already: true };
          await record(served.input, state, { kind: 'version', version, weights, ...kind });
          publish(state, version, weights);
          served.onVersion();
          return { version, already: false };
        });
      });
      lastPublishing = done.catch(() => undefined);
      return done;
    },
    { description: 'The newest weights', validator: validatorOf(served, 'version', rules.checkVersion) },
  );
}

function serveRewinds(served: Served): void {
  setHandler(
    rewindUpdate,
    async (asked) => {
      const state = await served.opened();
      const { version, request } = asked;
      return served.alone(async () => {
        const before = allowed(rules.checkRewind(state, asked));
        if (before) return { version: before.version, line: before.line, offered: before.offered };
        const { run, out } = served.input;
        const { entries, trained } = state;
        const trainedLater = version < trained ? await trainedAfter({ run, out, entries, version }) : [];
        await record(served.input, state, { kind: 'rewind', to: version, ...(request != null && { request }) });
        const offered = rewind(state, version, trainedLater, request ?? undefined);
        return { version, line: state.line, offered };
      });
    },
    { description: 'Goes back to a checkpoint', validator: validatorOf(served, 'rewind', rules.checkRewind) },
  );
}

/** Throws a refusal for arguments of another form, and for what the rules refuse in the state as it is. */
function validatorOf<A>({ input, stateOf }: Served, verb: Verb, check: (state: FeedState, asked: A) => unknown) {
  return (asked: A): void => {
    const problem = argumentProblem(verb, asked);
    const fix = 'docs/feed.md has the arguments.';
    if (problem !== undefined) throw refusal({ reason: 'bad-value', message: `${problem}.`, fix });
    const state = stateOf() ?? input.carried;
    if (state) allowed(check(state, asked));
    else if (verb === 'acknowledge' || verb === 'version') throw refusal(rules.OPENING);
  };
}

/** The answer of the rules; throws their refusal. */
function allowed<T>(answer: T): Exclude<T, rules.FeedRefusal> {
  if (typeof answer === 'object' && answer !== null && rules.isFeedRefusal(answer)) throw refusal(answer);
  return answer as Exclude<T, rules.FeedRefusal>;
}
