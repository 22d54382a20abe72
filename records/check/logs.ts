// Proves the algorithm's logs: every turn of an ended rollout is logged once, in order, in the files of the version it
// began with, and no file holds anything else.

import { explain } from '../../domain/errors/errors.ts';
import { logName, turnLogBlock, turnLogLine } from '../../domain/rollout/turn-log.ts';
import { ANSWERS, folderOfLog, isHarmless, logPath, type LogKind } from '../format/layout.ts';
import type { NameSet } from '../name-set.ts';
import { FOREIGN, foldersIn, namesIn } from '../in-flight/listing.ts';
import type { OnBreach, Store } from '../store.ts';
import type { CheckedRollout } from './checked.ts';

/** Of `expected`, the logs of all rollouts. */
export interface ForeignLogs {
  readonly expected: NameSet;
  /** Reads the rollout of that folder a second time. */
  again(folder: string): Promise<void>;
}

interface Entry {
  readonly turn: number;
  readonly text: string;
  /** Its rollout's end names it. Otherwise it may be in the log, or not yet. */
  readonly must: boolean;
}

/** Of one rollout. Returns the paths of its logs. */
export async function checkLogs(store: Store, rollout: CheckedRollout, report: OnBreach): Promise<string[]> {
  const expected: string[] = [];

  async function file(version: number, kind: LogKind, entries: readonly Entry[]): Promise<void> {
    const path = logPath(version, logName(rollout.id), kind);
    expected.push(path);
    let text: string | undefined;
    try {
      text = await store.getLog(version, logName(rollout.id), kind);
    } catch (error) {
      return report({ path, problem: explain(error) });
    }
    if (text === undefined) {
      const first = entries.find((entry) => entry.must);
      if (first) report({ path, problem: `is missing; turn ${first.turn} should be there` });
    } else {
      const problem = logProblem(text, entries);
      if (problem) report({ path, problem });
    }
  }

  const turns = rollout.turns.map((turn) => turn?.record);
  // Broken records are reported already; the right content of the log is then unknown.
  const known = turns.every((turn, i) => turn && (rollout.verdicts[i] || i === turns.length - 1));
  const ended = rollout.end?.turns.length ?? 0;
  const versions = new Set(turns.flatMap((turn) => (turn ? [turn.versionStart] : [])));
  for (const version of versions) {
    for (const kind of ['txt', 'jsonl'] as const) {
      if (!known) {
        expected.push(logPath(version, logName(rollout.id), kind));
        continue;
      }
      const played = turns.flatMap((turn) => (turn ? [turn] : []));
      const entries = played.flatMap((turn) => {
        const verdict = rollout.verdicts[turn.turn - 1];
        if (!verdict || turn.versionStart !== version) return [];
        const text =
          kind === 'txt' ? turnLogBlock(rollout.rollout, played, turn.turn, verdict) : turnLogLine(turn, verdict);
        return [{ turn: turn.turn, text, must: turn.turn <= ended }];
      });
      await file(version, kind, entries);
    }
  }
  return expected;
}

/** After the last rollout: files that belong to none. */
export async function checkForeignLogs(
  store: Store,
  { expected, again }: ForeignLogs,
  onBreach: OnBreach,
): Promise<void> {
  for (const folder of await foldersIn(store.folder, ANSWERS, onBreach)) {
    for (const name of await namesIn(`${store.folder}/${folder}`)) {
      const path = `${folder}/${name}`;
      if (isHarmless(name) || expected.has(path)) continue;
      // Its rollout may have begun, or reached that version, since it was read.
      const rollout = folderOfLog(name);
      if (rollout) await again(rollout);
      if (!expected.has(path)) onBreach({ path, problem: `${FOREIGN}: no turn was logged there` });
    }
  }
}

/** The text must be the entries in order; optional ones may be missing at its end. */
function logProblem(text: string, entries: readonly Entry[]): string | undefined {
  let at = 0;
  for (const [i, entry] of entries.entries()) {
    if (at === text.length && !entry.must) return undefined;
    if (!text.startsWith(entry.text, at)) {
      const doubled = entries.slice(0, i).find((earlier) => text.startsWith(earlier.text, at));
      if (doubled) return `holds turn ${doubled.turn} twice`;
      return at === text.length
        ? `does not hold turn ${entry.turn}`
        : `does not say what the record of turn ${entry.turn} says`;
    }
    at += entry.text.length;
  }
  if (at === text.length) return undefined;
  const doubled = entries.find((entry) => text.startsWith(entry.text, at));
  return doubled ? `holds turn ${doubled.turn} twice` : 'holds text that belongs to no turn';
}
