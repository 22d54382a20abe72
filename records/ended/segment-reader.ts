// What a reader has read of the segments of ended rollouts (segment.ts): each look reads on. A fault that a look meets is a
// suspicion: before it is said, a second look reads that segment from its beginning, and a suspicion that this one does not
// confirm is forgotten.

import { readdir } from 'node:fs/promises';
import { codeOf, fileError, recordError } from '../disk/errors.ts';
import { isHarmless } from '../format/layout.ts';
import { join } from '../place.ts';
import { type EndedId, type Place, Places } from './places.ts';
import { entriesBetween, type Extent, measured, nothingRead, sizeOf } from './segment.ts';

interface Segment {
  readonly path: string;
  readonly trusted: boolean;
  read: Extent;
  /** A look met a fault. */
  suspect: boolean;
}

/** A line that does not count, because another one of the same rollout is as long or longer. */
interface Twin extends EndedId {
  readonly path: string;
  readonly place: Place;
}

/** All that a reader remembers: replaced as a whole where a segment is gone, or its index was wrong. */
interface ReadSegments {
  readonly segments: Segment[];
  readonly places: Places;
  /** By segment and place. */
  readonly twins: Map<string, Twin>;
}

export interface SegmentReader {
  /** What has been read so far. */
  readonly now: ReadSegments;
  /** Files that are no segment and no index, as the last look found them. */
  readonly foreign: readonly string[];
  refresh(): Promise<void>;
  /** Reads the segment again, without its index, which names lines that are not there. */
  distrust(path: string): Promise<void>;
  /** By a second look. */
  faults(): Generator<readonly [path: string, problem: string]>;
  /** Throws the first fault. */
  mustBeSound(): void;
}

const nothingYet = (): ReadSegments => ({ segments: [], places: new Places(), twins: new Map() });

export function openSegmentReader(root: string): SegmentReader {
  const distrusted = new Set<string>();
  let now = nothingYet();
  /** As the last look found the folder. */
  let listed: FilesIn = { segments: [], alone: [], irregular: [], foreign: [] };
  let looking: Promise<void> | undefined;

  async function look(): Promise<void> {
    listed = await filesIn(root);
    const unread = new Set(listed.segments);
    if (now.segments.some(({ path, trusted }) => !unread.has(path) || (trusted && distrusted.has(path))))
      now = nothingYet();
    for (const { path } of now.segments) unread.delete(path);
    for (const path of unread)
      now.segments.push({ path, trusted: !distrusted.has(path), read: nothingRead(), suspect: false });
    for (const number of now.segments.keys())
      if (readOn(now, number) !== undefined) now.segments[number]!.suspect = true;
  }

  async function refresh(): Promise<void> {
    // One that began before this call may have looked too early.
    await looking?.catch(() => {});
    looking ??= look().finally(() => (looking = undefined));
    return looking;
  }

  function* faults(): Generator<readonly [path: string, problem: string]> {
    for (const path of listed.irregular)
      yield [path, 'is no regular file: a link, a pipe or a folder stands in its place, and is not followed'];
    for (const index of listed.alone) {
      // Nothing that an index names was ever without its segment.
      const isLost = sizeOf(segmentOf(index)) === undefined && (sizeOf(index) ?? 0) > 0;
      if (isLost) yield [index, 'is the index of a segment that is missing'];
    }
    for (const [number, segment] of now.segments.entries()) {
      if (!segment.suspect) continue;
      segment.read = nothingRead();
      const flaw = readOn(now, number);
      segment.suspect = flaw !== undefined;
      if (flaw !== undefined) yield [segment.path, flaw];
    }
  }

  return {
    get now() {
      return now;
    },
    get foreign() {
      return listed.foreign;
    },
    refresh,
    async distrust(path) {
      distrusted.add(path);
      await refresh();
    },
    faults,
    mustBeSound() {
      for (const [path, problem] of faults()) throw recordError(path, problem);
    },
  };
}

/** Reads what is new in a segment. Returns the first fault. */
function readOn({ segments, places, twins }: ReadSegments, number: number): string | undefined {
  const { path, trusted, read } = segments[number]!;
  let flaw: string | undefined;
  const reading = { path, trusted, onFlaw: (problem: string) => void (flaw ??= problem) };
  for (const { at, bytes, query, sample, attempt } of entriesBetween(read, measured(path), reading)) {
    const id = { query, sample, attempt };
    const shorter = places.add(id, { segment: number, at, bytes });
    if (!shorter) continue;
    const of = segments[shorter.segment]!.path;
    twins.set(`${of} ${shorter.at}`, { ...id, path: of, place: shorter });
  }
  return flaw;
}

const segmentOf = (index: string): string => index.replace(/index$/, 'jsonl');

interface FilesIn {
  readonly segments: readonly string[];
  /** Indexes without a segment. */
  readonly alone: readonly string[];
  /** Entries with the name of a segment that are no files. */
  readonly irregular: readonly string[];
  readonly foreign: readonly string[];
}

/** Regular files alone: a link that was planted there leads to no other place. */
async function filesIn(root: string): Promise<FilesIn> {
  const names: string[] = [];
  const foreign: string[] = [];
  const irregular: string[] = [];
  try {
    for (const entry of await readdir(root, { withFileTypes: true })) {
      if (entry.isFile() && NAME.test(entry.name)) names.push(entry.name);
      else if (NAME.test(entry.name) && entry.name.endsWith('.jsonl')) irregular.push(join(root, entry.name));
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
  const known = new Set([...segments, ...irregular]);
  return { segments, alone: indexes.filter((path) => !known.has(segmentOf(path))), irregular, foreign };
}

const NAME = /^[0-9a-z-]{1,80}\.(jsonl|index)$/;
