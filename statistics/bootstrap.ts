// The bootstrap over queries: whole queries are drawn with replacement, so the samples of one query stay together.
// Seeded: the same data has the same interval at every look.

import { randomWords } from '../domain/run/shuffle.ts';
import { type Interval, percentile } from './mean.ts';

const MOST_DRAWS = 1000;
const LEAST_DRAWS = 200;
/** Draws of single queries in all: with many queries fewer resamples are needed. */
const MOST_WORK = 4_000_000;

/**
 * 2.5 and 97.5 % quantiles of Σ top / Σ bottom over resampled queries. Null with fewer than two queries; a resample
 * without a bottom is left out.
 */
export function bootstrapRatio(tops: readonly number[], bottoms: readonly number[]): Interval | null {
  const q = tops.length;
  if (q < 2) return null;
  const draws = Math.round(Math.min(MOST_DRAWS, Math.max(LEAST_DRAWS, MOST_WORK / q)));
  const next = randomWords(0);
  const ratios: number[] = [];
  for (let draw = 0; draw < draws; draw++) {
    let [top, bottom] = [0, 0];
    for (let i = 0; i < q; i++) {
      const at = Math.floor((next() / 0x1_0000_0000) * q);
      top += tops[at]!;
      bottom += bottoms[at]!;
    }
    if (bottom !== 0) ratios.push(top / bottom);
  }
  ratios.sort((a, b) => a - b);
  const [low, high] = [percentile(ratios, 0.025), percentile(ratios, 0.975)];
  return low === null || high === null ? null : [low, high];
}
