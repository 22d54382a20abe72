// The packs of a run's folder, as readers see them: which rollouts are packed, and their records and logs. Loaded when
// first needed, and again when the folder of packs has changed. Memory: some hundred bytes for each packed rollout, and a
// few rollouts that were just read. A pack that cannot be read is an error for what may be in it, never "not there".

import { inBucket } from '../bucket/files.ts';
import { recordError } from '../disk/errors.ts';
import { factsOf } from '../disk/facts.ts';
import { StoreError } from '../../domain/errors.ts';
import { join } from '../place.ts';
import { queryFolder, rolloutFolder } from '../record/layout.ts';
import { namesIn } from '../record/listing.ts';
import { linesByName, type PackedLines } from './lines.ts';
import { harmError } from './harm.ts';
import {
  manifestFile,
  PACKS,
  type PackedId,
  packedId,
  parseManifestName,
  parsePackedId,
  readManifest,
} from './manifest.ts';
import { openPackFile, type PackFile } from './pack-file.ts';
import { type Lost, lostIn } from './unnamed.ts';

export interface Packs {
  /** Looks for packs that were published or removed; cheap where nothing has changed. */
  refresh(): Promise<void>;
  /** In the packs found so far. */
  knows(id: PackedId): boolean;
  ids(): Iterable<PackedId>;
  /** By sample, then attempt. */
  idsOf(query: string): readonly PackedId[];
  /** The lines of a packed rollout by file name; undefined if it is packed no more. */
  lines(id: PackedId): Promise<PackedLines | undefined>;
  /** A log by its path in the run's folder. */
  log(path: string): Promise<string | undefined>;
  /** Whether that path of a rollout's folder is of a packed one. */
  isPackedFolder(path: string): boolean;
  /** Whether a manifest names this zip. */
  isNamed(zip: string): boolean;
  /** Throws if a manifest cannot be read, and thus nobody knows what it packs, or packs what another one packs. */
  mustBeSound(): void;
  /** Throws as well if a rollout, or one of this query, is in no place but a pack without a manifest. */
  mustBeWhole(query?: string): Promise<void>;
}

interface Pack {
  /** Of its manifest's file. */
  readonly identity: string;
  readonly ids: readonly Place[];
  readonly file: PackFile;
}

interface Place extends PackedId {
  readonly file: PackFile;
}

/** Rollouts whose lines stay in memory: a reader asks for one record after the other, of several rollouts at once. */
const LATELY = 32;
const LATELY_CHARS = 64 * 1024 * 1024;

export function openPacks(folder: string): Packs {
  const root = join(folder, PACKS);
  let packs: ReadonlyMap<number, Pack> = new Map();
  /** By query; most have one. */
  let places = new Map<string, Place | Place[]>();
  let folders: Set<string> | undefined;
  /** Paths of the zips. */
  let named = new Set<string>();
  let seen: string | undefined;
  let broken: StoreError | undefined;
  let refreshing: Promise<void> | undefined;
  const lately = new Map<Place, Promise<PackedLines | undefined>>();
  let latelyChars = 0;
  /** The last one that had a log. */
  let last: Pack | undefined;
  const harmless = new Set<string>();
  /** Of the folder as it was `at` that time. */
  let lost: { readonly at: string | undefined; readonly found: Promise<Lost[]> } | undefined;

  async function load(): Promise<void> {
    const now = await identityOfFolder(root);
    if (now === seen && (now !== undefined || packs.size === 0)) return;
    const found = new Map<number, Pack>();
    broken = undefined;
    for (const number of now === undefined ? [] : numbersOf(await namesIn(root))) {
      const identity = await identityOf(join(folder, manifestFile(number)));
      const known = packs.get(number);
      if (known && known.identity === identity) {
        found.set(number, known);
        continue;
      }
      try {
        const manifest = await readManifest(folder, number);
        if (!manifest || identity === undefined) continue;
        const file = openPackFile(join(root, manifest.pack));
        found.set(number, { identity, ids: manifest.rollouts.map((id) => placeIn(file, id)), file });
      } catch (error) {
        if (!(error instanceof StoreError)) throw error;
        broken = error;
      }
    }
    for (const [number, pack] of packs) if (found.get(number) !== pack) pack.file.close();
    packs = found;
    places = new Map();
    folders = undefined;
    named = new Set([...found.values()].map(({ file }) => file.path));
    lately.clear();
    latelyChars = 0;
    for (const [number, pack] of found) {
      for (const id of pack.ids) {
        const twin = placeOf(id);
        if (twin) {
          broken ??= packedTwice(folder, number, packedId(id), numberOf(twin));
          continue;
        }
        const known = places.get(id.query);
        if (Array.isArray(known)) known.push(id);
        else places.set(id.query, known ? [known, id] : id);
      }
    }
    // Names that change again within the clock's grain leave the time as it is: a folder that just changed is looked at again.
    seen = now !== undefined && isSettled(now) ? now : undefined;
  }

  const placesOf = (query: string): readonly Place[] => [places.get(query) ?? []].flat();
  /** Asked for each record: without a list of the one place that most queries have. */
  function placeOf({ query, sample, attempt }: PackedId): Place | undefined {
    const found = places.get(query);
    const is = (place: Place) => place.sample === sample && place.attempt === attempt;
    if (Array.isArray(found)) return found.find(is);
    return found && is(found) ? found : undefined;
  }

  const numberOf = ({ file }: Place): number => [...packs].find(([, pack]) => pack.file === file)![0];

  async function read(place: Place): Promise<PackedLines | undefined> {
    const name = entryName(place);
    const text = await place.file.text(name);
    if (text === undefined) throw recordError(place.file.path, `does not hold ${name}`);
    latelyChars += text.length;
    return linesByName(text, place);
  }

  async function log(path: string): Promise<string | undefined> {
    let unreadable: unknown;
    for (const pack of last ? [last, ...packs.values()] : packs.values()) {
      try {
        if (!(await pack.file.entries()).has(path)) continue;
        last = pack;
        return await pack.file.text(path);
      } catch (error) {
        // Unpacked in the meantime?
        if (last === pack) last = undefined;
        await refresh();
        if (![...packs.values()].includes(pack)) return log(path);
        // Another pack may have it.
        unreadable ??= error;
      }
    }
    if (unreadable !== undefined) throw unreadable;
    return undefined;
  }

  const refresh = async (): Promise<void> => {
    // One that began before this call may have looked too early.
    await refreshing?.catch(() => {});
    refreshing ??= load().finally(() => (refreshing = undefined));
    return refreshing;
  };

  const mustBeSound = (): void => {
    if (broken) throw broken;
  };

  const isNamed = (zip: string): boolean => named.has(join(root, zip));

  const isPackedFolder = (path: string): boolean => {
    folders ??= new Set([...packs.values()].flatMap(({ ids }) => ids.map(rolloutFolder)));
    return folders.has(path);
  };

  async function lostNow(): Promise<Lost[]> {
    if (lost && (lost.at === undefined || lost.at === seen)) return lost.found;
    const mine = { at: seen, found: lostIn(folder, { refresh, isNamed, isPackedFolder }, harmless) };
    lost = mine;
    const forget = () => {
      // A folder that has just changed is looked at again.
      if (lost === mine && mine.at === undefined) lost = undefined;
    };
    await mine.found.then(forget, () => (lost = undefined));
    return mine.found;
  }

  return {
    refresh,
    knows: (id) => placeOf(id) !== undefined,
    *ids() {
      for (const { ids } of packs.values())
        for (const { query, sample, attempt } of ids) yield { query, sample, attempt };
    },
    idsOf: (query) =>
      placesOf(query)
        .map(({ sample, attempt }) => ({ query, sample, attempt }))
        .sort((a, b) => a.sample - b.sample || a.attempt - b.attempt),
    async lines(id) {
      const place = placeOf(id);
      if (!place) return undefined;
      let found = lately.get(place);
      lately.delete(place);
      if (!found && latelyChars > LATELY_CHARS) {
        lately.clear();
        latelyChars = 0;
      }
      if (!found && lately.size >= LATELY) lately.delete(lately.keys().next().value!);
      found ??= read(place);
      lately.set(place, found);
      try {
        return await found;
      } catch (error) {
        lately.delete(place);
        // Unpacked in the meantime?
        await refresh();
        if (!placeOf(id)) return undefined;
        throw error;
      }
    },
    log,
    isPackedFolder,
    isNamed,
    mustBeSound,
    async mustBeWhole(query) {
      mustBeSound();
      const below = query === undefined ? '' : `${queryFolder(query)}/`;
      const all = await lostNow();
      const one = all.find(({ rollouts }) => !rollouts || rollouts.some((path) => path.startsWith(below)));
      if (one) throw harmError(folder, one);
    },
  };
}

/** Written out: as a copy with one more field, each would have a shape of its own, of 300 bytes. */
function placeIn(file: PackFile, id: string): Place {
  const { query, sample, attempt } = parsePackedId(id)!;
  return { query, sample, attempt, file };
}

/** A rollout that this manifest names, and an earlier one as well. */
export const packedTwice = (folder: string, number: number, id: string, other: number): StoreError =>
  recordError(join(folder, manifestFile(number)), `packs ${JSON.stringify(id)}, which ${manifestFile(other)} packs`);

/** The entry of a rollout in its pack. */
export const entryName = (id: PackedId): string => `${rolloutFolder(id)}.jsonl`;

export const numbersOf = (names: readonly string[]): number[] =>
  names.flatMap((name) => parseManifestName(name) ?? []).sort((a, b) => a - b);

/** Changes when a file is replaced, and a folder when its names change. Undefined if there is none. */
async function identityOf(path: string): Promise<string | undefined> {
  return (await factsOf(path))?.identity;
}

/** Of the folder of packs. In a bucket, where a folder is nothing by itself: of what is in it. */
async function identityOfFolder(folder: string): Promise<string | undefined> {
  const there = await inBucket(folder)?.entries();
  if (!there) return identityOf(folder);
  return there.files.length === 0 ? undefined : `${there.files.map(({ name, etag }) => `${name} ${etag}`).join()} 0`;
}

const SETTLED_MS = 2_000;
const isSettled = (identity: string): boolean =>
  Date.now() - Number(identity.slice(identity.lastIndexOf(' '))) / 1e6 > SETTLED_MS;

/** The packs of each of the last folders asked for: for a worker, which opens a store for each step. */
export function openPacksOf(most = 16): (folder: string) => Packs {
  const known = new Map<string, Packs>();
  return (folder) => {
    const packs = known.get(folder) ?? openPacks(folder);
    known.delete(folder);
    known.set(folder, packs);
    if (known.size > most) known.delete(known.keys().next().value!);
    return packs;
  };
}
