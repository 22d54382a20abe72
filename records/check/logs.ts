// Proves the algorithm's logs: every turn of an ended rollout is logged once, in order, in the files of the version it
// began with, and no file holds anything else. A run without logs has no such file.

import { explain } from '../../domain/errors/errors.ts';
import { logName, turnLog } from '../../domain/rollout/turn-log.ts';
import { plural } from '../../domain/text/plural.ts';
import { ANSWERS, folderOfLog, isHarmless, LOG_KINDS, logPath } from '../format/layout.ts';
import { FOREIGN, foldersIn } from '../in-flight/listing.ts';
import type { NameSet } from '../name-set.ts';
import type { OnBreach, Store } from '../store.ts';
import type { CheckedRollout } from './checked.ts';
import { namesIn } from '../places/files.ts';

/** One turn in a log. */
interface Entry {
  readonly turn: number;
  readonly text: string;
  /** Its rollout's end names it. Otherwise it may be in the log, or not yet. */
  readonly must: boolean;
}

/** Checks the logs of one rollout. Returns their paths. */
export async function checkLogs(store: Store, checked: CheckedRollout, report: OnBreach): Promise<string[]> {
  const { id, rollout, verdicts, end } = checked;
  if (rollout.settings.logs === 'none') return [];
  const turns = checked.turns.flatMap((turn) => turn?.record ?? []);
  // Broken records are reported already; the right content of the log is then unknown.
  const isKnown = turns.length === checked.turns.length && turns.slice(0, -1).every((_, i) => verdicts[i]);
  const logged = turns.flatMap((record, i) => {
    const verdict = isKnown ? verdicts[i] : undefined;
    if (!verdict) return [];
    const { turn, versionStart: version } = record;
    return [{ turn, version, text: turnLog(rollout, turns, turn, verdict), must: turn <= (end?.turns.length ?? 0) }];
  });
  const name = logName(id);
  const expected: string[] = [];
  for (const version of new Set(turns.map(({ versionStart }) => versionStart))) {
    const ofVersion = logged.filter((turn) => turn.version === version);
    for (const kind of LOG_KINDS) {
      const path = logPath(version, name, kind);
      expected.push(path);
      if (!isKnown) continue;
      const entries = ofVersion.map(({ text, ...entry }) => ({ ...entry, text: text[kind] }));
      const problem = await store.getLog(version, name, kind).then((text) => logProblem(text, entries), explain);
      if (problem !== undefined) report({ path, problem });
    }
  }
  return expected;
}

/** The text must be the entries in order; optional ones may be missing at its end. */
function logProblem(text: string | undefined, entries: readonly Entry[]): string | undefined {
  let at = 0;
  for (const entry of entries) {
    if (at === (text?.length ?? 0) && !entry.must) return undefined;
    if (text === undefined) return `is missing; turn ${entry.turn} should be there`;
    if (!text.startsWith(entry.text, at)) return `does not say what the record of turn ${entry.turn} says`;
    at += entry.text.length;
  }
  return text === undefined || at === text.length ? undefined : 'holds text that belongs to no turn';
}

interface ForeignLogs {
  readonly expected: NameSet;
  readonly again: (folder: string) => Promise<void>;
  readonly lost: boolean;
}

/**
 * After the last rollout: files that belong to none. `again` reads the rollout of that folder a second time. `lost`: rollouts are
 * missing, and what was logged of them is one breach.
 */
export async function checkForeignLogs(
  store: Store,
  { expected, again, lost }: ForeignLogs,
  onBreach: OnBreach,
): Promise<void> {
  let alone = 0;
  for (const folder of await foldersIn(store.folder, ANSWERS, onBreach)) {
    for (const name of await namesIn(`${store.folder}/${folder}`)) {
      const path = `${folder}/${name}`;
      if (isHarmless(name) || expected.has(path)) continue;
      // Its rollout may have begun, or reached that version, since it was read.
      const rollout = folderOfLog(name);
      if (rollout) await again(rollout);
      if (expected.has(path)) continue;
      if (lost && rollout) alone++;
      else onBreach({ path, problem: `${FOREIGN}: no turn was logged there` });
    }
  }
  if (alone > 0) onBreach({ path: ANSWERS, problem: `holds ${plural(alone, 'log')} of rollouts that are missing` });
}
