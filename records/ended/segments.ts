// Ended rollouts on a disk, as readers see them while workers append (segment.ts). A reader remembers what it has read, and
// each look reads on. A fault that a look meets is a suspicion: before it is said, a second look reads that segment from its
// beginning, and a suspicion that this one does not confirm is forgotten. Readers write nothing.

import { readdir } from 'node:fs/promises';
import { codeOf, fileError, recordError } from '../disk/errors.ts';
import { join } from '../place.ts';
import { ENDED, isHarmless, rolloutFolder } from '../format/layout.ts';
import { FOREIGN } from '../in-flight/listing.ts';
import type { Ended } from './ended.ts';
import { type EndedRollout, openLine } from './line.ts';
import { openCache } from './cache.ts';
import { type EndedId, type Place, Places } from './places.ts';
import { entriesBetween, type Extent, measured, nothingRead, readPlace, sizeOf } from './segment.ts';

interface Segment {
  readonly path: string;
  readonly trusted: boolean;
  read: Extent;
  /** A look met a fault. */
  suspect: boolean;
}

/** All that a reader remembers: replaced as a whole where a segment is gone, or its index was wrong. */
interface Known {
  readonly segments: Segment[];
  readonly places: Places;
  /** By segment and place. */
  readonly twins: Map<string, Twin>;
}

const nothingKnown = (): Known => ({ segments: [], places: new Places(), twins: new Map() });
const NOTHING = Buffer.alloc(0);

export function openSegments(folder: string): Ended {
  const root = join(folder, ENDED);
  const cache = openCache();
  /** Segments whose index names lines that are not there. */
  const distrusted = new Set<string>();
  let known = nothingKnown();
  /** As the last look found the folder. */
  let listed: FilesIn = { segments: [], alone: [], foreign: [] };
  let looking: Promise<void> | undefined;

  async function look(): Promise<void> {
    listed = await filesIn(root);
    const there = new Set(listed.segments);
    if (known.segments.some(({ path, trusted }) => !there.has(path) || (trusted && distrusted.has(path))))
      known = nothingKnown();
    for (const { path } of known.segments) there.delete(path);
    for (const path of there)
      known.segments.push({ path, trusted: !distrusted.has(path), read: nothingRead(), suspect: false });
    for (const number of known.segments.keys())
      if (readOn(number) !== undefined) known.segments[number]!.suspect = true;
  }

  const refresh = async (): Promise<void> => {
    // One that began before this call may have looked too early.
    await looking?.catch(() => {});
    looking ??= look().finally(() => (looking = undefined));
    return looking;
  };

  /** Reads what is new in a segment. Returns the first fault. */
  function readOn(number: number): string | undefined {
    const { path, trusted, read } = known.segments[number]!;
    let flaw: string | undefined;
    const reading = { path, trusted, onFlaw: (problem: string) => void (flaw ??= problem) };
    for (const { at, bytes, query, sample, attempt } of entriesBetween(read, measured(path), reading)) {
      const id = { query, sample, attempt };
      const shorter = known.places.add(id, { segment: number, at, bytes });
      if (!shorter) continue;
      const of = known.segments[shorter.segment]!.path;
      known.twins.set(`${of} ${shorter.at}`, { ...id, path: of, place: shorter });
    }
    return flaw;
  }

  /** By a second look. */
  function* faults(): Generator<readonly [path: string, problem: string]> {
    for (const index of listed.alone) {
      // Nothing that an index names was ever without its segment.
      const isLost = sizeOf(segmentOf(index)) === undefined && (sizeOf(index) ?? 0) > 0;
      if (isLost) yield [index, 'is the index of a segment that is missing'];
    }
    for (const [number, segment] of known.segments.entries()) {
      if (!segment.suspect) continue;
      segment.read = nothingRead();
      const flaw = readOn(number);
      segment.suspect = flaw !== undefined;
      if (flaw !== undefined) yield [segment.path, flaw];
    }
  }

  function mustBeSound(): void {
    for (const [path, problem] of faults()) throw recordError(path, problem);
  }

  async function rollout(id: EndedId, again = false): Promise<EndedRollout | undefined> {
    const place = known.places.find(id);
    if (!place) return undefined;
    const { path } = known.segments[place.segment]!;
    const key = `${path} ${place.at}`;
    const kept = cache.get(key);
    if (kept) return kept;
    const found = openLine(readPlace(path, place) ?? NOTHING);
    if (found && isOf(found, id)) return cache.keep(key, found);
    if (again) throw recordError(path, `is changed at byte ${place.at}, where ${shown(id)} was`);
    distrusted.add(path);
    await refresh();
    return rollout(id, true);
  }

  return {
    knows: (id) => known.places.find(id) !== undefined,
    async look(id) {
      await refresh();
      if (known.places.find(id)) return true;
      mustBeSound();
      return known.places.find(id) !== undefined;
    },
    async inFolder(path) {
      await refresh();
      const place = known.places.findFolder(path);
      return place && openLine(readPlace(known.segments[place.segment]!.path, place) ?? NOTHING)?.of;
    },
    rollout,
    lineOf(id) {
      const { segment, at } = known.places.find(id)!;
      return `${known.segments[segment]!.path}, in the line at byte ${at}`;
    },
    async of(query, partly) {
      await refresh();
      if (!partly) mustBeSound();
      return known.places.of(query);
    },
    async *conflicts() {
      for (const { path, place, query, sample, attempt } of known.twins.values()) {
        const [one, other] = [openLine(readPlace(path, place) ?? NOTHING), await rollout({ query, sample, attempt })];
        const differs = [...(one?.records ?? [])].find(([name, { text }]) => other?.records.get(name)?.text !== text);
        if (!differs) continue;
        const problem = `has another ${differs[0]} of ${rolloutFolder({ query, sample, attempt })} at byte ${place.at} than the line that counts`;
        yield { path: path.slice(folder.length + 1), problem };
      }
    },
    async *entries(onFlaw, seen = new Map()) {
      await refresh();
      if (!onFlaw) mustBeSound();
      else {
        const found = [...faults(), ...listed.foreign.map((path) => [path, FOREIGN] as const)];
        for (const [path, problem] of found) onFlaw(path.slice(folder.length + 1), problem);
      }
      // Looks of others go on meanwhile: what they add is not of this one.
      const { segments, places } = known;
      const ends = segments.map(({ read }) => ({ ...read }));
      const isIn = ({ segment, at }: Place) => at < (ends[segment]?.covered ?? 0);
      for (const [number, end] of ends.entries()) {
        const { path, trusted } = segments[number]!;
        const from = { ...(seen.get(path) ?? nothingRead()) };
        if (from.covered >= end.covered) continue;
        for (const { at, bytes: _, ...row } of entriesBetween(from, end, { path, trusted })) {
          seen.set(path, { ...from });
          const place = places.find(row);
          const isLonger = place && (place.segment !== number || place.at !== at) && isIn(place);
          if (!isLonger) yield row;
        }
        seen.set(path, from);
      }
    },
  };
}

/** A line that does not count, because another one of the same rollout is as long or longer. */
interface Twin extends EndedId {
  readonly path: string;
  readonly place: Place;
}

const isOf = ({ of }: EndedRollout, { query, sample, attempt }: EndedId): boolean =>
  of.query === query && of.sample === sample && of.attempt === attempt;

const shown = ({ query, sample, attempt }: EndedId): string => `${JSON.stringify(query)} ${sample}.${attempt}`;

const segmentOf = (index: string): string => index.replace(/index$/, 'jsonl');

interface FilesIn {
  readonly segments: readonly string[];
  /** Indexes without a segment. */
  readonly alone: readonly string[];
  readonly foreign: readonly string[];
}

/** Of regular files: a link that was planted there leads to no other place. */
async function filesIn(root: string): Promise<FilesIn> {
  const names: string[] = [];
  const foreign: string[] = [];
  try {
    for (const entry of await readdir(root, { withFileTypes: true })) {
      if (entry.isFile() && NAME.test(entry.name)) names.push(entry.name);
      else if (!isHarmless(entry.name)) foreign.push(join(root, entry.name));
    }
  } catch (error) {
    if (codeOf(error) !== 'ENOENT') throw fileError('read', root, error);
  }
  const [segments, indexes] = ['.jsonl', '.index'].map((end) =>
    names
      .filter((name) => name.endsWith(end))
      .sort()
      .map((name) => join(root, name)),
  ) as [string[], string[]];
  // A name that is new while names are read may be missing, though one that is newer is there.
  return { segments, alone: indexes.filter((path) => !segments.includes(segmentOf(path))), foreign };
}

const NAME = /^[0-9a-z-]{1,80}\.(jsonl|index)$/;
