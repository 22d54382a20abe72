// The algorithm's two log files: all turns so far that began with the same weight version share one, in order, and
// each turn replaces it as a whole. A rollout's last step writes them again, durably. Both steps are idempotent, and do
// nothing in a run without logs.

import type { TurnReference } from '../domain/rollout/rollout-facts.ts';
import type { RolloutRecord } from '../domain/rollout/trajectory.ts';
import type { TrajectoryReference } from '../domain/names/ids.ts';
import { joinedLog, logName, type LogText, turnLog } from '../domain/rollout/turn-log.ts';
import type { TurnRecord } from '../domain/rollout/turn.ts';
import type { Store } from '../records/store.ts';
import type { ActivityDeps } from './deps.ts';
import { recordedRollout, recordedTurns, recordedVerdict } from './recorded.ts';

export function logActivity({ openStore }: ActivityDeps) {
  return async function log({ rollout: id, turn }: TurnReference): Promise<void> {
    const store = openStore(id.out, id.run);
    const { record: rollout } = await recordedRollout(store, id);
    if (rollout.settings.logs === 'none') return;
    const turns = (await recordedTurns(store, id, turn)).map((t) => t.record);
    const { versionStart: version } = turns.at(-1)!;
    // The last step writes it again, durably.
    await store.putLog(version, logName(id), await wholeText(store, id, rollout, turns, version), { draft: true });
  };
}

/** Writes every log of a rollout's played turns: its last step does so, whatever came between. */
export async function writeLogs(
  store: Store,
  id: TrajectoryReference,
  rollout: RolloutRecord,
  turns: readonly TurnRecord[],
): Promise<void> {
  if (rollout.settings.logs === 'none') return;
  for (const version of new Set(turns.map((t) => t.versionStart))) {
    await store.putLog(version, logName(id), await wholeText(store, id, rollout, turns, version));
  }
}

async function wholeText(
  store: Store,
  id: TrajectoryReference,
  rollout: RolloutRecord,
  turns: readonly TurnRecord[],
  version: number,
): Promise<LogText> {
  const parts: LogText[] = [];
  for (const { turn, versionStart } of turns) {
    if (versionStart !== version) continue;
    const verdict = (await recordedVerdict(store, id, turn)).record;
    parts.push(turnLog(rollout, turns, turn, verdict));
    // Each shows all the contexts before it: of a long prompt, megabytes.
    await new Promise(setImmediate);
  }
  return joinedLog(parts);
}
