// Packs the ended rollouts of a run: their exact records and logs in zips of some thousand rollouts, in data set order.
// Each step may be killed, and is repeated by the next call: rollouts are chosen, their pack is written under an
// unpublished name, made durable and read back, published by its manifest (from here on readers read the pack), and then
// their loose files are removed, each only if it equals its packed twin. At no time is a record in no place. A rollout
// with a flaw stays loose: it is evidence. Not covered: `pack` and `unpack` of one run at the same time.

import { createHash, randomBytes } from 'node:crypto';
import { StoreError } from '../../domain/errors.ts';
import { type RolloutId, rolloutWorkflowId } from '../../domain/ids.ts';
import { fileClock } from '../disk/clock.ts';
import { factsOf } from '../disk/facts.ts';
import { inGroups } from '../ahead.ts';
import { recordError } from '../disk/errors.ts';
import { type FileLayer, NODE_FILES, type OpenFile } from '../disk/file-layer.ts';
import { writeOnce } from '../disk/write-once.ts';
import { join } from '../place.ts';
import { END_FILE, rolloutFolder } from '../record/layout.ts';
import { namesIn } from '../record/listing.ts';
import type { Store } from '../store.ts';
import { rolloutsInOrder } from '../trajectories.ts';
import { sha256OfFile } from './checksum.ts';
import { harmLine } from './harm.ts';
import { LEFT_MS, nameAgain, removeLeftovers } from './leftovers.ts';
import { looseRollout, type LooseRollout } from './loose.ts';
import { PACK_BYTES, PACK_ROLLOUTS, type PackedId, packedId, type PackRecord, PACKS, zipName } from './manifest.ts';
import { entriesOf, openPackFile } from './pack-file.ts';
import { entryName, numbersOf, openPacks } from './packs.ts';
import { publish } from './publish.ts';
import { remove, removeEmptyFolders, removeTwins } from './remove.ts';
import { rolloutsIn } from './unnamed.ts';
import { unreadPacks } from './unread.ts';
import { openZipWriter, packed } from './zip.ts';

export interface PackOptions {
  /** Rollouts that ended less than this before stay loose: a worker may still be about to learn that. */
  readonly minAgeMs?: number;
  /** Asked before each round: workflow ids of rollouts that Temporal has not closed. They stay loose. */
  readonly inFlight?: () => Promise<ReadonlySet<string>>;
  readonly rolloutsPerPack?: number;
  readonly layer?: FileLayer;
  readonly onPack?: (pack: PackRecord) => void;
  /** A pack whose manifest was gone, and is made again. */
  readonly onNamedAgain?: (pack: PackRecord) => void;
  /** A rollout that stays loose though it has ended, a loose file that is not its packed twin, or a harmed pack. */
  readonly onProblem?: (path: string, problem: string) => void;
}

export interface PackSummary {
  readonly packs: number;
  readonly rollouts: number;
  readonly bytes: number;
  /** Rollouts that have not ended, or just now, or whose workflow is not closed. */
  readonly notEnded: number;
  /** Packs whose manifest was gone, and is made again. */
  readonly namedAgain: number;
  /** Rollouts and files that were reported to `onProblem`. */
  readonly problems: number;
}

const MIN_AGE_MS = 60_000;
/** Rollouts that are read and compressed at once. */
const AT_ONCE = 16;

export async function packRun(store: Store, options: PackOptions = {}): Promise<PackSummary> {
  const { folder } = store;
  const { minAgeMs = MIN_AGE_MS, rolloutsPerPack = PACK_ROLLOUTS, layer = NODE_FILES, onPack = () => {} } = options;
  const packs = openPacks(folder);
  const flawed = new Set<string>();
  /** Folders of rollouts in packs that got no manifest: which of the two is right is for people to say. */
  const disputed = new Set<string>();
  const summary = { packs: 0, rollouts: 0, bytes: 0, notEnded: 0, problems: 0, namedAgain: 0 };
  const report = (path: string, problem: string) => {
    summary.problems++;
    options.onProblem?.(path, problem);
  };

  /** The next rollouts to pack, in order. */
  async function* candidates(): AsyncGenerator<RolloutId> {
    const now = (await fileClock(folder, layer)) ?? Date.now();
    const inFlight = (await options.inFlight?.()) ?? new Set();
    summary.notEnded = 0;
    for await (const id of rolloutsInOrder(store, { attempts: 'all', partly: true })) {
      if (packs.knows(id) || flawed.has(packedId(id)) || disputed.has(rolloutFolder(id))) continue;
      const ended = await factsOf(join(folder, rolloutFolder(id), END_FILE)).catch(() => undefined);
      const old = ended !== undefined && now - ended.modifiedMs >= minAgeMs;
      if (old && !inFlight.has(rolloutWorkflowId(id))) yield id;
      else summary.notEnded++;
    }
  }

  async function* sound(ids: AsyncGenerator<PackedId>): AsyncGenerator<readonly LooseRollout[]> {
    for await (const some of inGroups(ids, Math.min(AT_ONCE, rolloutsPerPack))) {
      const read = await Promise.all(some.map(async (id) => ({ id, rollout: await looseRollout(folder, id) })));
      // One that another packer is removing is no problem.
      if (read.some(({ rollout }) => 'problem' in rollout)) await packs.refresh();
      yield read.flatMap(({ id, rollout }) => {
        if (!('problem' in rollout)) return [rollout];
        if (packs.knows(id)) return [];
        flawed.add(packedId(id));
        report(rolloutFolder(id), `stays loose: ${rollout.problem}`);
        return [];
      });
    }
  }

  /** One pack of what comes next; false if nothing does, or another packer has published meanwhile. */
  async function packSome(number: number, source: Source): Promise<'done' | 'more' | 'lost'> {
    let next = await nextOf(source);
    if (!next) return 'done';
    const ids: PackedId[] = [];
    const digests = new Map<string, string>();
    const writer = openZipWriter();
    const name = zipName(number, randomBytes(6).toString('hex'));
    const path = join(folder, PACKS, name);
    const fill = async (file: OpenFile) => {
      let bytes = 0;
      for (; next; next = ids.length < rolloutsPerPack && bytes < PACK_BYTES ? await nextOf(source) : undefined) {
        const entries = next.flatMap((rollout) => rollout.entries);
        const compressed = await Promise.all(entries.map(({ text }) => packed(text)));
        for (const [i, entry] of entries.entries()) {
          digests.set(entry.name, sha256(entry.text));
          bytes += compressed[i]!.bytes;
          for (const part of writer.add(entry.name, compressed[i]!)) await file.writeFile(part);
        }
        ids.push(...next.map(({ id }) => id));
      }
      await file.writeFile(writer.end());
    };
    await writeOnce(path, fill, layer);
    const manifest = await readBack(path, { number, name, ids, digests });
    await packs.refresh();
    if (ids.some((id) => packs.knows(id)) || !(await publish(folder, manifest, layer))) {
      await remove(path, layer).catch(() => {});
      return 'lost';
    }
    summary.packs++;
    summary.rollouts += ids.length;
    summary.bytes += manifest.bytes;
    onPack(manifest);
    await packs.refresh();
    await removeTwins(folder, packs, layer, report, ids);
    return 'more';
  }

  await packs.refresh();
  packs.mustBeSound();
  for await (const harm of unreadPacks(folder, 'sizes')) report(harm.path, harmLine(harm));
  const again = await nameAgain(folder, packs, layer);
  for (const manifest of again.made) options.onNamedAgain?.(manifest);
  summary.namedAgain = again.made.length;
  const stay = await removeLeftovers(folder, packs, layer, LEFT_MS);
  for (const harm of [...again.refused, ...stay]) {
    report(harm.path, harmLine(harm));
    const entries = await entriesOf(join(folder, harm.path));
    if (!(entries instanceof StoreError)) for (const path of rolloutsIn(entries)) disputed.add(path);
  }
  await removeTwins(folder, packs, layer, report);
  let source: Source | undefined;
  for (let expected = 0, how = 'more'; how !== 'done';) {
    const number = (numbersOf(await namesIn(join(folder, PACKS))).at(-1) ?? 0) + 1;
    if (number !== expected) {
      // The rollouts chosen for a number are in no pack before it; the first to publish has that number.
      await packs.refresh();
      packs.mustBeSound();
      source = sound(candidates());
    }
    how = await packSome(number, source!);
    expected = how === 'more' ? number + 1 : 0;
  }
  // Before the end a worker may be making a folder beside one that seems empty.
  if (await store.getResult()) await removeEmptyFolders(folder);
  return summary;
}

type Source = AsyncGenerator<readonly LooseRollout[]>;

/** The next of them that are sound. */
async function nextOf(source: Source): Promise<readonly LooseRollout[] | undefined> {
  for (;;) {
    const next = await source.next();
    if (next.done) return undefined;
    if (next.value.length > 0) return next.value;
  }
}

interface Written {
  readonly number: number;
  readonly name: string;
  readonly ids: readonly PackedId[];
  /** SHA-256 of each entry's text. */
  readonly digests: ReadonlyMap<string, string>;
}

/** From the disk, not from memory: nothing is removed that was not read from its pack. */
async function readBack(path: string, { number, name, ids, digests }: Written): Promise<PackRecord> {
  const file = openPackFile(path);
  try {
    const entries = await file.entries();
    for (const [entry, digest] of digests) {
      const text = await file.text(entry);
      if (text === undefined || sha256(text) !== digest)
        throw recordError(path, `was written, and ${entry} reads as another text`);
    }
    if (entries.size !== digests.size || ids.some((id) => !entries.has(entryName(id))))
      throw recordError(path, 'was written, and has other entries');
    const zipSha256 = await sha256OfFile(path);
    const { bytes = 0 } = (await factsOf(path)) ?? {};
    return { number, pack: name, bytes, zipSha256, rollouts: ids.map(packedId) };
  } finally {
    file.close();
  }
}

const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex');
