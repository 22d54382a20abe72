// Results come in the stream's order, as early as that allows, and only so much is open at once.

import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { inRowOrder } from '../../environments/judge-pairs.ts';

async function* streamOf<T>(items: readonly T[]): AsyncGenerator<T> {
  for (const item of items) {
    await Promise.resolve();
    yield item;
  }
}

async function allOf<T>(items: AsyncIterable<T>): Promise<T[]> {
  const all: T[] = [];
  for await (const item of items) all.push(item);
  return all;
}

describe('a stream judged in order', () => {
  test('keeps the order and the bounds, whatever ends first', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.record({ turns: fc.nat(5), weight: fc.nat(10) }), { maxLength: 40 }),
        fc.integer({ min: 1, max: 8 }),
        fc.nat(20),
        async (items, atOnce, mostWeight) => {
          let open = 0;
          let weight = 0;
          const work = async (item: { turns: number; weight: number }) => {
            open++;
            expect(weight).toBeLessThanOrEqual(mostWeight);
            weight += item.weight;
            expect(open).toBeLessThanOrEqual(atOnce);
            for (let n = 0; n < item.turns; n++) await Promise.resolve();
            open--;
            return item;
          };
          const results: unknown[] = [];
          for await (const item of inRowOrder(streamOf(items), work, { atOnce, mostWeight, weigh: (i) => i.weight })) {
            weight -= item.weight;
            results.push(item);
          }
          expect(results).toEqual(items);
        },
      ),
    );
  });

  test('hands a result on while the stream has nothing new', async () => {
    let release = (): void => {};
    async function* slow() {
      yield 1;
      await new Promise<void>((resolve) => (release = resolve));
      yield 2;
    }
    const results = inRowOrder(slow(), async (n) => n, { atOnce: 8 });
    expect(await results.next()).toEqual({ done: false, value: 1 });
    const second = results.next();
    await new Promise((resolve) => setImmediate(resolve));
    release();
    expect(await second).toEqual({ done: false, value: 2 });
    expect((await results.next()).done).toBe(true);
  });

  test('fails with the first that fails, after the results before it', async () => {
    const work = async (n: number) => {
      if (n === 3) throw new Error('three');
      return n;
    };
    const seen: number[] = [];
    const run = async () => {
      for await (const n of inRowOrder(streamOf([1, 2, 3, 4]), work, { atOnce: 4 })) seen.push(n);
    };
    await expect(run()).rejects.toThrow('three');
    expect(seen).toEqual([1, 2]);
  });

  test('fails where the stream does', async () => {
    async function* broken() {
      yield 1;
      throw new Error('torn');
    }
    await expect(allOf(inRowOrder(broken(), async (n) => n, { atOnce: 2 }))).rejects.toThrow('torn');
  });
});
