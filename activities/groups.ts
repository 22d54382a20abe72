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
import { rolloutWorkflowId } from '../domain/names/ids.ts';
import { numbersIn, type NumberSet } from '../domain/feed/number-set.ts';
import type { Store } from '../records/store.ts';
import type { ActivityDeps } from './deps.ts';
import type { FeedReference } from './feed.ts';
import { heartbeating } from './heartbeat.ts';

export interface WatchInput extends FeedReference {
  readonly shape: FeedShape;
  /** Groups below `next` that have not ended. */
  readonly playing: NumberSet;
  readonly next: number;
  readonly restarts: Readonly<Record<string, number>>;
}

export interface MemberToStart {
  readonly group: number;
  readonly index: number;
  readonly query: string;
  readonly sample: number;
  readonly attempt: number;
}

export interface Watched {
  readonly ended: readonly EndedGroup[];
  readonly start: readonly MemberToStart[];
  /** The run has ended, and no group that has not been named will end. */
  readonly concluded: boolean;
}

/** Tries of one member, the first included. */
export const MEMBER_ATTEMPTS = 3;
/** A member whose workflow closes without a record is started again so often at most. */
const MAX_RESTARTS = 6;
/** Groups that one answer names at most, and groups beyond `next` that are looked at. */
const MOST = 512;
const POLL_MS = { least: 100, most: 2000 };
/** A member without an end is asked after at Temporal when it is so old, and this often. */
const CLOSED_MS = 10_000;

type Member = { readonly scored: ScoredMember | null } | { readonly start: number } | 'open' | 'not-begun';
type Waiting = MemberToStart & { readonly begun: boolean };
interface RunEnd {
  readonly cancelled?: boolean;
}

export function groupActivities({ openStore, closedRollouts, now }: ActivityDeps) {
  /** When Temporal was asked last, by the run's folder. */
  const askedAt = new Map<string, number>();
  return {
    watchGroups: ({ run, out, shape, playing, next, restarts }: WatchInput): Promise<Watched> =>
      heartbeating(async (signal) => {
        const store = openStore(out, run);
        if (!askedAt.has(store.folder)) askedAt.set(store.folder, now());
        const queries = queriesOf(store, shape.queries);
        const known = new Map<string, ScoredMember | null>();
        for (;;) {
          const startedAt = performance.now();
          const found = await pass((await store.getResult())?.record as RunEnd | undefined);
          if (found.ended.length > 0 || found.start.length > 0 || found.concluded) return found;
          signal.throwIfAborted();
          const tookMs = performance.now() - startedAt;
          await Context.current().sleep(Math.min(Math.max(POLL_MS.least, 9 * tookMs), POLL_MS.most));
        }

        async function pass(result: RunEnd | undefined): Promise<Watched> {
          const [ended, start]: [EndedGroup[], MemberToStart[]] = [[], []];
          const waiting: Waiting[] = [];
          let behind: Waiting[] = [];
          for (const group of candidates()) {
            if (ended.length >= MOST || signal.aborted) break;
            const { index, epoch } = groupPlace(shape, group);
            const query = await queries(index);
            const samples = memberSamples(shape, epoch);
            const members = await Promise.all(samples.map((sample) => memberAt(query, sample, `${group}/${sample}`)));
            const at = (i: number) => ({ group, index, query, sample: samples[i]!, attempt: 1 });
            if (group >= next && members.every((member) => member === 'not-begun')) {
              // Groups begin in order: those behind two such groups have not begun either.
              if (behind.length > samples.length) break;
              behind.push(...members.map((_, i) => ({ ...at(i), begun: false })));
              continue;
            }
            waiting.push(...behind);
            behind = [];
            const scored: (ScoredMember | null)[] = [];
            for (const [i, member] of members.entries()) {
              const isLost = member === 'not-begun' || (typeof member === 'object' && 'start' in member);
              if (result?.cancelled && isLost) scored.push(null);
              else if (typeof member === 'string') waiting.push({ ...at(i), begun: member === 'open' });
              else if ('start' in member) start.push({ ...at(i), attempt: member.start });
              else scored.push(member.scored);
            }
            if (scored.length < samples.length) continue;
            ended.push({ group, leftOut: whyLeftOut(groupLabels(scored), shape.filter, shape.samples) });
          }
          if (waiting.length > 0 && now() - askedAt.get(store.folder)! >= CLOSED_MS) {
            askedAt.set(store.folder, now());
            start.push(...(await closedOnes(waiting, result)));
          }
          const concluded = result !== undefined && [ended, start, waiting].every(({ length }) => length === 0);
          return { ended, start, concluded };
        }

        function* candidates(): Generator<number> {
          yield* numbersIn(playing);
          const last = Math.min(totalGroups(shape), next + MOST);
          for (let group = next; group < last; group++) yield group;
        }

        async function memberAt(query: string, sample: number, key: string): Promise<Member> {
          const before = known.get(key);
          if (before !== undefined) return { scored: before };
          for (let attempt = 1; ; attempt++) {
            const id = { run, query, sample, attempt };
            const end = (await store.getEnd(id))?.record;
            if (!end) {
              if (await store.getRollout(id)) return 'open';
              if (attempt === 1) return 'not-begun';
              // Started already: its record is on its way.
              return (restarts[key] ?? 0) >= attempt - 1 ? 'open' : { start: attempt };
            }
            if (end.outcome === 'failed' && attempt < MEMBER_ATTEMPTS) continue;
            const scored = await trainable(store, id, scoredMember(end));
            known.set(key, scored);
            return { scored };
          }
        }

        /** Members whose workflow has closed without a record are started again, from what they have recorded. */
        async function closedOnes(waiting: readonly Waiting[], result: RunEnd | undefined): Promise<MemberToStart[]> {
          const byId = new Map<string, Waiting>();
          for (const member of waiting) {
            const { attempt, birthTime } = await latestOf(store, { run, ...member });
            if (member.begun && birthTime > now() - CLOSED_MS) continue;
            byId.set(rolloutWorkflowId({ run, ...member, attempt }), { ...member, attempt });
          }
          const closed = byId.size === 0 ? [] : await closedRollouts(run, [...byId.keys()].slice(0, 100));
          const start: MemberToStart[] = [];
          for (const [id, closing] of closed) {
            const { begun, ...member } = byId.get(id)!;
            // The run itself will begin it, or is being cancelled: a rollout that it does not know it would not count.
            if (closing === 'absent' && !begun && result === undefined) continue;
            if (await store.getEnd({ run, ...member })) continue;
            const key = `${member.group}/${member.sample}`;
            if (result?.cancelled || (restarts[key] ?? 0) >= MAX_RESTARTS) known.set(key, null);
            else start.push(member);
          }
          return start;
        }
      }),
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
    const known =
      pages.get(page) ??
      store.readQueries(page * PAGE, Math.min(PAGE, count - page * PAGE)).then((rows) => rows.map((q) => q.queryId));
    pages.set(page, known);
    return (await known)[index % PAGE]!;
  };
}
