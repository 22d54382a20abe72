// Makes a fork: a new run of one query whose rollouts begin with copies of another rollout's turns. Idempotent and resumable:
// every file is written once by name, so a command that was killed is simply repeated. The other run is only read.

import { seedOfRun } from '../domain/run/defaults.ts';
import { StoreError } from '../domain/errors/errors.ts';
import type { RolloutId } from '../domain/names/ids.ts';
import { carriedSay, carriedTurn, carriedVerdict } from '../domain/rollout/copy-records.ts';
import { type ForkedFrom, parentOf } from '../domain/rollout/lineage.ts';
import type { RolloutRecord } from '../domain/rollout/trajectory.ts';
import { copyExperts } from '../records/run/experts.ts';
import { hashQueries } from '../records/run/queries.ts';
import type { Origin, RunRecord } from '../records/format/run-record.ts';
import type { Store } from '../records/store.ts';
import { againIfAllFailed } from './again.ts';
import type { Caller } from './caller.ts';
import { createRun, mustBeSameRun } from './create-run.ts';
import { type RunPlace, runPlace } from './place.ts';
import { newRecord } from './plan.ts';
import type { PlannedRun } from './prepare-run.ts';
import { openingOf } from './rows.ts';

export interface NewFork {
  readonly place: RunPlace;
  /** What is played, in words. */
  readonly what: string;
  readonly from: ForkedFrom;
  /** The store of the other run. */
  readonly source: Store;
  /** The parent's, with its settings in force. */
  readonly parentRun: RunRecord;
  readonly rollout: RolloutRecord;
  readonly numTurns: number;
  readonly samples: number;
}

export async function planFork(fork: NewFork, caller: Caller): Promise<PlannedRun> {
  const { place, what, from, source, parentRun, rollout, samples, numTurns } = fork;
  const { run, out, store } = place;
  const dataset = {
    path: parentRun.dataset?.path ?? 'queries.jsonl',
    ...(await hashQueries([rollout.query])),
    refused: 0,
    ...(parentRun.dataset?.hub && { hub: parentRun.dataset.hub }),
  };
  const settings = { ...rollout.settings, numTurns, seed: seedOfRun(run) };
  const fields = { run, settings, origins: originsOf(fork), samples, dataset, forkedFrom: from };
  const record = newRecord(fields, caller.now());
  // A place of its own: it reads records that may be set aside.
  const before = runPlace(out, run);
  const recorded = (await before.store.get('run'))?.record;
  if (recorded) mustBeSameRun(store.folder, recorded, record);
  const again = recorded && (await againIfAllFailed(before, recorded, caller));
  return {
    ...{ place, record, title: `${from.run}: ${what}`, isThere: recorded !== undefined && !again },
    hasCodeRows: rollout.query.task === 'code',
    openings: [openingOf(rollout.query)],
    async make(made, attached) {
      if (!attached) await again?.();
      await createFork(store, source, made, rollout);
    },
  };
}

async function createFork(store: Store, source: Store, planned: RunRecord, rollout: RolloutRecord): Promise<void> {
  const record = await createRun(store, planned, [rollout.query]);
  for (let sample = 0; sample < record.samples; sample++) {
    const id = { run: record.run, query: rollout.query.queryId, sample, attempt: 1 };
    await carryOver(store, source, id, record, rollout, planned.createdAt);
  }
}

async function carryOver(
  store: Store,
  source: Store,
  id: RolloutId,
  { forkedFrom, settings }: RunRecord,
  { query }: RolloutRecord,
  now: number,
): Promise<void> {
  const from = forkedFrom!;
  const { sample, attempt } = id;
  const begun = await store.put('rollout', id, {
    ...{ run: id.run, query, index: 0, sample, attempt, settings, birthTime: now },
    parent: parentOf(from),
  });
  const old = { run: from.run, query: from.query, sample: from.sample, attempt: from.attempt };
  let previous = begun.hash;
  for (let turn = 1; turn < from.turn; turn++) {
    const [original, verdict, say] = await Promise.all([
      source.get('turn', old, turn),
      source.get('verdict', old, turn),
      turn > 1 ? source.get('say', old, turn) : undefined,
    ]);
    if (!original || !verdict) throw gone(source, turn);
    await copyExperts(source, store, original.record);
    if (say) await store.put('say', id, carriedSay(say.record, say.hash, previous));
    const copy = await store.put('turn', id, carriedTurn(original.record, original.hash, previous));
    await store.put('verdict', id, carriedVerdict(verdict.record, verdict.hash, copy.hash));
    previous = copy.hash;
  }
  if (from.said !== null)
    await store.put('say', id, { turn: from.turn, text: from.said, by: from.by, at: from.at, of: previous });
}

/** Beside settings, options of a fork have their defaults. */
function originsOf({ parentRun, rollout, numTurns, samples }: NewFork): Record<string, Origin> {
  const origins: Record<string, Origin> = {};
  for (const key of Object.keys(rollout.settings)) {
    const origin = parentRun.origins[key] ?? 'default';
    origins[key] = origin === 'input' ? 'flag' : origin;
  }
  if (numTurns !== rollout.settings.numTurns) origins['numTurns'] = 'flag';
  return { ...origins, seed: 'default', samples: samples === 1 ? 'default' : 'flag' };
}

function gone({ folder }: Store, turn: number): StoreError {
  return new StoreError(`turn ${turn} of the rollout in ${folder} is not there`, {
    reason: 'record-missing',
    fix: `Run \`everturn check ${folder}\` to list every fault.`,
  });
}
