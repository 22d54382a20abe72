// Ended rollouts on a disk: `ended/<writer>.jsonl`, to which one thread of one worker appends, and beside it an index with
// a line for each of its lines. The index only saves reading: where it is missing, short or wrong, the segment is read
// instead. A tail without a newline was never written. Readers write nothing.

import { closeSync, constants, fstatSync, openSync, readSync, statSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { crc32 } from 'node:zlib';
import { codeOf, fileError, recordError } from '../disk/errors.ts';
import { join } from '../place.ts';
import { ENDED, isHarmless, rolloutFolder } from '../format/layout.ts';
import { FOREIGN } from '../in-flight/listing.ts';
import type { RolloutRow } from '../../domain/rollout/rollout-row.ts';
import type { Ended } from './ended.ts';
import { type EndedRollout, openLine } from './line.ts';
import { openCache } from './cache.ts';
import { type EndedId, type Place, Places } from './places.ts';
import { endedRow } from './row.ts';

/** A line of an index: where the rollout is in the segment, and what a list shows of it. */
export interface IndexEntry extends RolloutRow {
  readonly at: number;
  readonly bytes: number;
}

/** With a checksum of the rest: a reader that finds another one reads the segment instead. */
export function indexLine(entry: IndexEntry): string {
  const text = JSON.stringify(entry).slice(0, -1);
  return `${text}${CHECKSUM}${crc32(text, FORM)}}\n`;
}
const CHECKSUM = ',"crc32":';
/** Begins the checksum. Raised with each change of IndexEntry: an index of another form is then read as a damaged one. */
const FORM = 1;

export const indexOf = (segment: string): string => segment.replace(/jsonl$/, 'index');

interface Segment {
  readonly path: string;
  /** Bytes of whole lines that are in memory, and bytes of the index that named them. */
  covered: number;
  indexed: number;
  /** False once its index was found to be wrong. */
  trusted: boolean;
}

const READ = constants.O_RDONLY | constants.O_NOFOLLOW;
const NOTHING = Buffer.alloc(0);
const BLOCK_BYTES = 4 * 1024 * 1024;
const LEAST_BYTES = 64 * 1024;

export function openSegments(folder: string): Ended {
  const root = join(folder, ENDED);
  let segments: Segment[] = [];
  let places = new Places();
  let twins: Twin[] = [];
  let flaws = new Map<string, string>();
  const foreign = new Set<string>();
  let refreshing: Promise<void> | undefined;
  const cache = openCache();

  function forgetAll(): void {
    [places, twins, flaws] = [new Places(), [], new Map()];
    for (const segment of segments) [segment.covered, segment.indexed] = [0, 0];
    cache.clear();
  }

  async function load(): Promise<void> {
    const known = new Map(segments.map((segment) => [segment.path, segment]));
    const names = await namesIn(root, (name) => foreign.add(join(root, name)));
    const now = names.filter((name) => name.endsWith('.jsonl')).map((name) => join(root, name));
    const lost = names.find(
      (name) => name.endsWith('.index') && !now.includes(join(root, name.replace(/index$/, 'jsonl'))),
    );
    if (lost !== undefined) flaws.set(join(root, lost), 'is the index of a segment that is missing');
    // One that is gone leaves the places of the others unknown.
    if (segments.some(({ path }) => !now.includes(path))) {
      segments = [];
      forgetAll();
      known.clear();
    }
    for (const path of now) {
      if (!known.has(path)) segments.push({ path, covered: 0, indexed: 0, trusted: true });
    }
    for (const [number, segment] of segments.entries()) {
      for (const entry of newEntries(segment, (problem) => flaws.set(segment.path, problem))) {
        const shorter = places.add(entry, { segment: number, at: entry.at, bytes: entry.bytes });
        if (shorter) twins.push({ ...entry, path: segments[shorter.segment]!.path, place: shorter });
      }
    }
  }

  const refresh = async (): Promise<void> => {
    // One that began before this call may have looked too early.
    await refreshing?.catch(() => {});
    refreshing ??= load().finally(() => (refreshing = undefined));
    return refreshing;
  };

  function mustBeSound(): void {
    for (const [path, problem] of flaws) throw recordError(path, problem);
  }

  async function rollout(id: EndedId): Promise<EndedRollout | undefined> {
    const place = places.find(id);
    if (!place) return undefined;
    const key = `${place.segment} ${place.at}`;
    const kept = cache.get(key);
    if (kept) return kept;
    const segment = segments[place.segment]!;
    const found = openLine(readPlace(segment.path, place) ?? NOTHING);
    if (found && isOf(found, id)) return cache.keep(key, found);
    if (!segment.trusted) throw recordError(segment.path, `is changed at byte ${place.at}, where ${shown(id)} was`);
    segment.trusted = false;
    forgetAll();
    await refresh();
    return rollout(id);
  }

  return {
    knows: (id) => places.find(id) !== undefined,
    async look(id) {
      await refresh();
      if (places.find(id)) return true;
      mustBeSound();
      return false;
    },
    async inFolder(path) {
      await refresh();
      const place = places.findFolder(path);
      return place && openLine(readPlace(segments[place.segment]!.path, place) ?? NOTHING)?.of;
    },
    rollout,
    async of(query, partly) {
      await refresh();
      if (!partly) mustBeSound();
      return places.of(query);
    },
    async *conflicts() {
      for (const { path, place, query, sample, attempt } of twins) {
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
      const all = [...flaws, ...[...foreign].map((path) => [path, FOREIGN] as const)];
      for (const [path, problem] of all) onFlaw?.(path.slice(folder.length + 1), problem);
      for (const [number, segment] of segments.entries()) {
        const { path, covered, trusted } = segment;
        const mine = { path, trusted, ...(seen.get(path) ?? { covered: 0, indexed: 0 }) };
        if (mine.covered === covered) continue;
        for (const entry of newEntries(mine, () => {})) {
          seen.set(path, { covered: mine.covered, indexed: mine.indexed });
          const place = places.find(entry);
          const { at, bytes: _bytes, ...row } = entry;
          if (place?.segment === number && place.at === at) yield row;
          if (mine.covered >= covered) break;
        }
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

/** Of regular files: a link that was planted there leads to no other place. */
async function namesIn(root: string, onForeign: (name: string) => void): Promise<string[]> {
  try {
    const names: string[] = [];
    for (const entry of await readdir(root, { withFileTypes: true })) {
      if (entry.isFile() && NAME.test(entry.name)) names.push(entry.name);
      else if (!isHarmless(entry.name)) onForeign(entry.name);
    }
    return names.sort();
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return [];
    throw fileError('read', root, error);
  }
}

const NAME = /^[0-9a-z-]{1,80}\.(jsonl|index)$/;

/** The entries of whole lines that are not covered yet; `segment` says afterwards that they are. */
function* newEntries(segment: Segment, onFlaw: (problem: string) => void): Generator<IndexEntry> {
  if (segment.trusted) yield* indexedEntries(segment, onFlaw);
  yield* readEntries(segment, onFlaw);
}

function* indexedEntries(segment: Segment, onFlaw: (problem: string) => void): Generator<IndexEntry> {
  // The index is read first: it names no line that was not there before.
  let size: number | undefined;
  for (const { line } of linesFrom(indexOf(segment.path), segment.indexed)) {
    const entry = entryOf(line);
    if (!entry || entry.at > segment.covered) return;
    size ??= sizeOf(segment.path);
    if (entry.at + entry.bytes > size)
      return onFlaw(`is cut at byte ${size}: its index names a line up to byte ${entry.at + entry.bytes}`);
    segment.indexed += line.length;
    // Read from the segment itself, before its index had it.
    if (entry.at < segment.covered) continue;
    segment.covered += entry.bytes;
    yield entry;
  }
}

function entryOf(line: Buffer): IndexEntry | undefined {
  const end = line.lastIndexOf(CHECKSUM);
  const sum = end < 0 ? NaN : Number(line.toString('latin1', end + CHECKSUM.length, line.length - 2));
  if (crc32(line.subarray(0, Math.max(0, end)), FORM) !== sum) return undefined;
  return JSON.parse(`${line.toString('utf8', 0, end)}}`) as IndexEntry;
}

function* readEntries(segment: Segment, onFlaw: (problem: string) => void): Generator<IndexEntry> {
  if (sizeOf(segment.path) === segment.covered) return;
  for (const { line, at } of linesFrom(segment.path, segment.covered)) {
    segment.covered += line.length;
    const rollout = openLine(line);
    if (rollout) yield { at, bytes: line.length, ...endedRow(rollout) };
    else onFlaw(`is changed at byte ${at}: no line of an ended rollout is there`);
  }
}

/** Whole lines with their newline; what follows the last one is left out. */
function* linesFrom(path: string, from: number): Generator<{ readonly line: Buffer; readonly at: number }> {
  let file: number;
  try {
    file = openSync(path, READ);
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return;
    throw fileError('read', path, error);
  }
  try {
    let rest: Buffer = Buffer.alloc(0);
    const more = fstatSync(file).size - from;
    for (let at = from; ;) {
      // A line that is longer than a block is read in ever larger ones.
      const block = Buffer.allocUnsafe(Math.max(Math.min(BLOCK_BYTES, more + 1), 2 * rest.length, LEAST_BYTES));
      rest.copy(block);
      const read = readSync(file, block, rest.length, block.length - rest.length, at + rest.length);
      const bytes = block.subarray(0, rest.length + read);
      let start = 0;
      for (let end; (end = bytes.indexOf(NEWLINE, start)) >= 0; start = end + 1)
        yield { line: bytes.subarray(start, end + 1), at: at + start };
      at += start;
      rest = bytes.subarray(start);
      if (read === 0) return;
    }
  } catch (error) {
    throw fileError('read', path, error);
  } finally {
    closeSync(file);
  }
}

const NEWLINE = 10;

const sizeOf = (path: string): number => statSync(path, { throwIfNoEntry: false })?.size ?? 0;

/** Undefined where that is not in the file. */
export function readPlace(path: string, { at, bytes }: Place): Buffer | undefined {
  let file: number | undefined;
  try {
    file = openSync(path, READ);
    const line = Buffer.allocUnsafe(bytes);
    return readSync(file, line, 0, bytes, at) === bytes ? line : undefined;
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return undefined;
    throw fileError('read', path, error);
  } finally {
    if (file !== undefined) closeSync(file);
  }
}
