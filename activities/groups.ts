// Watches a run's groups in the store until some of them end: each member has its reward, or none that can be had. A
// member that failed, or whose workflow closed without a record, is named to be started again. The records alone decide:
// a feed that lost everything else finds the same groups again.

import { Context } from '@temporalio/activity';
import { type EndedGroup, type FeedShape, totalGroups } from '../domain/feed/state.ts';
import { groupLabels, type ScoredMember, whyLeftOut } from '../domain/samples/group.ts';
import { eachNumber, type NumberSet } from '../domain/feed/number-set.ts';
import type { ActivityDeps } from './deps.ts';
import type { FeedReference } from './feed.ts';
import {
  type GroupMembers,
  type MemberToStart,
  CLOSED_MS,
  openMembers,
  type RunEnd,
  type WaitingMember,
} from './group-members.ts';
import { withHeartbeats } from './heartbeat.ts';

export interface WatchInput extends FeedReference {
  readonly shape: FeedShape;
  /** Groups below `next` that have not ended. */
  readonly playing: NumberSet;
  readonly next: number;
  readonly restarts: Readonly<Record<string, number>>;
}

export interface WatchedGroups {
  readonly ended: readonly EndedGroup[];
  readonly start: readonly MemberToStart[];
  /** The run has ended, and no group that has not been named will end. */
  readonly concluded: boolean;
}

/** Groups that one answer names at most, and groups beyond `next` that are looked at. */
const MOST = 512;
const POLL_MS = { least: 100, most: 2000 };

export function groupActivities(deps: ActivityDeps) {
  /** When Temporal was asked last, by the run's folder. */
  const askedAt = new Map<string, number>();
  return {
    watchGroups: (input: WatchInput) => withHeartbeats((signal) => watchGroups(deps, input, askedAt, signal)),
  };
}

async function watchGroups(
  deps: ActivityDeps,
  input: WatchInput,
  askedAt: Map<string, number>,
  signal: AbortSignal,
): Promise<WatchedGroups> {
  const { now } = deps;
  const store = deps.openStore(input.out, input.run);
  if (!askedAt.has(store.folder)) askedAt.set(store.folder, now());
  const members = openMembers(deps, store, input);
  for (;;) {
    const startedAt = performance.now();
    const runEnd = (await store.getResult())?.record as RunEnd | undefined;
    const { ended, start, waiting } = await passGroups(input, members, runEnd, signal);
    if (waiting.length > 0 && now() - askedAt.get(store.folder)! >= CLOSED_MS) {
      askedAt.set(store.folder, now());
      start.push(...(await members.lostOf(waiting, runEnd)));
    }
    const hasNews = ended.length > 0 || start.length > 0;
    const concluded = runEnd !== undefined && !hasNews && waiting.length === 0;
    if (hasNews || concluded) return { ended, start, concluded };
    signal.throwIfAborted();
    const tookMs = performance.now() - startedAt;
    await Context.current().sleep(Math.min(Math.max(POLL_MS.least, 9 * tookMs), POLL_MS.most));
  }
}

/** Reads the groups that may have ended once: those that have, and the members of the others. */
async function passGroups(
  input: WatchInput,
  { ofGroup }: GroupMembers,
  runEnd: RunEnd | undefined,
  signal: AbortSignal,
) {
  const { shape, next } = input;
  const ended: EndedGroup[] = [];
  const start: MemberToStart[] = [];
  const waiting: WaitingMember[] = [];
  let notBegun: WaitingMember[] = [];
  for (const group of candidates(input)) {
    if (ended.length >= MOST || signal.aborted) break;
    const members = await ofGroup(group);
    if (group >= next && members.every(({ state }) => state === 'not-begun')) {
      // Groups begin in order: those behind two such groups have not begun either.
      if (notBegun.length > members.length) break;
      notBegun.push(...members.map(({ member }) => ({ ...member, begun: false })));
      continue;
    }
    waiting.push(...notBegun);
    notBegun = [];
    const scored: (ScoredMember | null)[] = [];
    for (const { member, state } of members) {
      const isLost = state === 'not-begun' || (typeof state === 'object' && 'start' in state);
      if (runEnd?.cancelled && isLost) scored.push(null);
      else if (typeof state === 'string') waiting.push({ ...member, begun: state === 'open' });
      else if ('start' in state) start.push({ ...member, attempt: state.start });
      else scored.push(state.scored);
    }
    if (scored.length < members.length) continue;
    ended.push({ group, leftOut: whyLeftOut(groupLabels(scored), shape.filter, shape.samples) });
  }
  return { ended, start, waiting };
}

function* candidates({ shape, playing, next }: WatchInput): Generator<number> {
  yield* eachNumber(playing);
  const last = Math.min(totalGroups(shape), next + MOST);
  for (let group = next; group < last; group++) yield group;
}
