// The algorithm's two log files, written by name as a whole: all turns so far that began with the same
// weight version share one file, so that doing it twice changes nothing.

import type { TurnReference } from '../domain/rollout-facts.ts';
import type { TrajectoryReference } from '../domain/rollout-result.ts';
import { logName, turnLogBlock, turnLogLine } from '../domain/turn-log.ts';
import type { TurnRecord } from '../domain/turn.ts';
import type { Store, Stored } from '../storage/store.ts';
import type { ActivityDeps } from './deps.ts';
import { recordedRollout, recordedTurns, recordedVerdict } from './recorded.ts';

export function logActivity({ openStore }: ActivityDeps) {
  return async function log({ rollout: id, turn }: TurnReference): Promise<void> {
    const store = openStore(id.out, id.run);
    const turns = await recordedTurns(store, id, turn);
    // The last step writes it again, for good.
    await writeLog(store, id, turns, turns.at(-1)!.record.versionStart, true);
  };
}

/** Writes every log of a rollout's first `count` turns: its last step does so, whatever came between. */
export async function writeLogs(store: Store, id: TrajectoryReference, count: number): Promise<void> {
  const turns = await recordedTurns(store, id, count);
  const versions = new Set(turns.map((t) => t.record.versionStart));
  for (const version of versions) await writeLog(store, id, turns, version, false);
}

async function writeLog(
  store: Store,
  id: TrajectoryReference,
  stored: readonly Stored<TurnRecord>[],
  version: number,
  draft: boolean,
): Promise<void> {
  const rollout = (await recordedRollout(store, id)).record;
  const turns = stored.map((t) => t.record);
  const blocks: string[] = [];
  const lines: string[] = [];
  for (const played of turns.filter((t) => t.versionStart === version)) {
    const verdict = (await recordedVerdict(store, id, played.turn)).record;
    blocks.push(turnLogBlock(rollout, turns, played.turn, verdict));
    lines.push(turnLogLine(played, verdict));
  }
  const name = logName(id);
  await store.putLog(version, name, 'txt', blocks.join(''), { draft });
  await store.putLog(version, name, 'jsonl', lines.join(''), { draft });
}
