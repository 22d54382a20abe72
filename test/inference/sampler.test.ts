import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Sampling } from '../../domain/rollout/sampling.ts';
import { uniformAt } from '../../inference/decode/philox.ts';
import { createSampler } from '../../inference/decode/sampler.ts';

const ALL: Sampling = { temperature: 1, topP: 1, topK: 1e8 };

/** By the book, slowly: probability of each id; 0 for what is cut. */
function distribution(logits: ArrayLike<number>, { temperature, topP, topK, minP = 0 }: Sampling): number[] {
  const z = Array.from(logits, (logit) => logit / temperature);
  const max = Math.max(...z);
  const order = z.map((_, id) => id).sort((a, b) => logits[b]! - logits[a]! || a - b);
  const afterK = order.slice(0, topK);
  const sumK = afterK.reduce((sum, id) => sum + Math.exp(z[id]! - max), 0);
  const kept: number[] = [];
  let sum = 0;
  for (const id of afterK) {
    if (kept.length > 0 && topP < 1 && sum >= topP) break;
    kept.push(id);
    sum += Math.exp(z[id]! - max) / sumK;
  }
  const likely = kept.filter((id) => Math.exp(z[id]! - max) >= minP);
  const total = likely.reduce((s, id) => s + Math.exp(z[id]! - max), 0);
  return z.map((value, id) => (likely.includes(id) ? Math.exp(value - max) / total : 0));
}

function count(logits: Float32Array, sampling: Sampling, draws: number): number[] {
  const draw = createSampler(logits.length);
  const counts = logits.reduce((all: number[]) => [...all, 0], []);
  for (let i = 0; i < draws; i++) counts[draw(logits, sampling, uniformAt(11, i)).id]!++;
  return counts;
}

describe('the sampler', () => {
  test('draws every token as often as its probability says', () => {
    const logits = Float32Array.from({ length: 40 }, (_, id) => 3 * Math.sin(id * 1.7));
    const draws = 60_000;
    for (const sampling of [
      ALL,
      { ...ALL, temperature: 0.6 },
      { ...ALL, temperature: 2 },
      { ...ALL, topK: 12 },
      { ...ALL, topP: 0.8 },
      { ...ALL, minP: 0.3 },
      { temperature: 1.3, topK: 20, topP: 0.9, minP: 0.1 },
    ]) {
      const counts = count(logits, sampling, draws);
      const expected = distribution(logits, sampling).map((p) => p * draws);
      const chi2 = expected.reduce((sum, e, id) => sum + (e > 0 ? (counts[id]! - e) ** 2 / e : 0), 0);
      expect(chi2).toBeLessThan(82); // 40 degrees of freedom: exceeded once in 10,000
      expected.forEach((e, id) => e === 0 && expect(counts[id]).toBe(0));
    }
  });

  test('gives as logprob the logarithm of the probability the token was drawn with', () => {
    const logit = fc.double({ min: -30, max: 30, noNaN: true });
    fc.assert(
      fc.property(
        fc.array(logit, { minLength: 1, maxLength: 30 }),
        fc.double({ min: 0.05, max: 5, noNaN: true }),
        fc.integer({ min: 1, max: 40 }),
        fc.double({ min: 0.01, max: 1, noNaN: true }),
        fc.double({ min: 0, max: 1, noNaN: true }),
        fc.double({ min: 0, max: 0.9999999, noNaN: true }),
        (values, temperature, topK, topP, minP, uniform) => {
          const logits = Float32Array.from(values);
          const sampling = { temperature, topK, topP, minP };
          const { id, logprob } = createSampler(logits.length)(logits, sampling, uniform);
          const p = distribution(logits, sampling)[id]!;
          expect(p).toBeGreaterThan(0);
          expect(logprob).toBeCloseTo(Math.log(p), 8);
        },
      ),
    );
  });

  test('says the ids that it drew from where some are left out, and nothing elsewhere', () => {
    const logits = Float32Array.from({ length: 40 }, (_, id) => 3 * Math.sin(id * 1.7));
    for (const sampling of [
      { ...ALL, topK: 12 },
      { ...ALL, topP: 0.8 },
      { ...ALL, minP: 0.3 },
      { temperature: 1.3, topK: 20, topP: 0.9, minP: 0.1 },
    ]) {
      const expected = distribution(logits, sampling).flatMap((p, id) => (p > 0 ? [id] : []));
      for (const uniform of [0, 0.5, 0.999])
        expect(createSampler(40)(logits, sampling, uniform).kept).toEqual(expected);
    }
    for (const sampling of [ALL, { ...ALL, topK: 40 }, { ...ALL, temperature: 0, topP: 0.5 }])
      expect(createSampler(40)(logits, sampling, 0.5)).not.toHaveProperty('kept');
    const flat = new Float32Array(2000);
    expect(createSampler(2000)(flat, { ...ALL, topP: 0.2 }, 0.5).kept).toHaveLength(400);
    expect(createSampler(2000)(flat, { ...ALL, topP: 0.3 }, 0.5).kept).toBeNull();
  });

  test('takes the largest logit at temperature 0, the lower id of equals, with its logprob at temperature 1', () => {
    const logits = Float32Array.of(1, 5, 5, -2);
    const drawn = createSampler(4)(logits, { temperature: 0, topP: 0.1, topK: 1 }, 0.99);
    expect(drawn.id).toBe(1);
    expect(drawn.logprob).toBeCloseTo(Math.log(distribution(logits, ALL)[1]!), 12);
  });

  test('keeps the lower ids where top-k or top-p cuts between equals', () => {
    const equal = new Float32Array(10);
    expect(count(equal, { ...ALL, topK: 3 }, 300).map((n) => n > 0)).toEqual(
      [1, 1, 1, 0, 0, 0, 0, 0, 0, 0].map(Boolean),
    );
    expect(count(equal, { ...ALL, topP: 0.35 }, 300).map((n) => n > 0)).toEqual(
      [1, 1, 1, 1, 0, 0, 0, 0, 0, 0].map(Boolean),
    );
  });

  test('never draws a token of probability 0, whatever the number drawn', () => {
    const logits = Float32Array.of(-Infinity, 2, -Infinity, 1, -Infinity);
    const draw = createSampler(5);
    for (const uniform of [0, 0.3, 0.9, 1 - 2 ** -53]) expect([1, 3]).toContain(draw(logits, ALL, uniform).id);
  });

  test('refuses logits that are no distribution', () => {
    const draw = createSampler(2);
    for (const bad of [
      [NaN, 1],
      [1, NaN],
      [Infinity, 1],
      [-Infinity, -Infinity],
    ]) {
      expect(() => draw(Float32Array.from(bad), ALL, 0.5)).toThrow(RangeError);
    }
  });
});
