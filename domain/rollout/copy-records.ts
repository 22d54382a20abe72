// Records that a fork carries over from another run: a copy has the fields of its original, another predecessor, and a mark from
// which the original's text can be written again. Pure.

import type { Carried, SayRecord } from './lineage.ts';
import type { VerdictRecord } from './trajectory.ts';
import type { TurnRecord } from './turn.ts';

interface Copy {
  readonly carried?: Carried;
}

function unmarked<T extends Copy>(copy: T): Omit<T, 'carried'> {
  const { carried: _, ...record } = copy;
  return record;
}

/** The record with the mark of a copy, as its last field. */
function marked<T extends Copy>(original: T, carried: Carried): T {
  const mark = original.carried ? { ...carried, carried: original.carried } : carried;
  return { ...unmarked(original), carried: mark } as unknown as T;
}

export function carriedTurn(original: TurnRecord, sha256: string, previous: string): TurnRecord {
  return { ...marked(original, { sha256, previous: original.previous }), previous };
}

export function carriedVerdict(original: VerdictRecord, sha256: string, of: string): VerdictRecord {
  return { ...marked(original, { sha256 }), of };
}

export function carriedSay(original: SayRecord, sha256: string, of: string): SayRecord {
  return { ...marked(original, { sha256 }), of };
}

/** The original of a copy; `changed`: the fields that the copy has otherwise. */
export function originalOf<T extends Copy>(copy: T, changed: Partial<T>): T {
  const before = copy.carried?.carried;
  return { ...unmarked(copy), ...changed, ...(before && { carried: before }) } as unknown as T;
}
