// Watches a run's groups in the store until some of them end: each member has its reward, or none that can be had. A
// member that failed, or whose workflow closed without a record, is named to be started again. The records alone decide:
// a feed that lost everything else finds the same groups again.

import { Context } from '@temporalio/activity';
import { type EndedGroup, type FeedShape, totalGroups } from '../domain/feed/state.ts';
import {
  groupLabels,
  groupPlace,
  memberSamples,
  type ScoredMember,
  scoredMember,
  whyLeftOut,
} from '../domain/samples/group.ts';
import { eachNumber, type NumberSet } from '../domain/feed/number-set.ts';
import type { CollectionResult } from '../domain/run/messages.ts';
import type { ActivityDeps } from './deps.ts';
import type { FeedReference } from './feed.ts';
import { withHeartbeats } from './heartbeat.ts';
import { rolloutWorkflowId } from '../domain/names/ids.ts';
import type { Store } from '../records/store.ts';

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
    const runEnd = (await store.get('result'))?.record;
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
  { ofGroup }: ReturnType<typeof openMembers>,
  runEnd: CollectionResult | undefined,
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

export interface MemberToStart {
  readonly group: number;
  readonly index: number;
  readonly query: string;
  readonly sample: number;
  readonly attempt: number;
}

/** A member without an end. `begun`: its records say so. */
type WaitingMember = MemberToStart & { readonly begun: boolean };

/** Scored, to be started with this attempt, or neither yet. */
type MemberState = { readonly scored: ScoredMember | null } | { readonly start: number } | 'open' | 'not-begun';

/** Tries of one member, the first included. */
const MEMBER_ATTEMPTS = 3;
/** A member whose workflow closes without a record is started again so often at most. */
const MAX_RESTARTS = 6;
/** A member without an end is asked after at Temporal when it is so old, and this often. */
const CLOSED_MS = 10_000;

function openMembers(
  { closedRollouts, now }: ActivityDeps,
  store: Store,
  {
    run,
    shape,
    restarts,
  }: { readonly run: string; readonly shape: FeedShape; readonly restarts: Readonly<Record<string, number>> },
) {
  const queryAt = queriesOf(store, shape.queries);
  /** Scores by group and sample: an end does not change. */
  const scores = new Map<string, ScoredMember | null>();
  const keyOf = ({ group, sample }: MemberToStart) => `${group}/${sample}`;
  const restartsOf = (member: MemberToStart) => restarts[keyOf(member)] ?? 0;

  async function stateOf(member: MemberToStart): Promise<MemberState> {
    const score = scores.get(keyOf(member));
    if (score !== undefined) return { scored: score };
    const { query, sample } = member;
    for (let attempt = 1; ; attempt++) {
      const id = { run, query, sample, attempt };
      const end = (await store.get('end', id))?.record;
      if (!end) {
        if (await store.get('rollout', id)) return 'open';
        if (attempt === 1) return 'not-begun';
        // Started already: its record is on its way.
        return restartsOf(member) >= attempt - 1 ? 'open' : { start: attempt };
      }
      if (end.outcome === 'failed' && attempt < MEMBER_ATTEMPTS) continue;
      const scored = await trainable(store, id, scoredMember(end));
      scores.set(keyOf(member), scored);
      return { scored };
    }
  }

  return {
    async ofGroup(group: number) {
      const { index, epoch } = groupPlace(shape, group);
      const query = await queryAt(index);
      const members = memberSamples(shape, epoch).map((sample) => ({ group, index, query, sample, attempt: 1 }));
      return Promise.all(members.map(async (member) => ({ member, state: await stateOf(member) })));
    },

    /** Members whose workflow has closed without a record are started again, from what they have recorded. */
    async lostOf(waiting: readonly WaitingMember[], runEnd: CollectionResult | undefined) {
      const byId = new Map<string, WaitingMember>();
      for (const member of waiting) {
        const { attempt, birthTime } = await latestOf(store, { run, ...member });
        if (member.begun && birthTime > now() - CLOSED_MS) continue;
        byId.set(rolloutWorkflowId({ run, ...member, attempt }), { ...member, attempt });
      }
      const closed = byId.size === 0 ? [] : await closedRollouts(run, [...byId.keys()].slice(0, 100));
      const lost: MemberToStart[] = [];
      for (const [id, closing] of closed) {
        const { begun, ...member } = byId.get(id)!;
        // The run itself will begin it, or is being cancelled: a rollout that it does not know it would not count.
        if (closing === 'absent' && !begun && runEnd === undefined) continue;
        if (await store.get('end', { run, ...member })) continue;
        if (runEnd?.cancelled || restartsOf(member) >= MAX_RESTARTS) scores.set(keyOf(member), null);
        else lost.push(member);
      }
      return lost;
    },
  };
}

async function latestOf(store: Store, id: { run: string; query: string; sample: number }) {
  for (let attempt = MEMBER_ATTEMPTS; attempt >= 1; attempt--) {
    const record = (await store.get('rollout', { ...id, attempt }))?.record;
    if (record) return { attempt, birthTime: record.birthTime };
  }
  return { attempt: 1, birthTime: 0 };
}

/** A server that gave text only gives no sample to train on. */
async function trainable(
  store: Store,
  id: { readonly run: string; readonly query: string; readonly sample: number; readonly attempt: number },
  scored: ScoredMember | null,
): Promise<ScoredMember | null> {
  if (!scored) return null;
  return (await store.get('turn', id, 1))?.record.trainable === false ? null : scored;
}

const PAGE = 64;

/** Query ids by place, read in pages. */
function queriesOf(store: Store, count: number): (index: number) => Promise<string> {
  const pages = new Map<number, Promise<readonly string[]>>();
  return async (index) => {
    const page = Math.floor(index / PAGE);
    const queryIds =
      pages.get(page) ??
      store.readQueries(page * PAGE, Math.min(PAGE, count - page * PAGE)).then((rows) => rows.map((q) => q.queryId));
    pages.set(page, queryIds);
    return (await queryIds)[index % PAGE]!;
  };
}
