// The fields of records, settings, and of what people write, as data. A test says of a value whether it is right, and in words
// what would be. From a table of tests follow the type of an object, the check of its form, and the order in which its text has
// them. It is our own because workflows run it; what servers send over HTTP is read by zod.

import { short } from '../text/foreign-text.ts';
import type { Json, JsonObject } from '../text/json.ts';

/** `T` is the type of the values that pass. With the table of an object, or the test of each item, a fault is one of these. */
export type Test<T = unknown> = readonly [
  (value: unknown) => boolean,
  string,
  (FieldTable | undefined)?,
  (Test | undefined)?,
] & {
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
/** Above 0. */
export const upTo = (most: number): Test<number> => [
  (value) => Number.isFinite(value) && (value as number) > 0 && (value as number) <= most,
  `a number above 0, up to ${most}`,
];
/** Other texts cannot be stored, nor sent to a model. */
export const storableText = (least = 0, most = Number.MAX_SAFE_INTEGER): Test<string> => [
  (value) =>
    typeof value === 'string' &&
    value.length >= least &&
    value.length <= most &&
    value.isWellFormed() &&
    !value.includes('\u0000'),
  `a text${most === Number.MAX_SAFE_INTEGER ? (least > 0 ? ' that is not empty' : '') : ` of ${least} to ${most} characters`}, without NUL and half characters`,
];
export const listOf = <T>(test: Test<T>, least = 0, most?: number): Test<readonly T[]> => [
  (value) =>
    Array.isArray(value) &&
    value.length >= least &&
    value.length <= (most ?? Infinity) &&
    value.every((item) => test[0](item)),
  most === undefined ? `a list, each ${test[1]}` : `a list of ${least} to ${most}, each ${test[1]}`,
  undefined,
  test,
];
export const orNull = <T>([test, name, fields, item]: Test<T>): Test<T | null> => [
  (value) => value === null || test(value),
  `${name} or null`,
  fields,
  item,
];
export const maybe = <T>([test, name, fields, item]: Test<T>): Maybe<T> => [
  (value) => value === undefined || test(value),
  name,
  fields,
  item,
];
/** Only the faults of the second one's parts are told. */
export const eitherOf = <A, B>([one, name]: Test<A>, [other, otherName, fields, item]: Test<B>): Test<A | B> => [
  (value) => one(value) || other(value),
  `${name} or ${otherName}`,
  fields,
  item,
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
  if (alien !== undefined) return `has the field ${shownValue(alien)}, which Everturn does not write`;
  for (const [field, [test, wanted, parts]] of Object.entries(fields)) {
    const is = value[field];
    if (test(is)) continue;
    return parts && isObject(is)
      ? `${flawIn(parts, is)} (in ${field})`
      : `has no right ${field}: it should be ${wanted}, and is ${shownValue(is)}`;
  }
  return undefined;
}

/** The first fault of what a person or a program of theirs wrote: its place, and what belongs there. It repeats no value. */
export function flawOfWritten([test, wanted, fields, item]: Test, value: unknown, path = ''): string | undefined {
  if (test(value)) return undefined;
  const place = path === '' ? 'it' : `\`${short(path, 80)}\``;
  const parts = isObject(value) || Array.isArray(value) ? Object.entries(value) : [];
  const alien = fields && isObject(value) && parts.find(([key]) => !Object.hasOwn(fields, key));
  if (alien) return `${place} has the unknown field \`${short(alien[0], 40)}\``;
  const tests = Object.entries(fields ?? {});
  const inner =
    isObject(value) && fields
      ? tests.map(([key, one]) => [key, one, value[key]] as const)
      : item
        ? parts.map(([key, one]) => [key, item, one] as const)
        : [];
  for (const [key, one, is] of inner) {
    const flaw = flawOfWritten(one, is, path === '' ? key : `${path}.${key}`);
    if (flaw !== undefined) return flaw;
  }
  return value === undefined ? `${place} is missing: it takes ${wanted}` : `${place} takes ${wanted}`;
}

/** The same object with its fields in the order of the table, and behind them those that the table lacks. */
export function inFieldOrder<T extends object>(fields: FieldTable, value: T): T {
  const values = value as Readonly<Record<string, unknown>>;
  const presentFields = Object.keys(fields).filter((key) => values[key] !== undefined);
  return Object.fromEntries(
    [...new Set([...presentFields, ...Object.keys(values)])].map((key) => [key, values[key]]),
  ) as T;
}

/** A value as an error names it: also one that JSON has no form for. */
export function shownValue(value: unknown): string {
  const isNoJson = (item: unknown) =>
    typeof item === 'bigint' || typeof item === 'function' || (typeof item === 'number' && !Number.isFinite(item));
  const text = JSON.stringify(value, (_, item: unknown) =>
    isNoJson(item) ? (typeof item === 'function' ? 'a function' : String(item)) : item,
  );
  return text === undefined ? 'missing' : text.length > 80 ? `${text.slice(0, 80)}…` : text;
}
