// pass@k, pass^k and maj@k of one query, from all of its samples: unbiased, and undefined (null) with fewer than k
// samples. Nothing is drawn with replacement (verl's best@k, which is biased low) and no sample is preferred (NeMo-Gym's
// first k).

import { randomWords } from '../run/shuffle.ts';

/** 1 − C(n − c, k) / C(n, k): some of k samples is right. HumanEval, arXiv 2107.03374. */
export function passAtK(n: number, right: number, k: number): number | null {
  if (n < k) return null;
  if (n - right < k) return 1;
  let none = 1;
  for (let m = n - right + 1; m <= n; m++) none *= 1 - k / m;
  return 1 - none;
}

/** C(c, k) / C(n, k): all of k samples are right. arXiv 2406.12045. */
export function passAllK(n: number, right: number, k: number): number | null {
  if (n < k) return null;
  let all = 1;
  for (let j = 0; j < k && all > 0; j++) all *= (right - j) / (n - j);
  return Math.max(0, all);
}

export interface Vote {
  /** Null does not vote. */
  readonly answer: string | null;
  readonly right: boolean;
}

/** Subsets that are all looked at; of more, as many are drawn. */
const MAX_SUBSETS = 2000;

/**
 * The chance that the most frequent answer among k samples is right; tied answers count by their mean, and k samples
 * without any answer are wrong. Over all C(n, k) subsets, or 2,000 seeded draws if there are more.
 */
export function majorityAtK(votes: readonly Vote[], k: number): number | null {
  const n = votes.length;
  if (n < k || k < 1) return null;
  const places = new Map<string, number>();
  const answers = votes.map(({ answer }) => {
    if (answer === null) return -1;
    if (!places.has(answer)) places.set(answer, places.size);
    return places.get(answer)!;
  });
  // Equal answers may differ in verdict, because the judge's text is cut: then an answer is right in part.
  const value = Array.from({ length: places.size }, () => ({ right: 0, all: 0 }));
  answers.forEach((place, i) => {
    if (place < 0) return;
    value[place]!.all++;
    if (votes[i]!.right) value[place]!.right++;
  });
  const rightness = value.map(({ right, all }) => right / all);
  const counts = new Int32Array(places.size);
  const score = (subset: ArrayLike<number>): number => {
    counts.fill(0);
    let most = 0;
    for (let i = 0; i < k; i++) {
      const place = answers[subset[i]!]!;
      if (place >= 0) most = Math.max(most, ++counts[place]!);
    }
    if (most === 0) return 0;
    let tied = 0;
    let total = 0;
    counts.forEach((count, place) => {
      if (count !== most) return;
      tied++;
      total += rightness[place]!;
    });
    return total / tied;
  };
  return subsetCount(n, k) <= MAX_SUBSETS ? overAll(n, k, score) : overDraws(n, k, score);
}

/** C(n, k), or a number above MAX_SUBSETS. */
function subsetCount(n: number, k: number): number {
  let count = 1;
  for (let j = 1; j <= Math.min(k, n - k) && count <= MAX_SUBSETS; j++) count = (count * (n - j + 1)) / j;
  return count;
}

function overAll(n: number, k: number, score: (subset: ArrayLike<number>) => number): number {
  const subset = Array.from({ length: k }, (_, i) => i);
  let total = 0;
  let count = 0;
  for (;;) {
    total += score(subset);
    count++;
    let i = k - 1;
    while (i >= 0 && subset[i] === n - k + i) i--;
    if (i < 0) return total / count;
    subset[i]!++;
    for (let j = i + 1; j < k; j++) subset[j] = subset[j - 1]! + 1;
  }
}

function overDraws(n: number, k: number, score: (subset: ArrayLike<number>) => number): number {
  const next = randomWords(0);
  const order = Int32Array.from({ length: n }, (_, i) => i);
  let total = 0;
  for (let draw = 0; draw < MAX_SUBSETS; draw++) {
    for (let i = 0; i < k; i++) {
      const j = i + Math.floor((next() / 0x1_0000_0000) * (n - i));
      [order[i], order[j]] = [order[j]!, order[i]!];
    }
    total += score(order);
  }
  return total / MAX_SUBSETS;
}
