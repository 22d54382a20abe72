// Ended rollouts on a disk, as readers see them while workers append (segment.ts). A line that was read once is found again by
// its place, and what stands there now must be that rollout. Readers write nothing.

import type { RolloutRow } from '../../domain/rollout/rollout-row.ts';
import { recordError } from '../disk/errors.ts';
import { join } from '../place.ts';
import { ENDED, rolloutFolder } from '../format/layout.ts';
import { FOREIGN } from '../in-flight/listing.ts';
import { type Ended, nothingSeen } from './ended.ts';
import { type EndedRollout, openLine, openCache } from './line.ts';
import type { EndedId, Place } from './places.ts';
import { entriesBetween, type Extent, nothingRead, readPlace } from './segment.ts';
import { openSegmentReader } from './segment-reader.ts';

export function openSegments(folder: string): Ended {
  const reader = openSegmentReader(join(folder, ENDED));
  const cache = openCache();

  /** `before`: the error of a place where it was, and is no more. */
  async function rollout(id: EndedId, before?: Error): Promise<EndedRollout | undefined> {
    const place = reader.now.places.find(id);
    if (!place && before) throw before;
    if (!place) return undefined;
    const { path } = reader.now.segments[place.segment]!;
    const key = `${path} ${place.at}`;
    const kept = cache.get(key);
    if (kept) return kept;
    const read = lineAt(path, place);
    if (read && isOf(read, id)) return cache.keep(key, read);
    if (before) throw before;
    await reader.distrust(path);
    return rollout(id, recordError(path, `is changed at byte ${place.at}, where ${shown(id)} was`));
  }

  return {
    knows: (id) => reader.now.places.find(id) !== undefined,
    async look(id) {
      await reader.refresh();
      if (reader.now.places.find(id)) return true;
      reader.mustBeSound();
      return reader.now.places.find(id) !== undefined;
    },
    async inFolder(path) {
      await reader.refresh();
      const place = reader.now.places.findFolder(path);
      return place && lineAt(reader.now.segments[place.segment]!.path, place)?.of;
    },
    rollout,
    lineOf(id) {
      const { segment, at } = reader.now.places.find(id)!;
      return `${reader.now.segments[segment]!.path}, in the line at byte ${at}`;
    },
    async of(query, partly) {
      await reader.refresh();
      if (!partly) reader.mustBeSound();
      return reader.now.places.of(query);
    },
    async *conflicts() {
      for (const { path, place, query, sample, attempt } of reader.now.twins.values()) {
        const [one, other] = [lineAt(path, place), await rollout({ query, sample, attempt })];
        const differs = [...(one?.records ?? [])].find(([name, { text }]) => other?.records.get(name)?.text !== text);
        if (!differs) continue;
        const problem = `has another ${differs[0]} of ${rolloutFolder({ query, sample, attempt })} at byte ${place.at} than the line that counts`;
        yield { path: path.slice(folder.length + 1), problem };
      }
    },
    async *entries(onFlaw, { lines } = nothingSeen()) {
      await reader.refresh();
      if (!onFlaw) reader.mustBeSound();
      else {
        const faults = [...reader.faults(), ...reader.foreign.map((path) => [path, FOREIGN] as const)];
        for (const [path, problem] of faults) onFlaw(path.slice(folder.length + 1), problem);
      }
      // Looks of others go on meanwhile: what they add is not of this one.
      const { segments, places } = reader.now;
      const ends = segments.map(({ read }) => ({ ...read }));
      const isIn = ({ segment, at }: Place) => at < (ends[segment]?.covered ?? 0);
      function* newIn(number: number, end: Extent): Generator<NewRow> {
        const { path, trusted } = segments[number]!;
        const from = { ...(lines.get(path) ?? nothingRead()) };
        if (from.covered >= end.covered) return;
        for (const { at, bytes: _, ...row } of entriesBetween(from, end, { path, trusted })) {
          const place = places.find(row);
          const isLonger = place && (place.segment !== number || place.at !== at) && isIn(place);
          if (!isLonger) yield { row, path, read: { ...from } };
        }
        lines.set(path, from);
      }
      for (const { row, path, read } of byEnd(ends.map((end, number) => newIn(number, end)))) {
        lines.set(path, read);
        yield row;
      }
    },
  };
}

interface NewRow {
  readonly row: RolloutRow;
  readonly path: string;
  /** How far its segment has been read with it. */
  readonly read: Extent;
}

/** The rows of several segments by the time of their end: each segment has its own in that order. */
function* byEnd(segments: readonly Generator<NewRow>[]): Generator<NewRow> {
  const heads = segments.map((rest) => ({ rest, next: rest.next() }));
  for (;;) {
    let first: { readonly rest: Generator<NewRow>; next: IteratorResult<NewRow> } | undefined;
    for (const head of heads)
      if (!head.next.done && (!first || endOf(head.next.value) < endOf(first.next.value))) first = head;
    if (!first) return;
    yield first.next.value as NewRow;
    first.next = first.rest.next();
  }
}

/** A damaged rollout, of which no end is known, holds up no other one. */
const endOf = ({ row }: NewRow): number => row.endedAt ?? 0;

const lineAt = (path: string, place: Place): EndedRollout | undefined =>
  openLine(readPlace(path, place) ?? Buffer.alloc(0));

const isOf = ({ of }: EndedRollout, { query, sample, attempt }: EndedId): boolean =>
  of.query === query && of.sample === sample && of.attempt === attempt;

const shown = ({ query, sample, attempt }: EndedId): string => `${JSON.stringify(query)} ${sample}.${attempt}`;
