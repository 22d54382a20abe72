// Loose files of the rollouts of one pack: a rollout's first record last, so that until then readers read the pack. A file
// that is there already must be the same; nothing is replaced.

import { StoreError } from '../../domain/errors.ts';
import { logName } from '../../domain/turn-log.ts';
import { recordError } from '../disk/errors.ts';
import type { FileLayer } from '../disk/file-layer.ts';
import { readText, writeOnce } from '../disk/write-once.ts';
import { join } from '../place.ts';
import { ROLLOUT_FILE, rolloutFolder } from '../record/layout.ts';
import { removeOldTemporaries } from '../record/listing.ts';
import { lineProblem, linesByName } from './lines.ts';
import type { PackedId } from './manifest.ts';
import type { PackFile } from './pack-file.ts';
import { entryName } from './packs.ts';

/** Of these rollouts of the pack, with their logs. A damaged one is a StoreError. */
export async function restore(
  folder: string,
  file: PackFile,
  rollouts: readonly PackedId[],
  layer: FileLayer,
): Promise<void> {
  for (const id of rollouts) {
    await removeOldTemporaries(join(folder, rolloutFolder(id)));
    const name = entryName(id);
    const text = await file.text(name);
    if (text === undefined) throw recordError(file.path, `holds no ${name}`);
    const lines = linesByName(text, id);
    const problem = lineProblem(lines);
    if (problem !== undefined) throw recordError(`${file.path}: ${name}:`, problem);
    const rest = [...lines].filter(([one]) => one !== ROLLOUT_FILE);
    await Promise.all(rest.map(([one, line]) => writeSame(join(folder, rolloutFolder(id), one), line.text, layer)));
  }
  const logs = new Set(rollouts.map(logName));
  for (const name of (await file.entries()).keys())
    if (logs.has(logOf(name))) await writeSame(join(folder, name), (await file.text(name))!, layer);
  for (const id of rollouts) {
    const first = linesByName((await file.text(entryName(id)))!, id).get(ROLLOUT_FILE);
    if (first) await writeSame(join(folder, rolloutFolder(id), ROLLOUT_FILE), first.text, layer);
  }
}

/** The entries of these rollouts and their logs, and no others: no other name of an entry is ever a path. */
export function strangeEntry(entries: Iterable<string>, rollouts: readonly PackedId[]): string | undefined {
  const own = new Set(rollouts.map(entryName));
  const logs = new Set(rollouts.map(logName));
  for (const name of entries) if (!own.has(name) && !logs.has(logOf(name))) return name;
  return undefined;
}

const logOf = (entry: string): string => /^answers\/(?:0|[1-9]\d*)\/([^/\\]+)\.(?:txt|jsonl)$/.exec(entry)?.[1] ?? '';

async function writeSame(path: string, text: string, layer: FileLayer): Promise<void> {
  if (await writeOnce(path, text, layer)) return;
  if ((await readText(path, layer)) === text) return;
  throw new StoreError(`${path} is there already, and is not what its pack holds`, {
    reason: 'record-broken',
    fix: 'Run `everturn check`; once that file is moved away, unpack again.',
  });
}
