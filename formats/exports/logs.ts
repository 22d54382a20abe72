// The algorithm's logs as a folder, to the byte the files that a run writes unless it was told not to: for each rollout and
// each weight version that its turns began with, `answers/<version>/<query>.txt` and `.jsonl`.

import type { Trajectory } from '../../domain/rollout/trajectory.ts';
import { joinedLog, logName, type LogText, turnLog } from '../../domain/rollout/turn-log.ts';

export const logs = {
  name: 'logs',
  extension: '',
  top: 'answers',
  description: 'the logs of the original algorithm, as a run writes them: a folder answers/<version>',
} as const;

export interface LogFile {
  /** Relative to the folder that holds `answers`. */
  readonly path: string;
  readonly bytes: Uint8Array;
}

/** Turns that are not judged yet are in no log. */
export function logFiles({ rollout, turns }: Trajectory): LogFile[] {
  const { query, sample, attempt } = rollout;
  const name = logName({ query: query.queryId, sample, attempt });
  const played = turns.map(({ record }) => record);
  const byVersion = new Map<number, LogText[]>();
  for (const { record, verdict } of turns) {
    if (!verdict) continue;
    const parts = byVersion.get(record.versionStart) ?? [];
    byVersion.set(record.versionStart, [...parts, turnLog(rollout, played, record.turn, verdict)]);
  }
  return [...byVersion].flatMap(([version, parts]) =>
    Object.entries(joinedLog(parts)).map(([kind, text]: [string, string]) => ({
      path: `${logs.top}/${version}/${name}.${kind}`,
      bytes: Buffer.from(text),
    })),
  );
}
