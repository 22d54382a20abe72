// Philox4x32-10 (Salmon et al., "Parallel random numbers: as easy as 1, 2, 3", SC 2011): random numbers by
// counter, not by state. The draw for the token at one place of the context is a pure function of
// (seed, place), so it is the same whatever else runs, after a restart, and when an answer is made in chunks.

const MULTIPLIER_0 = 0xd2511f53;
const MULTIPLIER_1 = 0xcd9e8d57;
const WEYL_0 = 0x9e3779b9;
const WEYL_1 = 0xbb67ae85;
const ROUNDS = 10;

export type Words4 = [number, number, number, number];

/** The upper 32 bits of the 64-bit product of two unsigned 32-bit numbers. */
function mulHigh(a: number, b: number): number {
  const aLow = a & 0xffff;
  const aHigh = a >>> 16;
  const bLow = b & 0xffff;
  const bHigh = b >>> 16;
  const middle = aHigh * bLow + Math.floor((aLow * bLow) / 0x10000);
  const middleLow = aLow * bHigh + (middle % 0x10000);
  return (aHigh * bHigh + Math.floor(middle / 0x10000) + Math.floor(middleLow / 0x10000)) >>> 0;
}

/** One block: four unsigned 32-bit words of the counter and two of the key give four random words. */
export function philox(counter: Words4, key: readonly [number, number]): Words4 {
  let [c0, c1, c2, c3] = counter;
  let [k0, k1] = key;
  for (let round = 0; round < ROUNDS; round++) {
    const high0 = mulHigh(MULTIPLIER_0, c0);
    const low0 = Math.imul(MULTIPLIER_0, c0) >>> 0;
    const high1 = mulHigh(MULTIPLIER_1, c2);
    const low1 = Math.imul(MULTIPLIER_1, c2) >>> 0;
    c0 = (high1 ^ c1 ^ k0) >>> 0;
    c1 = low1;
    c2 = (high0 ^ c3 ^ k1) >>> 0;
    c3 = low0;
    k0 = (k0 + WEYL_0) >>> 0;
    k1 = (k1 + WEYL_1) >>> 0;
  }
  return [c0, c1, c2, c3];
}

/**
 * A uniform number in [0, 1) with 53 random bits.
 * @param seed an integer in [0, 2^53)
 * @param place index, in the whole context, of the token that is drawn
 */
export function uniformAt(seed: number, place: number): number {
  const [high, low] = philox([place >>> 0, 0, 0, 0], [seed >>> 0, Math.floor(seed / 0x1_0000_0000) >>> 0]);
  return ((high >>> 5) * 0x400_0000 + (low >>> 6)) / 0x20_0000_0000_0000;
}
