// The members of groups, as the records have them: with a reward, or none that can be had; still playing; or lost, and to be
// started again.

import type { FeedShape } from '../domain/feed/state.ts';
import { groupPlace, memberSamples, type ScoredMember, scoredMember } from '../domain/samples/group.ts';
import { rolloutWorkflowId } from '../domain/names/ids.ts';
import type { Store } from '../records/store.ts';
import type { ActivityDeps } from './deps.ts';

export interface MemberToStart {
  readonly group: number;
  readonly index: number;
  readonly query: string;
  readonly sample: number;
  readonly attempt: number;
}

/** A member without an end. `begun`: its records say so. */
export type WaitingMember = MemberToStart & { readonly begun: boolean };

/** Scored, to be started with this attempt, or neither yet. */
type MemberState = { readonly scored: ScoredMember | null } | { readonly start: number } | 'open' | 'not-begun';

export interface RunEnd {
  readonly cancelled?: boolean;
}

export interface GroupMembers {
  ofGroup(group: number): Promise<{ readonly member: MemberToStart; readonly state: MemberState }[]>;
  /** Members whose workflow has closed without a record are started again, from what they have recorded. */
  lostOf(waiting: readonly WaitingMember[], runEnd: RunEnd | undefined): Promise<MemberToStart[]>;
}

/** Tries of one member, the first included. */
const MEMBER_ATTEMPTS = 3;
/** A member whose workflow closes without a record is started again so often at most. */
const MAX_RESTARTS = 6;
/** A member without an end is asked after at Temporal when it is so old, and this often. */
export const CLOSED_MS = 10_000;

export function openMembers(
  { closedRollouts, now }: ActivityDeps,
  store: Store,
  {
    run,
    shape,
    restarts,
  }: { readonly run: string; readonly shape: FeedShape; readonly restarts: Readonly<Record<string, number>> },
): GroupMembers {
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
      const end = (await store.getEnd(id))?.record;
      if (!end) {
        if (await store.getRollout(id)) return 'open';
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
    async ofGroup(group) {
      const { index, epoch } = groupPlace(shape, group);
      const query = await queryAt(index);
      const members = memberSamples(shape, epoch).map((sample) => ({ group, index, query, sample, attempt: 1 }));
      return Promise.all(members.map(async (member) => ({ member, state: await stateOf(member) })));
    },

    async lostOf(waiting, runEnd) {
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
        if (await store.getEnd({ run, ...member })) continue;
        if (runEnd?.cancelled || restartsOf(member) >= MAX_RESTARTS) scores.set(keyOf(member), null);
        else lost.push(member);
      }
      return lost;
    },
  };
}

async function latestOf(store: Store, id: { run: string; query: string; sample: number }) {
  for (let attempt = MEMBER_ATTEMPTS; attempt >= 1; attempt--) {
    const record = (await store.getRollout({ ...id, attempt }))?.record;
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
  return (await store.getTurn(id, 1))?.record.trainable === false ? null : scored;
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
