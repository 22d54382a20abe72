// The options that an export file was made with, where its lines do not name them: those with which the records give the longest
// beginning of the file. Reads the run until one of them is left, mostly some rollouts.

import { StoreError } from '../../domain/errors/errors.ts';
import { readPart } from '../disk/facts.ts';
import type { LineMaker } from '../export/encoder.ts';
import { exportedParts, type PartOptions } from '../export/exported-parts.ts';
import type { Store } from '../store.ts';

export interface Candidate {
  readonly exporter: LineMaker;
  readonly selection: PartOptions;
}

/** The first of several that give the same. */
export async function asWritten<T extends Candidate>(store: Store, file: string, candidates: readonly T[]): Promise<T> {
  const tries = candidates.map((one) => ({ one, parts: exportedParts(store, one.exporter, one.selection), same: 0 }));
  try {
    for (let left = tries; left.length > 1;) {
      const going: typeof tries = [];
      for (const one of left) {
        const next = await one.parts.next();
        if (next.done) return one.one;
        const { bytes } = next.value;
        const same = commonLength(await readPart(file, one.same, bytes.length), bytes);
        one.same += same;
        if (same === bytes.length) going.push(one);
      }
      left = going;
    }
    return tries.toSorted((a, b) => b.same - a.same)[0]!.one;
  } catch (error) {
    // Damaged records are for the check itself to name.
    if (error instanceof StoreError && !error.retryable) return candidates[0]!;
    throw error;
  } finally {
    for (const { parts } of tries) await parts.return(undefined);
  }
}

/** `one` is not the longer. */
function commonLength(one: Uint8Array, other: Uint8Array): number {
  const at = one.findIndex((byte, i) => byte !== other[i]);
  return at < 0 ? one.length : at;
}
