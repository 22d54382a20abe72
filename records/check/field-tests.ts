// Tests of a record's fields: each a predicate with the words for what is right. An object has the fields that are named
// and no others.

export type Test = readonly [(value: unknown) => boolean, string];
export const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
export const isCount = (value: unknown): boolean => Number.isSafeInteger(value) && (value as number) >= 0;

export const TEXT: Test = [(value) => typeof value === 'string', 'a text'];
export const NAME: Test = [(value) => typeof value === 'string' && value !== '', 'a text that is not empty'];
export const HASH: Test = [(value) => typeof value === 'string' && /^[0-9a-f]{64}$/.test(value), 'a SHA-256'];
export const COUNT: Test = [isCount, 'a whole number'];
export const PLACE: Test = [(value) => isCount(value) && value !== 0, 'a whole number above 0'];
export const IDS: Test = [(value) => Array.isArray(value) && value.every(isCount), 'a list of token ids'];
export const NUMBERS: Test = [
  (value) => Array.isArray(value) && value.every((item) => Number.isFinite(item)),
  'a list of numbers',
];
export const INT32: Test = [(value) => isCount(value) && (value as number) < 2 ** 31, 'an int32 from 0'];
export const oneOf = (...values: readonly unknown[]): Test => [
  (value) => values.includes(value),
  `one of ${values.join(', ')}`,
];
export const listOf = (test: Test): Test => [
  (value) => Array.isArray(value) && value.every((item) => test[0](item)),
  `a list, each ${test[1]}`,
];
export const orNull = ([test, name]: Test): Test => [(value) => value === null || test(value), `${name} or null`];
export const maybe = ([test, name]: Test): Test => [(value) => value === undefined || test(value), name];

/** A test for each field of a record: an optional one may be absent. */
export type Fields<T> = { readonly [K in keyof Required<T>]: Test };

/** An object of these fields and no others. */
export function only<T>(fields: Fields<T> & Readonly<Record<string, Test>>): Test {
  return [(value) => isObject(value) && flawIn(fields, value) === undefined, `{${Object.keys(fields).join(', ')}}`];
}

export function flawIn(
  fields: Readonly<Record<string, Test>>,
  value: Readonly<Record<string, unknown>>,
): string | undefined {
  const alien = Object.keys(value).find((key) => !Object.hasOwn(fields, key));
  if (alien !== undefined) return `has the field ${shown(alien)}, which Everturn does not write`;
  for (const [field, [test, wanted]] of Object.entries(fields))
    if (!test(value[field])) return `has no right ${field}: it should be ${wanted}, and is ${shown(value[field])}`;
  return undefined;
}

export const NUMBER: Test = [(value) => Number.isFinite(value), 'a number'];
export const BOOLEAN = oneOf(true, false);
export const mapOf = ([test, name]: Test): Test => [
  (value) => isObject(value) && Object.values(value).every((item) => test(item)),
  `an object, each of its values ${name}`,
];

/** JSON reads 1e400 as Infinity. */
function shown(value: unknown): string {
  const whole = JSON.stringify(value, (_, item: unknown) =>
    typeof item === 'number' && !Number.isFinite(item) ? String(item) : item,
  );
  return whole === undefined ? 'missing' : whole.length > 80 ? `${whole.slice(0, 80)}…` : whole;
}
