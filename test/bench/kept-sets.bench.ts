// The bytes that kept sets take, as a record has them: a vocabulary of 150,000, top-p 0.95, and logits that fall with the logarithm of
// their rank, by an exponent that differs from place to place. Frequent ids are small, as in a real vocabulary.
//   npx vitest bench --run --project near test/bench/kept-sets.bench.ts

import { bench } from 'vitest';
import { boundedSet, packedKept } from '../../domain/rollout/kept-sets.ts';
import { uniformAt } from '../../inference/decode/philox.ts';

const VOCABULARY = 150_000;
const PLACES = 1000;
const TOP_P = 0.95;

let draws = 0;
const uniform = () => uniformAt(7, draws++);
const normal = () => Math.sqrt(-2 * Math.log(1 - uniform())) * Math.cos(2 * Math.PI * uniform());

/** The number of ids that top-p keeps. */
function keptAt(exponent: number): number {
  const weights = Float64Array.from({ length: VOCABULARY }, (_, rank) => (rank + 1) ** -exponent);
  const total = weights.reduce((sum, weight) => sum + weight, 0);
  let sum = 0;
  let kept = 0;
  while (sum < TOP_P * total) sum += weights[kept++]!;
  return kept;
}

function idsOf(count: number): number[] {
  const ids = new Set<number>();
  while (ids.size < count)
    ids.add(Math.floor(uniform() < 0.5 ? Math.exp(uniform() * Math.log(VOCABULARY)) : uniform() * VOCABULARY));
  return [...ids];
}

bench(
  'bytes of kept sets',
  () => {
    const sizes = Array.from({ length: PLACES }, () => keptAt(Math.max(0.7, 2.2 + 0.7 * normal())));
    const sets = sizes.map((size) => (size > 4096 ? null : boundedSet(idsOf(size))));
    const above = sets.filter((set) => set === null).length / PLACES;
    const median = sizes.toSorted((a, b) => a - b)[PLACES / 2];
    console.log(
      `${packedKept(sets).length / PLACES} bytes a token, median ${median} ids, ${100 * above} % above the bound`,
    );
  },
  { iterations: 1, time: 0, warmupIterations: 0, warmupTime: 0 },
);
