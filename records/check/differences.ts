// Compares a record with the values that the rules give for its fields.

import { isDeepStrictEqual } from 'node:util';

/** Values of up to so many characters are shown whole; longer ones from their first difference. */
const SHORT = 100;
const PART = 40;

type Fields = Readonly<Record<string, unknown>>;

/**
 * A sentence for each field of `right` that the record has otherwise: `says returns [1,1]; the records say [1,-1]`.
 * `by`: who says the right value.
 */
export function differences(record: object, right: object, by = 'the records say'): string[] {
  const [is, wanted] = [record as Fields, right as Fields];
  const found: string[] = [];
  for (const field of Object.keys(wanted)) {
    if (Object.is(is[field], wanted[field])) continue;
    for (const [path, says, value] of between(field, is[field], wanted[field]))
      found.push(`says ${path} ${says}; ${by} ${value}`);
  }
  return found;
}

function* between(
  path: string,
  is: unknown,
  right: unknown,
): Generator<readonly [path: string, is: string, right: string]> {
  if (isDeepStrictEqual(is, right)) return;
  const [one, other] = [shown(is), shown(right)];
  if (one.length <= SHORT && other.length <= SHORT) yield [path, one, other];
  else if (typeof is === 'string' && typeof right === 'string') {
    let at = 0;
    while (at < is.length && is[at] === right[at]) at++;
    const part = (text: string) => JSON.stringify(text.slice(at, at + PART));
    yield [`${path} from character ${at + 1}`, part(is), part(right)];
  } else if (Array.isArray(is) && Array.isArray(right)) {
    const at = [...is, undefined].findIndex((value, i) => !isDeepStrictEqual(value, right[i]));
    yield* between(`${path}[${at}]`, is[at], right[at]);
  } else if (isPlain(is) && isPlain(right)) {
    for (const key of new Set([...Object.keys(is), ...Object.keys(right)]))
      yield* between(`${path}.${key}`, is[key], right[key]);
  } else yield [path, cut(one), cut(other)];
}

const isPlain = (value: unknown): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
const shown = (value: unknown): string => JSON.stringify(value) ?? 'nothing';
const cut = (text: string): string => (text.length > SHORT ? `${text.slice(0, SHORT)}…` : text);
