// The algorithm's two log files of a turn, written by name as a whole: all turns so far that began with
// the same weight version share one file, so that doing it twice changes nothing.

import { logName, turnLogBlock, turnLogLine } from '../domain/turn-log.ts';
import type { TurnReference } from '../domain/rollout-facts.ts';
import type { ActivityDeps } from './deps.ts';
import { recordedRollout, recordedTurns, recordedVerdict } from './recorded.ts';

export function logActivity({ openStore }: ActivityDeps) {
  return async function log({ rollout: id, turn }: TurnReference): Promise<void> {
    const store = openStore(id.out, id.run);
    const rollout = (await recordedRollout(store, id)).record;
    const turns = (await recordedTurns(store, id, turn)).map((t) => t.record);
    const version = turns.at(-1)!.versionStart;
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
  };
}
