// The algorithm's two log files: all turns so far that began with the same weight version share one, in order, and
// each turn replaces it as a whole. A rollout's last step writes them again, durably. Both steps are idempotent.

import type { TurnReference } from '../domain/rollout/rollout-facts.ts';
import type { TrajectoryReference } from '../domain/run/ids.ts';
import { logName, turnLogBlock, turnLogLine } from '../domain/rollout/turn-log.ts';
import type { TurnRecord } from '../domain/rollout/turn.ts';
import type { LogText, Store } from '../records/store.ts';
import type { ActivityDeps } from './deps.ts';
import { recordedRollout, recordedTurns, recordedVerdict } from './recorded.ts';

export function logActivity({ openStore }: ActivityDeps) {
  return async function log({ rollout: id, turn }: TurnReference): Promise<void> {
    const store = openStore(id.out, id.run);
    const turns = (await recordedTurns(store, id, turn)).map((t) => t.record);
    const { versionStart: version } = turns.at(-1)!;
    // The last step writes it again, durably.
    await store.putLog(version, logName(id), await wholeText(store, id, turns, version), { draft: true });
  };
}

/** Writes every log of a rollout's first `count` turns: its last step does so, whatever came between. */
export async function writeLogs(store: Store, id: TrajectoryReference, count: number): Promise<void> {
  const turns = (await recordedTurns(store, id, count)).map((t) => t.record);
  for (const version of new Set(turns.map((t) => t.versionStart))) {
    await store.putLog(version, logName(id), await wholeText(store, id, turns, version));
  }
}

async function wholeText(
  store: Store,
  id: TrajectoryReference,
  turns: readonly TurnRecord[],
  version: number,
): Promise<LogText> {
  const rollout = (await recordedRollout(store, id)).record;
  const parts: LogText[] = [];
  for (const played of turns) {
    if (played.versionStart !== version) continue;
    const verdict = (await recordedVerdict(store, id, played.turn)).record;
    parts.push({ txt: turnLogBlock(rollout, turns, played.turn, verdict), jsonl: turnLogLine(played, verdict) });
    // Each shows all the contexts before it: of a long prompt, megabytes.
    await new Promise(setImmediate);
  }
  return { txt: parts.map(({ txt }) => txt).join(''), jsonl: parts.map(({ jsonl }) => jsonl).join('') };
}
