// The state of a feed as plain JSON that continue-as-new can carry: open groups and leases only, never what was trained.
// And the rules of admission and of handing out, as pure functions.

import { beginLine, type WeightLine, publishOn } from './entry.ts';
import type { GroupFilter, LeftOut } from '../samples/group.ts';
import { type NumberSet, eachNumber, numberSet, countNumbers, union, without } from './number-set.ts';

/** The part of run.json on a run's groups. */
export interface FeedShape {
  readonly queries: number;
  readonly samples: number;
  readonly epochs: number;
  /** Groups in one training step (B); null: the run is not paced. */
  readonly batchGroups: number | null;
  /** η: a sample is at most so many versions old when it is trained. */
  readonly maxStaleness: number;
  readonly filter: GroupFilter;
  /** Versions from one held-out evaluation to the next; absent: none. */
  readonly evaluateEvery?: number;
}

export interface Lease {
  readonly id: string;
  readonly consumer: string;
  /** The caller's own id of its request: the same one gets the same lease. */
  readonly request: string | null;
  readonly groups: NumberSet;
  /** The version when it was taken. */
  readonly version: number;
  /** The version that trains it, if each step before it takes its full batch. */
  readonly trainedAt: number;
  readonly line: number;
  /** Epoch milliseconds; from then on its groups are given to others that need them. */
  until: number;
}

export interface Acknowledged {
  readonly lease: string;
  readonly version: number;
  readonly groups: number;
}

export interface FeedState extends WeightLine {
  readonly run: string;
  readonly shape: FeedShape;
  /** Entries of the ledger, and the hash of the last one. */
  entries: number;
  last: string | null;
  /** No server has later weights than those that are published; absent if that is not known. */
  settled?: boolean;
  /** Groups trained along the surviving line. */
  trainedGroups: number;
  /** Groups trained into the version after the published one. */
  ahead: number;
  /** The newest acknowledgements of the surviving line. */
  acknowledged: Acknowledged[];
  /** Every group below is ready, leased, trained, left out, or in `playing`. */
  next: number;
  /** Groups below `next` that have not ended. */
  playing: NumberSet;
  ready: NumberSet;
  leases: Lease[];
  leftOut: Record<LeftOut, number>;
  /** The version at which groups below `upTo` were admitted, where one of them may be open. */
  admissions: { readonly version: number; readonly upTo: number }[];
  /** How often a member was started again, by `<group>/<sample>`. */
  restarts: Record<string, number>;
  /** The run has ended: no group will begin. */
  concluded: boolean;
}

/** Acknowledgements that are remembered. */
export const REMEMBERED = 512;

export function totalGroups({ queries, epochs }: FeedShape): number {
  return queries * epochs;
}

/** How many groups may have begun in all: (η + v + 1)·B of those that are fed. */
export function admittedGroups({ shape, version, leftOut }: Pick<FeedState, 'shape' | 'version' | 'leftOut'>): number {
  const { batchGroups, maxStaleness } = shape;
  if (batchGroups === null) return totalGroups(shape);
  const left = Object.values(leftOut).reduce((sum, n) => sum + n, 0);
  return Math.min(totalGroups(shape), (maxStaleness + version + 1) * batchGroups + left);
}

/** Records when groups were admitted; forgets what no open group needs. */
export function noteAdmission(state: FeedState): void {
  const upTo = admittedGroups(state);
  if (upTo > (state.admissions.at(-1)?.upTo ?? 0)) state.admissions.push({ version: state.version, upTo });
  const oldest = Math.min(state.playing[0]?.[0] ?? state.next, state.ready[0]?.[0] ?? state.next);
  while (state.admissions.length > 1 && state.admissions[0]!.upTo <= oldest) state.admissions.shift();
}

function admittedAt(state: FeedState, group: number): number {
  return state.admissions.find(({ upTo }) => group < upTo)?.version ?? state.version;
}

const inAll = (leases: readonly Pick<Lease, 'groups'>[]) =>
  leases.reduce((sum, { groups }) => sum + countNumbers(groups), 0);

/** The version that trains the next group to be handed out. */
export function trainsNext({ shape, version, leases, ahead }: FeedState, more = 0): number {
  const { batchGroups } = shape;
  return batchGroups === null ? version : version + Math.floor((inAll(leases) + ahead + more) / batchGroups);
}

/**
 * The ready groups that may be handed out now, oldest first, `most` at most. A group that was admitted at version v must
 * be trained at v + η: the last places of that batch are left to those that are still being played.
 */
export function available(state: FeedState, most: number): number[] {
  const chosen: number[] = [];
  const { batchGroups, maxStaleness } = state.shape;
  const paced = batchGroups !== null && !state.concluded;
  const before = paced ? inAll(state.leases) + state.ahead : 0;
  let dueAt = -1;
  let due = 0;
  for (const group of eachNumber(state.ready)) {
    if (chosen.length >= most) break;
    if (paced) {
      const at = trainsNext(state, chosen.length);
      if (at !== dueAt) [dueAt, due] = [at, playingBefore(state, at - maxStaleness)];
      const places = batchGroups - ((before + chosen.length) % batchGroups);
      if (due >= places && admittedAt(state, group) + maxStaleness > at) break;
    }
    chosen.push(group);
  }
  return chosen;
}

/** Groups that were admitted at `version` or before, and are still being played or have not begun. */
function playingBefore(state: FeedState, version: number): number {
  const upTo = state.admissions.findLast((a) => a.version <= version)?.upTo ?? 0;
  let count = Math.max(0, upTo - state.next);
  for (const [first, last] of state.playing) count += Math.max(0, Math.min(last + 1, upTo) - first);
  return count;
}

/** Nothing is open any more, and nothing will come. */
export function isExhausted(state: FeedState): boolean {
  return nothingToCome(state) && state.leases.length === 0 && state.ready.length === 0;
}

/** No group beyond those that are ready or leased. */
export function nothingToCome(state: FeedState): boolean {
  return state.playing.length === 0 && (state.concluded || state.next >= totalGroups(state.shape));
}

export function addLease(state: FeedState, lease: Lease): void {
  state.ready = without(state.ready, lease.groups);
  state.leases.push(lease);
}

/** Offers the groups of leases again, and forgets them. */
export function endLeases(state: FeedState, isOver: (lease: Lease) => boolean): void {
  for (const { groups } of state.leases.filter(isOver)) state.ready = union(state.ready, groups);
  state.leases = state.leases.filter((lease) => !isOver(lease));
}

export function acknowledge(state: FeedState, lease: Lease, version: number): Acknowledged {
  const acknowledged = { lease: lease.id, version, groups: countNumbers(lease.groups) };
  state.leases = state.leases.filter(({ id }) => id !== lease.id);
  state.trained = version;
  state.trainedGroups += acknowledged.groups;
  state.ahead += acknowledged.groups;
  state.acknowledged = [...state.acknowledged, acknowledged].slice(-REMEMBERED);
  return acknowledged;
}

export function publish(state: FeedState, version: number, weights: string | null): void {
  if (version > state.version) state.ahead = 0;
  publishOn(state, version, weights);
  state.settled = true;
  noteAdmission(state);
}

/** `offered`: what was trained into a later version along the line. Returns the number of groups offered again. */
export function rewind(state: FeedState, to: number, offered: NumberSet, request?: string): number {
  const again = countNumbers(offered) + inAll(state.leases);
  endLeases(state, () => true);
  state.ready = union(state.ready, offered);
  state.trainedGroups -= countNumbers(offered);
  state.acknowledged = state.acknowledged.filter(({ version }) => version <= to);
  if (to <= state.version) state.ahead = 0;
  // Servers may have weights that were never published; then those of `to` must be loaded again.
  const weights = state.settled && state.version === to ? state.weights : null;
  beginLine(state, request === undefined ? { to } : { to, request }, again);
  if (state.version === to) state.weights = weights;
  noteAdmission(state);
  return again;
}

/** A group that was looked at, and has ended. */
export interface EndedGroup {
  readonly group: number;
  readonly leftOut: LeftOut | null;
}

export function takeEndedGroups(state: FeedState, ended: readonly EndedGroup[], concluded: boolean): void {
  const isPlaying = (group: number) => state.playing.some(([first, last]) => first <= group && group <= last);
  const fresh = ended.filter(({ group }) => group >= state.next || isPlaying(group));
  const next = Math.max(state.next, ...fresh.map(({ group }) => group + 1));
  const begun: NumberSet = next > state.next ? [[state.next, next - 1]] : [];
  const numbers = numberSet(fresh.map(({ group }) => group));
  state.next = next;
  state.playing = without(union(state.playing, begun), numbers);
  state.ready = union(state.ready, numberSet(fresh.filter((g) => g.leftOut === null).map((g) => g.group)));
  for (const { leftOut } of fresh) if (leftOut !== null) state.leftOut[leftOut]++;
  for (const group of eachNumber(numbers)) {
    for (const key of Object.keys(state.restarts)) if (key.startsWith(`${group}/`)) delete state.restarts[key];
  }
  state.concluded ||= concluded;
  noteAdmission(state);
}
