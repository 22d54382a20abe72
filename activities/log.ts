// The algorithm's two log files: all turns so far that began with the same weight version share one, in order. A turn
// is added to what is there; a rollout's last step writes them as a whole, for good, whatever came between. Doing
// either twice changes nothing.

import type { TurnReference } from '../domain/rollout-facts.ts';
import type { TrajectoryReference } from '../domain/rollout-result.ts';
import { logName, turnLogBlock, turnLogLine } from '../domain/turn-log.ts';
import type { TurnRecord } from '../domain/turn.ts';
import type { LogText, Store } from '../storage/store.ts';
import type { ActivityDeps } from './deps.ts';
import { recordedRollout, recordedTurns, recordedVerdict } from './recorded.ts';

export function logActivity({ openStore }: ActivityDeps) {
  return async function log({ rollout: id, turn }: TurnReference): Promise<void> {
    const store = openStore(id.out, id.run);
    const turns = (await recordedTurns(store, id, turn)).map((t) => t.record);
    const { versionStart: version } = turns.at(-1)!;
    const before = turns.filter((t) => t.versionStart === version).length - 1;
    const added = await turnText(store, id, turns, turn);
    await store.growLog(id, version, logName(id), before, added, () => wholeText(store, id, turns, version));
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
  const parts: LogText[] = [];
  for (const { versionStart, turn } of turns) {
    if (versionStart !== version) continue;
    parts.push(await turnText(store, id, turns, turn));
    // Each shows all the contexts before it: of a long prompt, megabytes.
    await new Promise(setImmediate);
  }
  return { txt: parts.map(({ txt }) => txt).join(''), jsonl: parts.map(({ jsonl }) => jsonl).join('') };
}

async function turnText(
  store: Store,
  id: TrajectoryReference,
  turns: readonly TurnRecord[],
  turn: number,
): Promise<LogText> {
  const rollout = (await recordedRollout(store, id)).record;
  const verdict = (await recordedVerdict(store, id, turn)).record;
  return { txt: turnLogBlock(rollout, turns, turn, verdict), jsonl: turnLogLine(turns[turn - 1]!, verdict) };
}
