// The properties of a model that the self-check proved on this machine (self-check.ts), and their consequences.
//
// Floating-point sums change with the order of their terms. A runtime adds up a row's attention over its slots in
// vector lanes and in blocks, so a row's bits depend on where its keys lie in the buffer, and on nothing else of its
// batch. Left padding by a multiple of `alignment` keeps every key in its lane; up to `exactUpTo` slots in all, no
// sum is cut into blocks. Within both bounds a row computes bit for bit what it would compute alone.

export interface Traits {
  /** Left padding does not change a row's answer (beyond rounding): rows of different lengths may share a step. */
  readonly padding: boolean;
  /** Padding by multiples of this changes no bit. 0: no such number was found. */
  readonly alignment: number;
  /** … while the whole length is at most this. 0: nothing is proven. */
  readonly exactUpTo: number;
}
