// The effects of a feed’s verbs on its state, and their refusals. Pure, and all in memory: the ledger's entry of an
// acknowledgement, a version or a rewind is written before the state follows. A refusal changes nothing.

import {
  type AcknowledgeArguments,
  DEFAULT_LEASE_SECONDS,
  type FeedProgress,
  type LeaseArguments,
  type RewindArguments,
  type VersionArguments,
} from './messages.ts';
import {
  type Acknowledged,
  admitted,
  available,
  type FeedState,
  isExhausted,
  type Lease,
  noteAdmission,
  nothingToCome,
  totalGroups,
  trainsNext,
} from './state.ts';
import type { TrainedEntry } from './entry.ts';
import { addFloor, rememberRewind } from './line.ts';
import type { LeftOut } from '../rollout/group.ts';
import { numbersIn, type NumberSet, setOf, sizeOf, union, without } from '../run/number-set.ts';
import type { Reason } from '../errors/reasons.ts';

export interface Refusal {
  readonly reason: Reason<'usage'>;
  readonly message: string;
  readonly fix: string;
}

/** As many as are remembered of each kind. */
const REMEMBERED = 512;

export function takeLease(
  state: FeedState,
  { consumer, groups, least = groups, seconds, request }: LeaseArguments,
  id: string,
  now: number,
): Lease | undefined {
  const known = request == null ? undefined : leaseOfRequest(state, consumer, request);
  if (known) return known;
  const chosen = available(state, groups);
  if (chosen.length === 0 || (chosen.length < (least ?? groups) && !isRest(state))) return undefined;
  const set = setOf(chosen);
  const lease: Lease = {
    id,
    consumer,
    request: request ?? null,
    groups: set,
    version: state.version,
    trainedAt: trainsNext(state),
    line: state.line,
    until: now + (seconds ?? DEFAULT_LEASE_SECONDS) * 1000,
  };
  state.ready = without(state.ready, set);
  state.leases.push(lease);
  // An earlier lease of one of these groups can no longer be acknowledged.
  state.expired = state.expired.filter((old) => sizeOf(without(old.groups, set)) === sizeOf(old.groups));
  return lease;
}

export function leaseOfRequest(state: FeedState, consumer: string, request: string): Lease | undefined {
  return state.leases.find((lease) => lease.request === request && lease.consumer === consumer);
}

/** True if a lease of these would be granted now. */
export function canLease(state: FeedState, { consumer, groups, least, request }: LeaseArguments): boolean {
  if (request != null && leaseOfRequest(state, consumer, request)) return true;
  if (isExhausted(state) || (isRest(state) && state.ready.length > 0)) return true;
  const needed = least ?? groups;
  return sizeOf(state.ready) >= needed && available(state, needed).length >= needed;
}

/** Nothing is to come beside what is ready: a lease may be smaller than its caller asked for. */
function isRest(state: FeedState): boolean {
  // Groups that others hold may be offered again, and then make a whole step.
  return nothingToCome(state) && (state.shape.batchGroups === null || state.leases.length === 0);
}

/** Ends the leases whose time is over: their groups are offered again. */
export function endLeases(state: FeedState, isOver: (lease: Lease) => boolean): void {
  const over = state.leases.filter(isOver);
  if (over.length === 0) return;
  state.leases = state.leases.filter((lease) => !isOver(lease));
  for (const { groups } of over) state.ready = union(state.ready, groups);
  state.expired = [...state.expired, ...over].slice(-REMEMBERED);
}

/** Another object than before: its timer is another one. */
export function renewLease(state: FeedState, lease: Lease, until: number): void {
  state.leases = state.leases.map((one) => (one === lease ? { ...lease, until } : one));
}

export function findLease(state: FeedState, id: string): Lease | Refusal {
  const found = [...state.leases, ...state.expired].find((lease) => lease.id === id);
  if (found) return found;
  if (!id.startsWith(`${state.run}~`)) {
    return {
      reason: 'no-such-lease',
      message: `Lease ${JSON.stringify(id.slice(0, 80))} is not of run "${state.run}".`,
      fix: 'Send it to the feed of the run that gave it.',
    };
  }
  return {
    reason: 'no-such-lease',
    message: `Lease ${JSON.stringify(id.slice(0, 80))} does not exist, or has ended: its groups were given to others, or the feed was rewound.`,
    fix: 'Discard the step that used it, go back to the last checkpoint, and call `rewind` with its version.',
  };
}

export const isRefusal = (value: object): value is Refusal => 'reason' in value && 'fix' in value;

/** The lease, or the same acknowledgement from before, or why not. */
export function checkAcknowledge(
  state: FeedState,
  { lease: id, version }: AcknowledgeArguments,
): { readonly lease: Lease } | { readonly before: Acknowledged } | Refusal {
  const before = state.acknowledged.find(({ lease }) => lease === id);
  if (before) {
    return before.version === version
      ? { before }
      : {
          reason: 'version-goes-back',
          message: `Lease ${id} was acknowledged with version ${before.version} already.`,
          fix: `Acknowledge it with ${before.version}, or not again.`,
        };
  }
  const lease = findLease(state, id);
  if (isRefusal(lease)) return lease;
  if (version <= lease.version) {
    return {
      reason: 'version-goes-back',
      message: `Lease ${id} was taken at version ${lease.version}, and is trained into a later one, not into ${version}.`,
      fix: `Acknowledge with the version that the step makes: ${lease.version + 1} or above.`,
    };
  }
  const least = Math.max(state.version, state.trained);
  if (version < least) {
    return {
      reason: 'version-goes-back',
      message: `Version ${version} goes back: the trainer is at version ${least}.`,
      fix: 'Versions grow; to go back to a checkpoint, call `rewind`.',
    };
  }
  return { lease };
}

export function acknowledge(state: FeedState, lease: Lease, version: number): Acknowledged {
  const groups = sizeOf(lease.groups);
  state.leases = state.leases.filter(({ id }) => id !== lease.id);
  state.expired = state.expired.filter(({ id }) => id !== lease.id);
  // An ended lease's groups are offered again until then.
  state.ready = without(state.ready, lease.groups);
  state.trained = version;
  state.trainedGroups += groups;
  const acknowledged = { lease: lease.id, version, groups };
  state.acknowledged = [...state.acknowledged, acknowledged].slice(-REMEMBERED);
  if (version > state.version) state.ahead.push({ version, groups });
  return acknowledged;
}

/** An acknowledgement that is in the ledger, and that this state has not seen. */
export function trainedBy(state: FeedState, { lease: id, consumer, groups, leasedAt, version }: TrainedEntry): void {
  const { line } = state;
  const lease = { id, consumer, request: null, groups, version: leasedAt, trainedAt: leasedAt, line, until: 0 };
  // Groups that this state gave to others since are trained: those leases end.
  endLeases(state, (other) => other.id !== id && sizeOf(without(other.groups, groups)) < sizeOf(other.groups));
  const last = groups.at(-1)?.[1] ?? -1;
  if (last >= state.next) {
    state.playing = union(state.playing, [[state.next, last]]);
    state.next = last + 1;
  }
  state.playing = without(state.playing, groups);
  state.expired = state.expired.filter((other) => sizeOf(without(other.groups, groups)) === sizeOf(other.groups));
  acknowledge(state, lease, version);
}

/** True if there is nothing to do. */
export function checkVersion(state: FeedState, { version, weights }: VersionArguments): boolean | Refusal {
  if (version === state.version) return weights == null || weights === state.weights;
  if (version > state.version) return false;
  return {
    reason: 'version-goes-back',
    message: `Version ${version} goes back: version ${state.version} is published.`,
    fix: 'Versions grow; to go back to a checkpoint, call `rewind`.',
  };
}

export function publish(state: FeedState, version: number, weights: string | null): void {
  state.version = version;
  state.weights = weights;
  state.settled = true;
  if (weights !== null) state.loaded = version;
  state.ahead = state.ahead.filter((taken) => taken.version > version);
  noteAdmission(state);
}

export function checkRewind(state: FeedState, { version }: RewindArguments): Refusal | undefined {
  const most = Math.max(state.version, state.trained);
  if (version <= most) return undefined;
  return {
    reason: 'version-goes-back',
    message: `There is no version ${version} to rewind to: the trainer is at version ${most}.`,
    fix: `Rewind to a version from 0 to ${most}.`,
  };
}

/** `offered`: what was trained into a later version along the line. Returns the number of groups offered again. */
export function rewind(state: FeedState, to: number, offered: NumberSet, request?: string | null): number {
  const leased = state.leases.reduce((sum, { groups }) => sum + sizeOf(groups), 0);
  endLeases(state, () => true);
  state.expired = [];
  state.ready = union(state.ready, offered);
  state.trainedGroups -= sizeOf(offered);
  state.acknowledged = state.acknowledged.filter(({ version }) => version <= to);
  state.ahead = state.ahead.filter(({ version }) => version <= to);
  // Servers may have weights that were never published; then those of `to` must be loaded again.
  const kept = state.settled && state.version === to;
  if (state.version >= to && !kept) state.weights = null;
  state.version = Math.min(state.version, to);
  state.trained = to;
  state.floors = addFloor(state.floors, state.line, to);
  state.line++;
  noteAdmission(state);
  const again = sizeOf(offered) + leased;
  if (request != null) {
    const made = { request, version: to, line: state.line, offered: again };
    state.rewinds = rememberRewind(state.rewinds, made);
  }
  return again;
}

/** A group that was looked at, and has ended. */
export interface EndedGroup {
  readonly group: number;
  readonly leftOut: LeftOut | null;
}

export function groupsEnded(state: FeedState, ended: readonly EndedGroup[], concluded: boolean): void {
  const fresh = ended.filter(({ group }) => group >= state.next || isPlaying(state, group));
  const next = Math.max(state.next, ...fresh.map(({ group }) => group + 1));
  const begun: NumberSet = next > state.next ? [[state.next, next - 1]] : [];
  const numbers = setOf(fresh.map(({ group }) => group));
  state.next = next;
  state.playing = without(union(state.playing, begun), numbers);
  state.ready = union(state.ready, setOf(fresh.filter((g) => g.leftOut === null).map((g) => g.group)));
  for (const { leftOut } of fresh) if (leftOut !== null) state.leftOut[leftOut]++;
  for (const group of numbersIn(numbers)) {
    for (const key of Object.keys(state.restarts)) if (key.startsWith(`${group}/`)) delete state.restarts[key];
  }
  state.concluded ||= concluded;
  noteAdmission(state);
}

function isPlaying(state: FeedState, group: number): boolean {
  return state.playing.some(([first, last]) => first <= group && group <= last);
}

export function feedProgress(state: FeedState): FeedProgress {
  return {
    run: state.run,
    line: state.line,
    version: state.version,
    entries: state.entries,
    total: totalGroups(state.shape),
    admitted: admitted(state),
    ready: sizeOf(state.ready),
    readyGroups: state.ready.slice(0, 100),
    playing: sizeOf(state.playing),
    leases: state.leases.map(({ id, consumer, groups, until }) => ({
      lease: id,
      consumer,
      groups: sizeOf(groups),
      numbers: groups,
      until,
    })),
    trained: state.trainedGroups,
    trainedInto: state.acknowledged.at(-1)?.version ?? null,
    leftOut: state.leftOut,
    concluded: state.concluded && nothingToCome(state),
  };
}
