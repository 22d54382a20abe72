// Proves the packs of a run: numbered without a gap, each the very file that its manifest names, no rollout in two of
// them, nothing in them that no rollout has, and no loose file that differs from its packed twin. The records inside are
// proved as loose ones are, by rollout.ts and logs.ts.

import { explain } from '../domain/errors.ts';
import { shapeProblem, textProblem } from './shape.ts';
import { FROM_COPY } from '../storage/disk/errors.ts';
import { factsOf } from '../storage/disk/facts.ts';
import { readText } from '../storage/disk/write-once.ts';
import { sha256OfFile } from '../storage/pack/checksum.ts';
import { type Harm, harmLine, onlyCopy } from '../storage/pack/harm.ts';
import {
  isZipName,
  manifestFile,
  PACKS,
  type PackRecord,
  parseManifestName,
  parsePackedId,
  readManifest,
} from '../storage/pack/manifest.ts';
import { leftovers, packsWithoutManifest } from '../storage/pack/leftovers.ts';
import { openPackFile } from '../storage/pack/pack-file.ts';
import { entryName, numbersOf, openPacks, type Packs, packedTwice } from '../storage/pack/packs.ts';
import { DIFFERS, looseLogs, loosePacked } from '../storage/pack/remove.ts';
import { strangeEntry } from '../storage/pack/restore.ts';
import { unreadPacks } from '../storage/pack/unread.ts';
import { lostIn } from '../storage/pack/unnamed.ts';
import { join } from '../storage/place.ts';
import { isHarmless, rolloutFolder } from '../storage/record/layout.ts';
import { FOREIGN, namesIn } from '../storage/record/listing.ts';
import type { OnBreach } from '../storage/store.ts';
import { decodeRecord } from '../storage/record/text.ts';

export interface PackFacts {
  readonly packs: number;
  /** Rollouts in them. */
  readonly rollouts: number;
}

export interface CheckedPacks {
  /** Undefined for a run without packs. */
  readonly facts: PackFacts | undefined;
  /** Paths of the logs in them. */
  readonly logs: readonly string[];
}

export interface LostPacks {
  /** Of their manifests. */
  readonly numbers: ReadonlySet<number>;
  /** Of packs that no manifest names. */
  readonly unnamed: ReadonlySet<number>;
  /** Folders of the rollouts that cannot be read, as `rolloutFolder` names them. */
  readonly rollouts: ReadonlySet<string>;
}

/** Packs of which nothing can be read, or that no manifest names: each is reported once, and not again with its rollouts. */
export async function lostPacks(folder: string, onBreach: OnBreach): Promise<LostPacks> {
  const numbers = new Set<number>();
  const unnamed = new Set<number>();
  const rollouts = new Set<string>();
  const report = (harm: Harm) => onBreach({ path: harm.path, problem: harmLine(harm) });
  for await (const { manifest, ...harm } of unreadPacks(folder, 'all')) {
    report(harm);
    numbers.add(manifest.number);
    for (const id of manifest.rollouts) rollouts.add(rolloutFolder(parsePackedId(id)!));
  }
  const packs = openPacks(folder);
  await packs.refresh();
  for (const one of await lostIn(folder, packs)) {
    unnamed.add(parseInt(one.name, 10));
    for (const rollout of one.rollouts ?? []) rollouts.add(rollout);
  }
  // Of a manifest that cannot be read, its own line says the way out.
  if (!isSound(packs)) return { numbers, unnamed, rollouts };
  const { sound, refused } = await packsWithoutManifest(folder, packs);
  for (const { name, ids, elsewhere } of sound) report(onlyCopy(name, ids.length - elsewhere.length));
  refused.forEach(report);
  for await (const { harm } of leftovers(folder, packs)) if (harm) report(harm);
  return { numbers, unnamed, rollouts };
}

function isSound(packs: Packs): boolean {
  try {
    packs.mustBeSound();
    return true;
  } catch {
    return false;
  }
}

/** `lost`: reported already. */
export async function checkPacks(folder: string, lost: LostPacks, onBreach: OnBreach): Promise<CheckedPacks> {
  const names = (await namesIn(join(folder, PACKS))).filter((name) => !isHarmless(name));
  for (const name of names) {
    if (parseManifestName(name) === undefined && !isZipName(name))
      onBreach({ path: `${PACKS}/${name}`, problem: FOREIGN });
  }
  const numbers = numbersOf(names);
  const logs: string[] = [];
  const seen = new Map<string, number>();
  for (let number = 1; number <= (numbers.at(-1) ?? 0); number++) {
    const path = manifestFile(number);
    const breach = (problem: string) => onBreach({ path, problem: withoutPath(problem, join(folder, path)) });
    if (!numbers.includes(number)) {
      // A name may hold any number: one that is far ahead is reported by itself.
      if (lost.unnamed.has(number)) continue;
      const next = numbers.find((n) => n > number)!;
      breach(`is missing, though ${manifestFile(next)} is there. Take it and its pack from a copy of the run.`);
      number = next - 1;
      continue;
    }
    try {
      const manifest = await soundManifest(folder, number, breach);
      if (!manifest) continue;
      const twin = manifest.rollouts.find((id) => seen.has(id));
      if (twin !== undefined) breach(explain(packedTwice(folder, number, twin, seen.get(twin)!)));
      for (const id of manifest.rollouts) seen.set(id, number);
      if (!lost.numbers.has(number)) logs.push(...(await checkZip(folder, manifest, onBreach)));
    } catch (error) {
      breach(explain(error));
    }
  }
  if (seen.size > 0) await checkTwins(folder, onBreach);
  return { facts: numbers.length > 0 ? { packs: numbers.length, rollouts: seen.size } : undefined, logs };
}

async function soundManifest(
  folder: string,
  number: number,
  breach: (problem: string) => void,
): Promise<PackRecord | undefined> {
  const manifest = await readManifest(folder, number);
  const text = await readText(join(folder, manifestFile(number)));
  if (!manifest || text === undefined) return undefined;
  const decoded = decodeRecord('pack', null, text);
  if ('problem' in decoded) return undefined;
  const stored = { record: decoded.record, hash: decoded.hash, created: false };
  const problem = shapeProblem('pack', decoded.record) ?? (await textProblem('pack', null, stored));
  if (problem) breach(problem);
  return manifest;
}

/** Returns the paths of its logs. */
async function checkZip(folder: string, manifest: PackRecord, onBreach: OnBreach): Promise<string[]> {
  const path = `${PACKS}/${manifest.pack}`;
  const say = (problem: string) => onBreach({ path, problem });
  const file = openPackFile(join(folder, path));
  try {
    const entries = [...(await file.entries()).keys()];
    const { bytes: size = 0 } = (await factsOf(join(folder, path))) ?? {};
    const sha256 = await sha256OfFile(join(folder, path));
    if (size !== manifest.bytes || sha256 !== manifest.zipSha256)
      say(
        `is changed: it has ${size} bytes and hash ${sha256}, its manifest says ${manifest.bytes} and ${manifest.zipSha256}. ${FROM_COPY}`,
      );
    const ids = manifest.rollouts.map((id) => parsePackedId(id)!);
    const rollouts = new Set(ids.map(entryName));
    const there = entries.filter((name) => rollouts.has(name));
    const missing = [...rollouts].find((name) => !there.includes(name));
    if (missing !== undefined) say(`does not hold ${missing}`);
    else if (there.join() !== [...rollouts].join()) say('holds its rollouts in another order than its manifest');
    const strange = strangeEntry(entries, ids);
    if (strange !== undefined) say(`holds ${JSON.stringify(strange)}, which is of none of its rollouts`);
    return entries.filter((name) => !rollouts.has(name));
  } catch (error) {
    say(withoutPath(explain(error), join(folder, path)));
    return [];
  } finally {
    file.close();
  }
}

async function checkTwins(folder: string, onBreach: OnBreach): Promise<void> {
  const packs = openPacks(folder);
  await packs.refresh();
  const guarded = async (path: string, look: () => Promise<boolean>) => {
    // One that cannot be read is reported with its pack.
    if (!(await look().catch(() => true))) onBreach({ path, problem: DIFFERS });
  };
  for (const id of await loosePacked(folder, packs)) {
    const root = rolloutFolder(id);
    const lines = await packs.lines(id).catch(() => null);
    if (lines === null) continue;
    for (const name of (await namesIn(join(folder, root))).filter((one) => !isHarmless(one)))
      await guarded(
        `${root}/${name}`,
        async () => (await readText(join(folder, root, name))) === lines?.get(name)?.text,
      );
  }
  for (const path of await looseLogs(folder)) {
    await guarded(path, async () => {
      const twin = await packs.log(path);
      return twin === undefined || twin.startsWith((await readText(join(folder, path))) ?? '');
    });
  }
}

const withoutPath = (message: string, path: string): string =>
  message.startsWith(`${path} `) ? message.slice(path.length + 1) : message;
