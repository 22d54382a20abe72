// A pack that no manifest names, read whole: each of its entries has its checksum, each record its own hash, each rollout an
// end that names exactly its turns, and nothing that the run has of these rollouts is another one.

import { createHash } from 'node:crypto';
import { StoreError } from '../../domain/errors.ts';
import { recordError } from '../disk/errors.ts';
import { readText } from '../disk/write-once.ts';
import { join } from '../place.ts';
import {
  END_FILE,
  isHarmless,
  parseRolloutFile,
  parseRolloutFolder,
  ROLLOUT_FILE,
  rolloutFolder,
  ROLLOUTS,
} from '../record/layout.ts';
import { namesIn } from '../record/listing.ts';
import { openRecord } from '../record/text.ts';
import { contradicted, type Harm, unsound } from './harm.ts';
import { endProblem, lineProblem, linesByName, type PackedLines } from './lines.ts';
import { type PackedId, PACKS } from './manifest.ts';
import { openPackFile, type PackFile } from './pack-file.ts';
import { entryName, type Packs } from './packs.ts';
import { strangeEntry } from './restore.ts';

export interface ProvedPack {
  /** Of the zip. */
  readonly name: string;
  /** In the order of the zip. */
  readonly ids: readonly PackedId[];
  /** SHA-256 of the records of each rollout, by its folder. */
  readonly digests: ReadonlyMap<string, string>;
  /** Those that the run has as they are here. */
  readonly elsewhere: readonly PackedId[];
}

/** `packs` must have been refreshed. */
export async function provedPack(folder: string, packs: Packs, name: string): Promise<ProvedPack | Harm> {
  const file = openPackFile(join(folder, PACKS, name));
  try {
    const names = [...(await file.entries()).keys()];
    const ids: PackedId[] = [];
    const elsewhere: PackedId[] = [];
    const digests = new Map<string, string>();
    for (const entry of names) {
      const text = (await file.text(entry))!;
      if (!entry.startsWith(`${ROLLOUTS}/`)) continue;
      const { id, lines } = rolloutIn(file, entry, text);
      const found = await besideIt(folder, packs, id, lines);
      if (typeof found === 'object') return contradicted(name, rolloutFolder(id), found.differs);
      if (found === 'same') elsewhere.push(id);
      ids.push(id);
      digests.set(rolloutFolder(id), createHash('sha256').update(text).digest('hex'));
    }
    const strange = strangeEntry(names, ids);
    if (strange !== undefined)
      throw recordError(file.path, `holds ${JSON.stringify(strange)}, which is of none of its rollouts`);
    return { name, ids, digests, elsewhere };
  } catch (error) {
    if (error instanceof StoreError && !error.retryable) return unsound(folder, name, error);
    throw error;
  } finally {
    file.close();
  }
}

function rolloutIn(file: PackFile, entry: string, text: string): { id: PackedId; lines: PackedLines } {
  const flawed = (problem: string) => recordError(`${file.path}: ${entry}`, problem);
  const place = parseRolloutFolder(entry.slice(entry.lastIndexOf('/') + 1).replace(/\.jsonl$/, ''));
  const { of } = openRecord(text.slice(0, text.indexOf('\n') + 1));
  const id = place && typeof of?.query === 'string' ? { query: of.query, ...place } : undefined;
  if (!id || entryName(id) !== entry) throw flawed('is not named by its records');
  const lines = linesByName(text, id);
  const problem = lineProblem(lines) ?? endProblem(lines);
  if (problem !== undefined) throw flawed(`is no sound rollout: ${problem}`);
  return { id, lines };
}

/** A rollout in the run, beside this pack. `part`: not all of it, or nobody can read it. */
type Beside = 'same' | 'part' | { readonly differs: string };

async function besideIt(folder: string, packs: Packs, id: PackedId, lines: PackedLines): Promise<Beside> {
  const found = (await published(packs, id, lines)) ?? (await loose(folder, id, lines));
  if (found === 'same') return found;
  // A packer that is at work removes what it has just published.
  await packs.refresh();
  return (await published(packs, id, lines)) ?? found;
}

async function loose(folder: string, id: PackedId, lines: PackedLines): Promise<Beside> {
  const root = join(folder, rolloutFolder(id));
  const names = (await namesIn(root)).filter((name) => !isHarmless(name));
  const texts = await Promise.all(names.map((name) => readText(join(root, name))));
  const other = names.find((name, i) => texts[i] !== undefined && texts[i] !== lines.get(name)?.text);
  if (other !== undefined) return { differs: `whose ${other} is another one among the loose files` };
  if (!names.includes(ROLLOUT_FILE) || !names.includes(END_FILE)) return 'part';
  // A worker may have dropped chunks since.
  const gone = [...lines.keys()].find((name) => !names.includes(name) && parseRolloutFile(name).kind !== 'chunk');
  return gone === undefined ? 'same' : { differs: `whose ${gone} is missing among the loose files` };
}

async function published(packs: Packs, id: PackedId, lines: PackedLines): Promise<Beside | undefined> {
  try {
    const twin = await packs.lines(id);
    if (!twin) return undefined;
    return textOf(twin) === textOf(lines) ? 'same' : { differs: 'which a pack with a manifest holds with other bytes' };
  } catch (error) {
    // That pack is reported by itself.
    if (error instanceof StoreError && !error.retryable) return 'part';
    throw error;
  }
}

const textOf = (lines: PackedLines): string => [...lines.values()].map(({ text }) => text).join('');
