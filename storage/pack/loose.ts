// One ended rollout as its loose files have it, ready for a pack; or why it stays loose. Proves what a reader of the pack
// relies on: only files of ours, each a sound record of this rollout under the name that its text gives, and an end that
// names exactly the turns. All else is left to `check`, which reads packs as well.

import { explain } from '../../domain/errors.ts';
import { logName } from '../../domain/turn-log.ts';
import type { TurnRecord } from '../../domain/turn.ts';
import { readText } from '../disk/write-once.ts';
import { join } from '../place.ts';
import { isHarmless, LOG_KINDS, logPath, parseRolloutFile, rolloutFolder } from '../record/layout.ts';
import { namesIn } from '../record/listing.ts';
import { endProblem, inOrder, lineProblem, linesByName, type PackedLines, recordOf } from './lines.ts';
import type { PackedId } from './manifest.ts';
import { entryName } from './packs.ts';

export interface LooseRollout {
  readonly id: PackedId;
  /** The records, then the logs. */
  readonly entries: readonly { readonly name: string; readonly text: string }[];
}

export async function looseRollout(folder: string, id: PackedId): Promise<LooseRollout | { readonly problem: string }> {
  try {
    const root = join(folder, rolloutFolder(id));
    const names = (await namesIn(root)).filter((name) => !isHarmless(name));
    const foreign = names.find((name) => parseRolloutFile(name).kind === 'foreign');
    if (foreign !== undefined) return { problem: `${foreign} is not of this run` };
    const ordered = inOrder(names);
    const texts = await Promise.all(ordered.map((name) => readText(join(root, name))));
    if (texts.includes(undefined)) return { problem: 'a file of it has gone' };
    const text = texts.join('');
    const lines = linesByName(text, id);
    const problem = problemOf(ordered, lines);
    if (problem !== undefined) return { problem };
    const entries = [{ name: entryName(id), text }];
    for (const path of logPaths(id, lines)) {
      const log = await readText(join(folder, path));
      if (log !== undefined) entries.push({ name: path, text: log });
    }
    return { id, entries };
  } catch (error) {
    return { problem: explain(error) };
  }
}

function problemOf(names: readonly string[], lines: PackedLines): string | undefined {
  const flaw = lineProblem(lines);
  if (flaw !== undefined) return flaw;
  const found = [...lines.keys()];
  const other = names.findIndex((name, i) => found[i] !== name);
  if (other >= 0 || found.length !== names.length) return `${names[other]} holds another record than its name says`;
  return endProblem(lines);
}

/** Of each version with which a turn began. */
function logPaths(id: PackedId, lines: PackedLines): string[] {
  const versions = new Set<number>();
  for (const name of lines.keys()) {
    const version =
      parseRolloutFile(name).kind === 'turn' ? recordOf<TurnRecord>(lines, name)?.versionStart : undefined;
    if (Number.isSafeInteger(version) && version! >= 0) versions.add(version!);
  }
  return [...versions].flatMap((version) => LOG_KINDS.map((kind) => logPath(version, logName(id), kind)));
}
