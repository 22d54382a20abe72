// The state of a feed as plain JSON that continue-as-new can carry: open groups and leases only, never what was trained.
// And the rules of admission and of handing out, as pure functions.

import type { Floor, RewindRequest } from './line.ts';
import type { GroupFilter, LeftOut } from '../rollout/group.ts';
import { type NumberSet, numbersIn, sizeOf } from '../run/number-set.ts';

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
  /** Epoch milliseconds. */
  until: number;
}

export interface Acknowledged {
  readonly lease: string;
  readonly version: number;
  readonly groups: number;
}

export interface FeedState {
  readonly run: string;
  readonly shape: FeedShape;
  /** domain/feed/line.ts. */
  floors: Floor[];
  rewinds: RewindRequest[];
  /** No server has later weights than those that are published; absent if that is not known. */
  settled?: boolean;
  /** Entries of the ledger, and the hash of the last one. */
  entries: number;
  last: string | null;
  line: number;
  version: number;
  weights: string | null;
  /** As in Line. */
  loaded: number;
  trained: number;
  /** Groups trained along the surviving line. */
  trainedGroups: number;
  /** Every group below is ready, leased, trained, left out, or in `playing`. */
  next: number;
  /** Groups below `next` that have not ended. */
  playing: NumberSet;
  ready: NumberSet;
  leases: Lease[];
  /** Leases that ended, while nobody else has one of their groups. */
  expired: Lease[];
  /** The newest acknowledgements of the surviving line. */
  acknowledged: Acknowledged[];
  leftOut: Record<LeftOut, number>;
  /** Groups trained into a version that is not published yet. */
  ahead: { readonly version: number; readonly groups: number }[];
  /** The version at which groups below `upTo` were admitted, where one of them may be open. */
  admissions: { readonly version: number; readonly upTo: number }[];
  /** How often a member was started again, by `<group>/<sample>`. */
  restarts: Record<string, number>;
  /** The run has ended: no group will begin. */
  concluded: boolean;
}

export function totalGroups({ queries, epochs }: FeedShape): number {
  return queries * epochs;
}

export function leftOutGroups({ leftOut }: Pick<FeedState, 'leftOut'>): number {
  return Object.values(leftOut).reduce((sum, n) => sum + n, 0);
}

/** How many groups may have begun in all: (η + v + 1)·B of those that are fed. */
export function admitted(state: Pick<FeedState, 'shape' | 'version' | 'leftOut'>): number {
  const { batchGroups, maxStaleness } = state.shape;
  const total = totalGroups(state.shape);
  if (batchGroups === null) return total;
  return Math.min(total, (maxStaleness + state.version + 1) * batchGroups + leftOutGroups(state));
}

/** Records when groups were admitted; forgets what no open group needs. */
export function noteAdmission(state: FeedState): void {
  const upTo = admitted(state);
  if (upTo > (state.admissions.at(-1)?.upTo ?? 0)) state.admissions.push({ version: state.version, upTo });
  const oldest = Math.min(state.playing[0]?.[0] ?? state.next, state.ready[0]?.[0] ?? state.next);
  while (state.admissions.length > 1 && state.admissions[0]!.upTo <= oldest) state.admissions.shift();
}

function admittedAt(state: FeedState, group: number): number {
  return state.admissions.find(({ upTo }) => group < upTo)?.version ?? state.version;
}

/** Groups that are leased, or trained into a version that is not published. */
function taken(state: FeedState): number {
  const leased = state.leases.reduce((sum, { groups }) => sum + sizeOf(groups), 0);
  return state.ahead.reduce((sum, { groups }) => sum + groups, leased);
}

/** The version that trains the next group to be handed out. */
export function trainsNext(state: FeedState, more = 0): number {
  const { batchGroups } = state.shape;
  return batchGroups === null ? state.version : state.version + Math.floor((taken(state) + more) / batchGroups);
}

/**
 * The ready groups that may be handed out now, oldest first, `most` at most. A group that was admitted at version v must
 * be trained at v + η: the last places of that batch are left to those that are still being played.
 */
export function available(state: FeedState, most: number): number[] {
  const chosen: number[] = [];
  const { batchGroups, maxStaleness } = state.shape;
  const paced = batchGroups !== null && !state.concluded;
  const before = paced ? taken(state) : 0;
  let dueAt = -1;
  let due = 0;
  for (const group of numbersIn(state.ready)) {
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
