// The algorithm's two log files, written by name as a whole: all turns so far that began with the same
// weight version share one file, so that doing it twice changes nothing.

import type { TurnReference } from '../domain/rollout-facts.ts';
import type { TrajectoryReference } from '../domain/rollout-result.ts';
import { logName, turnLogBlock, turnLogLine } from '../domain/turn-log.ts';
import type { Store } from '../storage/store.ts';
import type { ActivityDeps } from './deps.ts';
import { recordedRollout, recordedTurn, recordedTurns, recordedVerdict } from './recorded.ts';

export function logActivity({ openStore }: ActivityDeps) {
  return async function log({ rollout: id, turn }: TurnReference): Promise<void> {
    const store = openStore(id.out, id.run);
    const { record } = await recordedTurn(store, id, turn);
    await writeLog(store, id, turn, record.versionStart);
  };
}

/** Writes every log of a rollout's first `count` turns: its last step does so, whatever came between. */
export async function writeLogs(store: Store, id: TrajectoryReference, count: number): Promise<void> {
  const turns = await recordedTurns(store, id, count);
  for (const version of new Set(turns.map((t) => t.record.versionStart))) await writeLog(store, id, count, version);
}

async function writeLog(store: Store, id: TrajectoryReference, count: number, version: number): Promise<void> {
  const rollout = (await recordedRollout(store, id)).record;
  const turns = (await recordedTurns(store, id, count)).map((t) => t.record);
  const blocks: string[] = [];
  const lines: string[] = [];
  for (const played of turns.filter((t) => t.versionStart === version)) {
    const verdict = (await recordedVerdict(store, id, played.turn)).record;
    blocks.push(turnLogBlock(rollout, turns, played.turn, verdict));
    lines.push(turnLogLine(played, verdict));
  }
  const name = logName(id);
  await store.putLog(version, name, 'txt', blocks.join(''));
  await store.putLog(version, name, 'jsonl', lines.join(''));
}
