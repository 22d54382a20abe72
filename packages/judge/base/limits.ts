// The bounds of texts and of work, in one object, and the two ways a text can fail to be read; those of digits and points stand where
// they are used (value/). With them the work per pair is small by construction; a child's processor time is the second line of defence.

export const LIMITS = {
  /** Only the last characters of an answer or a solution are looked at. */
  textChars: 262_144,
  /** A final answer longer than this is compared as written only. */
  candidateChars: 4_000,
  tokens: 2_500,
  /** Rules within rules while a text is read; nodes on a branch of what was read. */
  depth: 80,
  treeDepth: 100,
  digits: 2_000,
  /** Items of one list, set or tuple; above it unordered comparison would be slow. */
  items: 200,
  /** Bits of any exact integer. */
  bits: 24_000,
  factorial: 2_200,
  /** Terms of a sum or product that is written out. */
  terms: 300,
  /** Elementary steps of one comparison, over all layers. */
  steps: 30_000,
} as const;

/** The text is not an answer that this judge can read. */
export class Unparsed extends Error {}
/** Reading or comparing it would cost more than the limits allow. */
export class TooBig extends Error {}

/** Counts work down; throws TooBig when it is used up. */
export interface Budget {
  left: number;
}

export function spend(budget: Budget, steps: number): void {
  budget.left -= steps;
  if (budget.left < 0) throw new TooBig('too many steps');
}
