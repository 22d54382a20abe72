// Units that are made of others: 5 N are 5 kg m/s², 5 Hz are 5/s, a year has 12 months. A dimension is a sorted text of names and powers.

import { mul, type Rational, rational } from '../rational.ts';
import { remembered } from '../remembered.ts';

const BASE: Readonly<Record<string, string>> = {
  year: 'month^1',
  frequency: 'time^-1',
  charge: 'current^1 time^1',
  force: 'mass^1 length^1 time^-2',
  pressure: 'mass^1 length^-1 time^-2',
  energy: 'mass^1 length^2 time^-2',
  power: 'mass^1 length^2 time^-3',
  voltage: 'mass^1 length^2 time^-3 current^-1',
  resistance: 'mass^1 length^2 time^-3 current^-2',
};

const powersIn = (dimension: string): (readonly [string, number])[] =>
  dimension
    .split(' ')
    .filter(Boolean)
    .map((one) => [one.split('^')[0] ?? '', Number(one.split('^')[1] ?? 1)]);

export const dimensionOf = (powers: ReadonlyMap<string, number>): string =>
  [...powers]
    .filter(([, n]) => n !== 0)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, n]) => `${name}^${n}`)
    .join(' ');

/** A dimension in units of which none is made of others, and what one of it is worth in them. */
export const inBase = remembered((dimension: string): { readonly dimension: string; readonly factor: Rational } => {
  const powers = new Map<string, number>();
  let factor = rational(1n);
  for (const [name, times] of powersIn(dimension)) {
    for (let n = 0; name === 'year' && n < Math.abs(times); n++)
      factor = mul(factor, times > 0 ? rational(12n) : rational(1n, 12n));
    for (const [base, n] of powersIn(BASE[name] ?? `${name}^1`)) powers.set(base, (powers.get(base) ?? 0) + n * times);
  }
  return { dimension: dimensionOf(powers), factor };
});
