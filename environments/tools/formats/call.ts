// Makes a call of a JSON value, with the same sentences in every format.

import type { Json } from '../../../domain/text/json.ts';
import { notInForm } from '../../../domain/errors/refusals.ts';
import { isJsonObject, wholeJson } from './json.ts';
import type { BadCall, Call } from './reply.ts';

const NAMES = ['arguments', 'parameters'] as const;
const KNOWN: ReadonlySet<string> = new Set(['name', 'id', 'type', ...NAMES]);

export interface Shape {
  readonly raw: string;
  /** How a call is written, for the model. */
  readonly form: string;
}

export function badCall({ raw, form }: Shape, what: string, name?: string): BadCall {
  const error = notInForm(what, form);
  return name === undefined ? { raw, error } : { raw, error, name };
}

export const brokenJson = (error: string): string => `its JSON is broken: ${error}`;

/** `{"name": …, "arguments": {…}}`; `parameters` is the same. Without arguments there are none. */
export function callFromValue(value: Json, shape: Shape): Call {
  if (!isJsonObject(value)) return badCall(shape, 'it is not one JSON object');
  const { name, id } = value;
  if (typeof name !== 'string' || name.trim() === '') return badCall(shape, 'its "name" is not the name of a tool');
  const unknown = Object.keys(value).find((key) => !KNOWN.has(key));
  if (unknown !== undefined) {
    return badCall(shape, `${JSON.stringify(unknown)} does not belong beside "name" and "arguments"`, name);
  }
  const given = NAMES.filter((key) => Object.hasOwn(value, key));
  if (given.length === 2) return badCall(shape, 'it has both "arguments" and "parameters"', name);
  return namedCall(name, given.length === 0 ? {} : value[given[0]!]!, shape, typeof id === 'string' ? id : null);
}

/** Arguments may also be a string that holds the JSON object, as OpenAI's API has them. */
export function namedCall(name: string, args: Json, shape: Shape, id: string | null = null): Call {
  const plain = typeof args === 'string' ? (wholeJson(args)?.value ?? args) : args;
  if (!isJsonObject(plain)) return badCall(shape, 'its arguments are not a JSON object', name);
  return { name: name.trim(), arguments: plain, id, raw: shape.raw };
}
