// One option of a run: what it takes, and its help; and the numbers that options take.

import { z } from 'zod';

export interface Field<T> {
  readonly schema: z.ZodType<T>;
  /** Its value unless one is given. */
  readonly default: NoInfer<T>;
  readonly argument: string | null;
  readonly help: string;
  /** Parses a text from a shell that is not a number, a truth value or null. */
  readonly fromText?: (text: string) => unknown;
  /** The flag may be repeated: all of its values are one list. */
  readonly many?: true;
}

/** An option as it is declared: its type is that of its schema. */
export const option = <T>(field: Field<T>): Field<T> => field;
export type OptionsOf<F> = { readonly [K in keyof F]: F[K] extends Field<infer T> ? T : never };

export const whole = (min: number, max: number = Number.MAX_SAFE_INTEGER) =>
  z
    .int(`a whole number${range(min, max)}`)
    .min(min, `a whole number${range(min, max)}`)
    .max(max, `a whole number${range(min, max)}`);
export const real = (min: number, max: number, what: string) => z.number(what).min(min, what).max(max, what);
const range = (min: number, max: number) =>
  max === Number.MAX_SAFE_INTEGER ? ` of at least ${min}, up to 2^53 - 1` : ` from ${min} to ${max}`;
