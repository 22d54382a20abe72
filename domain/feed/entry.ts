// The feed's ledger: what each entry says, and what all of them together mean. Invariants of a ledger: entries are
// numbered 1, 2, 3, …; along a line versions never go back; a group is trained at most once along the surviving line.

import { addFloor, type Floor, type RewindRequest, rememberRewind } from './line.ts';
import { isNumberSet, type NumberSet, countNumbers, union } from './number-set.ts';
import { COUNT, HASH, INT32, maybe, NAME, type ObjectOf, oneOf, orNull, PLACE, type Test } from '../schema/fields.ts';

const GROUPS: Test<NumberSet> = [(value) => isNumberSet(value) && value.length > 0, 'ranges of groups, in order'];
const PLACED = {
  /** 1-based place in the ledger. */
  number: PLACE,
  /** SHA-256 of the entry before; null for the first. */
  previous: orNull(HASH),
  /** Epoch milliseconds. */
  at: COUNT,
};
/** The fields of an entry by its kind. */
export const FEED_ENTRY = {
  trained: {
    kind: oneOf('trained'),
    lease: NAME,
    consumer: NAME,
    /** Numbers of groups: domain/samples/group.ts. */
    groups: GROUPS,
    /** The version when the lease was taken. */
    leasedAt: INT32,
    /** The version of the weights that the groups were trained into; above `leasedAt`. */
    version: INT32,
    ...PLACED,
  },
  version: {
    kind: oneOf('version'),
    version: INT32,
    /** The folder that was loaded on every server; null if only the clock moved. */
    weights: orNull(NAME),
    /** It holds an adapter of the model. */
    adapter: maybe(oneOf(true)),
    ...PLACED,
  },
  rewind: {
    kind: oneOf('rewind'),
    /** Groups trained into a later version no longer count. */
    to: INT32,
    /** The caller's own id of the request if it gave one. */
    request: maybe(NAME),
    ...PLACED,
  },
};
type TrainedEntry = ObjectOf<typeof FEED_ENTRY.trained>;
export type RewindEntry = ObjectOf<typeof FEED_ENTRY.rewind>;
export type FeedEntry = TrainedEntry | ObjectOf<typeof FEED_ENTRY.version> | RewindEntry;
type Trained = Pick<TrainedEntry, 'lease' | 'version' | 'groups'>;

/** The surviving line of weights. */
export interface WeightLine {
  /** Rewinds so far. */
  line: number;
  /** The newest weights. */
  version: number;
  weights: string | null;
  /** The version of the weights that servers loaded last, on whatever line; -1 for none. */
  loaded: number;
  /** The last version that something was trained into, or that the trainer rewound to. */
  trained: number;
  floors: Floor[];
  rewinds: RewindRequest[];
}

/** The line, and what was trained along it, in order; versions never go back. */
interface TrainedLine extends WeightLine {
  readonly acknowledged: Trained[];
}

export function emptyLine(): TrainedLine {
  return { line: 0, version: 0, weights: null, loaded: -1, trained: 0, floors: [], rewinds: [], acknowledged: [] };
}

/** Adds the next entry; returns the acknowledgements that it takes off the line. */
export function addEntry(line: TrainedLine, entry: FeedEntry): Trained[] {
  if (entry.kind === 'trained') {
    line.acknowledged.push({ lease: entry.lease, version: entry.version, groups: entry.groups });
    line.trained = Math.max(line.trained, entry.version);
  } else if (entry.kind === 'version') publishOn(line, entry.version, entry.weights);
  else {
    const gone: Trained[] = [];
    while ((line.acknowledged.at(-1)?.version ?? 0) > entry.to) gone.push(line.acknowledged.pop()!);
    beginLine(line, entry, countOf(gone));
    return gone;
  }
  return [];
}

export function publishOn(line: WeightLine, version: number, weights: string | null): void {
  line.version = version;
  line.weights = weights;
  if (weights !== null) line.loaded = version;
}

/** `offered`: how many groups are offered again. */
export function beginLine(
  line: WeightLine,
  { to, request }: Pick<RewindEntry, 'to' | 'request'>,
  offered: number,
): void {
  if (line.version >= to) line.weights = null;
  line.version = Math.min(line.version, to);
  line.trained = to;
  line.floors = addFloor(line.floors, line.line, to);
  line.line++;
  if (request === undefined) return;
  line.rewinds = rememberRewind(line.rewinds, { request, version: to, line: line.line, offered });
}

export function groupsOf(acknowledged: readonly Trained[]): NumberSet {
  // Halves are united: a union of thousands, one after the other, would copy the whole each time.
  if (acknowledged.length === 0) return [];
  if (acknowledged.length === 1) return acknowledged[0]!.groups;
  const middle = acknowledged.length >> 1;
  return union(groupsOf(acknowledged.slice(0, middle)), groupsOf(acknowledged.slice(middle)));
}

export function countOf(acknowledged: readonly Trained[]): number {
  return acknowledged.reduce((sum, { groups }) => sum + countNumbers(groups), 0);
}
