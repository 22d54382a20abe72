// The fields of records and settings as data. A test says of a value whether it is right, and in words what would be. From a
// table of tests follow the type of an object, the check of its form, and the order in which its text has them.

import type { Json, JsonObject } from '../text/json.ts';

/** `T` is the type of the values that pass. With the table of an object, a fault is one of its fields. */
export type Test<T = unknown> = readonly [(value: unknown) => boolean, string, (FieldTable | undefined)?] & {
  readonly type?: T;
};
/** The test of a field that may be absent. */
export type Maybe<T> = Test<T> & { readonly optional?: true };

export interface FieldTable {
  readonly [field: string]: Test;
}
export type TypeOf<F> = F extends { readonly type?: infer T } ? T : never;
type Optional<S extends FieldTable> = { [K in keyof S]: 'optional' extends keyof S[K] ? K : never }[keyof S];

/** An object with the fields of a table. */
export type ObjectOf<S extends FieldTable> = {
  readonly [K in keyof S as K extends Optional<S> ? never : K]: TypeOf<S[K]>;
} & { readonly [K in keyof S as K extends Optional<S> ? K : never]?: TypeOf<S[K]> };

/** A value that is still being made. */
export type Mutable<T> = { -readonly [K in keyof T]: Mutable<T[K]> };

export const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
export const isCount = (value: unknown): boolean => Number.isSafeInteger(value) && (value as number) >= 0;
const isText = (value: unknown) => typeof value === 'string';

export const TEXT: Test<string> = [isText, 'a text'];
export const NAME: Test<string> = [(value) => isText(value) && value !== '', 'a text that is not empty'];
export const HASH: Test<string> = [(value) => isText(value) && /^[0-9a-f]{64}$/.test(value as string), 'a SHA-256'];
export const COUNT: Test<number> = [isCount, 'a whole number'];
export const PLACE: Test<number> = [(value) => isCount(value) && value !== 0, 'a whole number above 0'];
export const TOKEN_IDS: Test<readonly number[]> = [
  (value) => Array.isArray(value) && value.every(isCount),
  'a list of token ids',
];
export const NUMBERS: Test<readonly number[]> = [
  (value) => Array.isArray(value) && value.every((item) => Number.isFinite(item)),
  'a list of numbers',
];
export const INT32: Test<number> = [(value) => isCount(value) && (value as number) < 2 ** 31, 'an int32 from 0'];
export const NUMBER: Test<number> = [(value) => Number.isFinite(value), 'a number'];
export const POSITIVE: Test<number> = [(value) => Number.isFinite(value) && (value as number) > 0, 'a number above 0'];

export const oneOf = <const V>(...values: readonly V[]): Test<V> => [
  (value) => values.includes(value as V),
  values.length === 2 ? values.join(' or ') : `one of ${values.join(', ')}`,
];
export const ANYTHING: Test<Json> = [() => true, 'anything'];
export const OBJECT: Test<JsonObject> = [isObject, 'an object'];
export const LIST: Test<readonly unknown[]> = [Array.isArray, 'a list'];
export const BOOLEAN = oneOf(true, false) as Test<boolean>;
export const wholeNumber = (least: number, most = Number.MAX_SAFE_INTEGER): Test<number> => [
  (value) => Number.isSafeInteger(value) && (value as number) >= least && (value as number) <= most,
  most === Number.MAX_SAFE_INTEGER
    ? `a whole number of at least ${least}, up to 2^53 - 1`
    : `a whole number from ${least} to ${most}`,
];
export const realNumber = (least: number, most: number, wanted = `a number from ${least} to ${most}`): Test<number> => [
  (value) => Number.isFinite(value) && (value as number) >= least && (value as number) <= most,
  wanted,
];
export const listOf = <T>(test: Test<T>): Test<readonly T[]> => [
  (value) => Array.isArray(value) && value.every((item) => test[0](item)),
  `a list, each ${test[1]}`,
];
export const orNull = <T>([test, name, fields]: Test<T>): Test<T | null> => [
  (value) => value === null || test(value),
  `${name} or null`,
  fields,
];
export const maybe = <T>([test, name, fields]: Test<T>): Maybe<T> => [
  (value) => value === undefined || test(value),
  name,
  fields,
];
export const eitherOf = <A, B>([one, name]: Test<A>, [other, otherName]: Test<B>): Test<A | B> => [
  (value) => one(value) || other(value),
  `${name} or ${otherName}`,
];
export const mapOf = <T>([test, name]: Test<T>): Test<Readonly<Record<string, T>>> => [
  (value) => isObject(value) && Object.values(value).every((item) => test(item)),
  `an object, each of its values ${name}`,
];

/** An object of these fields and no others. */
export const objectOf = <const S extends FieldTable>(fields: S): Test<ObjectOf<S>> => [
  (value) => isObject(value) && flawIn(fields, value) === undefined,
  `{${Object.keys(fields).join(', ')}}`,
  fields,
];

export function flawIn(fields: FieldTable, value: Readonly<Record<string, unknown>>): string | undefined {
  const alien = Object.keys(value).find((key) => !Object.hasOwn(fields, key));
  if (alien !== undefined) return `has the field ${shown(alien)}, which Everturn does not write`;
  for (const [field, [test, wanted, parts]] of Object.entries(fields)) {
    const is = value[field];
    if (test(is)) continue;
    return parts && isObject(is)
      ? `${flawIn(parts, is)} (in ${field})`
      : `has no right ${field}: it should be ${wanted}, and is ${shown(is)}`;
  }
  return undefined;
}

/** The same object with its fields in the order of the table, and behind them those that the table lacks. */
export function inFieldOrder<T extends object>(fields: FieldTable, value: T): T {
  const values = value as Readonly<Record<string, unknown>>;
  const presentFields = Object.keys(fields).filter((key) => values[key] !== undefined);
  return Object.fromEntries(
    [...new Set([...presentFields, ...Object.keys(values)])].map((key) => [key, values[key]]),
  ) as T;
}

/** JSON reads 1e400 as Infinity. */
function shown(value: unknown): string {
  const text = JSON.stringify(value, (_, item: unknown) =>
    typeof item === 'number' && !Number.isFinite(item) ? String(item) : item,
  );
  return text === undefined ? 'missing' : text.length > 80 ? `${text.slice(0, 80)}…` : text;
}
