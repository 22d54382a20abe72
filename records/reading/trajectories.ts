// Trajectories assembled from their records, one at a time: in data set order, then sample order, then rollouts that a
// client started directly, in no order.

import { setImmediate as breath } from 'node:timers/promises';
import { StoreError } from '../../domain/errors/errors.ts';
import type { RolloutId } from '../../domain/names/ids.ts';
import type { EndRecord, PlayedTurn, Trajectory } from '../../domain/rollout/trajectory.ts';
import { mapAhead } from '../map-ahead.ts';
import { existsFolder, placeOf } from '../places/files.ts';
import { NameSet } from '../name-set.ts';
import { completeBefore, movedAway, mustHaveStayed } from '../run/present.ts';
import type { Store, Stored, Breach } from '../store.ts';
import type { RolloutSummary } from '../../domain/rollout/rollout-summary.ts';
import { type SummaryOptions, summaryOf } from './summary.ts';

/** All records of one rollout; undefined if it has not begun. A damaged record is a StoreError. `known`: its end. */
export async function readTrajectory(
  store: Store,
  id: RolloutId,
  known?: Stored<EndRecord>,
): Promise<Trajectory | undefined> {
  const rollout = await store.get('rollout', id);
  if (!rollout) return undefined;
  const end = known ?? (await store.get('end', id));
  const turns: PlayedTurn[] = [];
  // An ended rollout has the turns that its end names; a later one was abandoned.
  for (let turn = 1; !end || turn <= end.record.turns.length; turn++) {
    const [record, verdict] = await Promise.all([store.get('turn', id, turn), store.get('verdict', id, turn)]);
    if (!record) break;
    turns.push({ record: record.record, verdict: verdict?.record ?? null });
    if (end && record.hash !== end.record.turns[turn - 1])
      throw broken(store, id, `turn ${turn} is not the one that its end names`);
  }
  if (end && turns.length < end.record.turns.length) throw broken(store, id, `turn ${turns.length + 1} is missing`);
  return { rollout: rollout.record, turns, end: end?.record ?? null };
}

/** Of one that was listed: undefined if it was about to begin. */
async function readListed(store: Store, id: RolloutId): Promise<Trajectory | undefined> {
  const found = await readTrajectory(store, id);
  if (found) return found;
  const listed = await store.listRolloutsOf(id.query, { partly: true });
  if (!listed.some(({ sample, attempt }) => sample === id.sample && attempt === id.attempt)) throw movedAway(store);
  return readTrajectory(store, id);
}

export interface ReadOptions {
  /** `latest` (default): of each sample the last attempt; `all`: every attempt. */
  readonly attempts?: 'latest' | 'all';
  /** Called for a rollout with damaged records, which is left out. Without it, such a rollout is an error. */
  readonly onBroken?: (id: RolloutId, error: StoreError) => void;
  /** Only these, in their order. Default: all. */
  readonly ids?: AsyncIterable<RolloutId> | Iterable<RolloutId>;
}

interface OrderOptions extends Pick<ReadOptions, 'attempts'> {
  /** Even if there are lines of ended rollouts that nobody can read: the caller reports them. */
  readonly partly?: boolean;
}

interface OrderedRollout {
  readonly id: RolloutId;
  /** Its query's place in the data set; null if it has none. */
  readonly index: number | null;
}

const PAGE = 256;

/** Every rollout's id in data set order, then sample, then attempt. Memory: 16 bytes for each query. */
export async function* rolloutsInOrder(store: Store, options: OrderOptions = {}): AsyncGenerator<RolloutId> {
  for await (const { id } of orderedRollouts(store, options)) yield id;
}

async function* orderedRollouts(
  store: Store,
  { attempts = 'latest', partly = false }: OrderOptions = {},
): AsyncGenerator<OrderedRollout> {
  let firsts = 0;
  const pick = (ids: readonly RolloutId[], index: number | null) => {
    firsts += ids.filter(({ attempt }) => attempt === 1).length;
    const picked = attempts === 'all' ? ids : ids.filter((id, i) => ids[i + 1]?.sample !== id.sample);
    return picked.map((id) => ({ id, index }));
  };
  const seen = new NameSet();
  const complete = partly ? 0 : await completeBefore(store);
  const wasThere = complete > 0 || (!partly && (await existsFolder(store.folder)));
  const total = await store.countQueries();
  for (let from = 0; from < total; from += PAGE) {
    const page = await store.readQueries(from, PAGE);
    // Also of a query that begins only now: none of its rollouts is outside the data set.
    for (const { queryId } of page) seen.add(queryId);
    const found = await Promise.all(page.map(({ queryId }) => store.listRolloutsOf(queryId, { partly })));
    for (const [i, ids] of found.entries()) yield* pick(ids, from + i);
  }
  for await (const { query } of store.listRollouts(partly ? () => {} : undefined))
    if (seen.add(query)) yield* pick(await store.listRolloutsOf(query, { partly }), null);
  if (wasThere) await mustHaveStayed(store, complete, firsts);
}

export async function* readTrajectories(store: Store, options: ReadOptions = {}): AsyncGenerator<Trajectory> {
  const read = mapAhead(options.ids ?? rolloutsInOrder(store, options), placeOf(store.folder).atOnce, async (id) => ({
    id,
    found: await readListed(store, id).catch((error: unknown) => {
      if (!options.onBroken || !(error instanceof StoreError) || error.retryable) throw error;
      return error;
    }),
  }));
  for await (const { id, found } of read) {
    if (found instanceof StoreError) options.onBroken!(id, found);
    else if (found) yield found;
  }
}

function broken(store: Store, id: RolloutId, problem: string): StoreError {
  return new StoreError(`query ${JSON.stringify(id.query)}, sample ${id.sample} in ${store.folder}: ${problem}`, {
    reason: 'record-broken',
    fix: `Run \`everturn check ${store.folder}\` to list every fault.`,
  });
}

/** Files are read by blocking calls; between batches others get the event loop. */
const BATCH_MS = 8;

export async function* readSummaries(store: Store, options: SummaryOptions = {}): AsyncGenerator<RolloutSummary> {
  let until = Date.now() + BATCH_MS;
  const rest = async () => {
    if (Date.now() < until) return;
    await breath();
    until = Date.now() + BATCH_MS;
  };
  const summary = async ({ id: { run, query, sample, attempt }, index }: OrderedRollout) => {
    const owner = { query, sample, attempt };
    const { found, breaches } = await store.readRecords({ run, ...owner }, (files) => {
      const breaches: Breach[] = [];
      const onBroken = (breach: Breach) => void breaches.push(breach);
      return { found: summaryOf(files, owner, index, { ...options, onBroken }), breaches };
    });
    for (const breach of breaches) options.onBroken?.(breach);
    return found;
  };
  for await (const one of mapAhead(orderedRollouts(store), placeOf(store.folder).atOnce, summary)) {
    if (one) yield one;
    await rest();
  }
}
