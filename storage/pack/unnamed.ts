// Packs that no manifest names, and what is lost with them: rollouts that are neither loose nor in a pack with a manifest.
// Sound while packers are at work: a pack of one is named, or its rollouts are loose, at some moment between two looks.

import { ahead } from '../ahead.ts';
import { factsOf } from '../disk/facts.ts';
import { StoreError } from '../../domain/errors.ts';
import { recordError } from '../disk/errors.ts';
import { join } from '../place.ts';
import { ROLLOUT_FILE, ROLLOUTS } from '../record/layout.ts';
import { namesIn } from '../record/listing.ts';
import { isZipName, PACKS, parseManifestName, readManifest } from './manifest.ts';
import { openPackFile } from './pack-file.ts';

export interface Lost {
  /** Of the zip. */
  readonly name: string;
  readonly problem: string;
  readonly error: StoreError;
  /** Folders of the rollouts; null: it cannot be read, and may have had any. */
  readonly rollouts: readonly string[] | null;
}

/** Published packs, as far as it is asked here. */
export interface Published {
  refresh(): Promise<void>;
  isPackedFolder(path: string): boolean;
}

/** By name, in order. */
export async function unnamedIn(folder: string): Promise<string[]> {
  const names = await namesIn(join(folder, PACKS));
  const zips = names.filter(isZipName);
  if (zips.length === 0) return [];
  const numbers = names.flatMap((name) => parseManifestName(name) ?? []);
  // Nearly always each is named by the manifest of its own number.
  if (zips.length === numbers.length && zips.every((name, i) => parseInt(name, 10) === numbers[i])) return [];
  const named = new Set<string>();
  for (const number of numbers) named.add((await readManifest(folder, number))?.pack ?? '');
  return zips.filter((name) => !named.has(name));
}

/** `harmless`: names that were found to lose nothing, and are not looked at again. */
export async function lostIn(folder: string, published: Published, harmless: Set<string>): Promise<Lost[]> {
  const lost: Lost[] = [];
  for (const name of await unnamedIn(folder)) {
    if (harmless.has(name)) continue;
    const found = await lostWith(folder, name, published);
    if (found) lost.push(found);
    else harmless.add(name);
  }
  return lost;
}

async function lostWith(folder: string, name: string, published: Published): Promise<Lost | undefined> {
  const first = await onlyIn(folder, name, published);
  if (first?.length === 0) return undefined;
  await published.refresh();
  if (!(await unnamedIn(folder)).includes(name)) return undefined;
  const only = await onlyIn(folder, name, published, first);
  if (only?.length === 0) return undefined;
  const what = only ? `holds ${count(only.length)} nowhere else` : 'cannot be read';
  const problem = `is named by no manifest, and ${what}`;
  return { name, problem, error: recordError(join(folder, PACKS, name), problem), rollouts: only ?? null };
}

const count = (n: number): string => (n === 1 ? '1 rollout that is' : `${n.toLocaleString('en-US')} rollouts that are`);
const AT_ONCE = 16;

/** Undefined: it cannot be read. */
async function onlyIn(
  folder: string,
  name: string,
  published: Published,
  of?: readonly string[],
): Promise<string[] | undefined> {
  const rollouts = of ?? (await rolloutsOf(join(folder, PACKS, name)));
  if (!rollouts) return undefined;
  const candidates = rollouts.filter((path) => !published.isPackedFolder(path));
  const only: string[] = [];
  const looked = ahead(candidates, AT_ONCE, async (path) => ({
    path,
    there: await factsOf(join(folder, path, ROLLOUT_FILE)),
  }));
  for await (const { path, there } of looked) if (!there) only.push(path);
  return only;
}

async function rolloutsOf(path: string): Promise<string[] | undefined> {
  const file = openPackFile(path);
  try {
    const names = [...(await file.entries()).keys()];
    return names.filter((name) => name.startsWith(`${ROLLOUTS}/`)).map((name) => name.replace(/\.jsonl$/, ''));
  } catch (error) {
    if (error instanceof StoreError && !error.retryable) return undefined;
    throw error;
  } finally {
    file.close();
  }
}
