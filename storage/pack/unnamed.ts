// Packs that no manifest names, and what is lost with them: rollouts that are nowhere else. A rollout is elsewhere if a
// published pack has it, or its folder has its first record and its end: packers remove the first record first, unpackers
// write it last. Sound while packers are at work: a pack of one is named, or its rollouts are loose, at some moment between
// two looks. Not compared here: what is elsewhere (leftovers.ts).

import { StoreError } from '../../domain/errors.ts';
import { ahead } from '../ahead.ts';
import { factsOf } from '../disk/facts.ts';
import { join } from '../place.ts';
import { END_FILE, ROLLOUT_FILE, ROLLOUTS } from '../record/layout.ts';
import { namesIn } from '../record/listing.ts';
import { type Harm, onlyCopy, unsound } from './harm.ts';
import { isZipName, PACKS } from './manifest.ts';
import { entriesOf } from './pack-file.ts';

export interface Lost extends Harm {
  /** Of the zip. */
  readonly name: string;
  /** Folders of the rollouts; null: it cannot be read, and may have had any. */
  readonly rollouts: readonly string[] | null;
}

/** Published packs, as far as it is asked here. */
export interface Published {
  refresh(): Promise<void>;
  /** Whether a manifest that can be read names this zip. */
  isNamed(zip: string): boolean;
  isPackedFolder(path: string): boolean;
}

/** Names of zips, in order. `published` must have been refreshed before. */
export async function unnamedIn(folder: string, published: Published): Promise<string[]> {
  const names = await namesIn(join(folder, PACKS));
  return names.filter((name) => isZipName(name) && !published.isNamed(name));
}

/** `harmless`: names that were found to lose nothing, and are not looked at again. */
export async function lostIn(folder: string, published: Published, harmless = new Set<string>()): Promise<Lost[]> {
  const lost: Lost[] = [];
  for (const name of await unnamedIn(folder, published)) {
    if (harmless.has(name)) continue;
    const found = await lostWith(folder, name, published);
    if (found) lost.push(found);
    else harmless.add(name);
  }
  return lost;
}

async function lostWith(folder: string, name: string, published: Published): Promise<Lost | undefined> {
  const entries = await entriesOf(join(folder, PACKS, name));
  const unread = entries instanceof StoreError;
  const first = unread ? undefined : await nowhereElse(folder, rolloutsIn(entries), published);
  if (first?.length === 0) return undefined;
  await published.refresh();
  if (!(await unnamedIn(folder, published)).includes(name)) return undefined;
  if (unread) return { name, rollouts: null, ...unsound(folder, name, entries) };
  const rollouts = await nowhereElse(folder, first!, published);
  return rollouts.length === 0 ? undefined : { name, rollouts, ...onlyCopy(name, rollouts.length) };
}

const AT_ONCE = 16;

async function nowhereElse(folder: string, rollouts: readonly string[], published: Published): Promise<string[]> {
  const only: string[] = [];
  const unpacked = rollouts.filter((path) => !published.isPackedFolder(path));
  const looked = ahead(unpacked, AT_ONCE, async (path) => ({ path, isWhole: await isWhole(join(folder, path)) }));
  for await (const { path, isWhole: there } of looked) if (!there) only.push(path);
  return only;
}

async function isWhole(rollout: string): Promise<boolean> {
  const there = await Promise.all([ROLLOUT_FILE, END_FILE].map((file) => factsOf(join(rollout, file))));
  return !there.includes(undefined);
}

/** Folders of the rollouts whose entries are among these. */
export const rolloutsIn = (entries: readonly string[]): string[] =>
  entries.filter((name) => name.startsWith(`${ROLLOUTS}/`)).map((name) => name.replace(/\.jsonl$/, ''));
