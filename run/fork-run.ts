// Makes a fork: a new run of one query whose rollouts begin with copies of another rollout's turns. Idempotent and resumable:
// every file is written once by name, so a command that was killed is simply repeated. The other run is only read.

import { isDeepStrictEqual } from 'node:util';
import { seedOfRun } from '../domain/run/defaults.ts';
import { StoreError, UsageError } from '../domain/errors/errors.ts';
import type { RolloutId } from '../domain/names/ids.ts';
import { carriedSay, carriedTurn, carriedVerdict } from '../domain/rollout/copy-records.ts';
import { type ForkedFrom, parentOf } from '../domain/rollout/lineage.ts';
import type { RolloutRecord } from '../domain/rollout/trajectory.ts';
import { hashQueries } from '../records/run/queries.ts';
import type { Origin, RunRecord } from '../records/format/run-record.ts';
import type { Store } from '../records/store.ts';
import { everturnVersion } from '../local/machine/package-root.ts';

export interface NewFork {
  readonly run: string;
  readonly from: ForkedFrom;
  /** The parent's, with its settings in force. */
  readonly parentRun: RunRecord;
  readonly rollout: RolloutRecord;
  readonly numTurns: number;
  readonly samples: number;
  readonly found: Pick<RunRecord, 'logprobs' | 'model'>;
  readonly now: number;
}

export async function createFork(store: Store, source: Store, fork: NewFork): Promise<RunRecord> {
  const { run, from, rollout, samples, numTurns } = fork;
  const known = (await store.getRun())?.record;
  if (known) mustBeSame(store.folder, known, fork);
  const { sha256, accepted } = await hashQueries([rollout.query]);
  const settings = { ...rollout.settings, numTurns, seed: seedOfRun(run) };
  const { record } = await store.putRun({
    format: 'everturn-run/1',
    run,
    settings,
    origins: originsOf(fork),
    samples,
    dataset: { path: fork.parentRun.dataset?.path ?? 'queries.jsonl', sha256, accepted, refused: 0 },
    ...fork.found,
    forkedFrom: from,
    versions: { everturn: everturnVersion(), node: process.version },
    createdAt: fork.now,
  });
  mustBeSame(store.folder, record, fork);
  // Behind the write-once record: a fork of another rollout under the same name, at the same time, is refused before this.
  await store.putQueries([rollout.query]);
  for (let sample = 0; sample < samples; sample++) {
    const id = { run, query: rollout.query.queryId, sample, attempt: 1 };
    await carryOver(store, source, id, record, rollout, fork.now);
  }
  return record;
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
  const begun = await store.putRollout(id, {
    ...{ run: id.run, query, index: 0, sample, attempt, settings, birthTime: now },
    parent: parentOf(from),
  });
  const old = { run: from.run, query: from.query, sample: from.sample, attempt: from.attempt };
  let previous = begun.hash;
  for (let turn = 1; turn < from.turn; turn++) {
    const [original, verdict, say] = await Promise.all([
      source.getTurn(old, turn),
      source.getVerdict(old, turn),
      turn > 1 ? source.getSay(old, turn) : undefined,
    ]);
    if (!original || !verdict) throw gone(source, turn);
    if (say) await store.putSay(id, carriedSay(say.record, say.hash, previous));
    const copy = await store.putTurn(id, carriedTurn(original.record, original.hash, previous));
    await store.putVerdict(id, carriedVerdict(verdict.record, verdict.hash, copy.hash));
    previous = copy.hash;
  }
  if (from.said !== null)
    await store.putSay(id, { turn: from.turn, text: from.said, by: from.by, at: from.at, of: previous });
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

function mustBeSame(folder: string, { forkedFrom, samples, settings }: RunRecord, fork: NewFork): void {
  const said = ({ how, said: text, ...from }: ForkedFrom) => ({ ...parentOf(from), how, text });
  const same =
    forkedFrom &&
    isDeepStrictEqual(said(forkedFrom), said(fork.from)) &&
    samples === fork.samples &&
    settings.numTurns === fork.numTurns;
  if (same) return;
  throw new UsageError(`Run "${fork.run}" exists in ${folder}, and is not this fork.`, {
    reason: 'run-differs',
    fix: 'Give the fork another --name, or repeat the command that made that run.',
  });
}

function gone({ folder }: Store, turn: number): StoreError {
  return new StoreError(`turn ${turn} of the rollout in ${folder} is not there`, {
    reason: 'record-missing',
    fix: `Run \`everturn check ${folder}\` to list every fault.`,
  });
}
