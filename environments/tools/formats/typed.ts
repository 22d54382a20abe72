// Values that a format writes as plain text, typed by the tool's schema. A text that the schema's type does not allow is
// a fault and never a value of another type. Limits and required keys of the schema are not looked at.

import type { Json, JsonObject } from '../../../domain/text/json.ts';
import { badArgument } from '../../../domain/errors/refusals.ts';
import { isJsonObject, readJsonAt, skipSpace, wholeJson } from './json.ts';
import type { ToolSchema } from './reply.ts';

export type Typed = { readonly ok: true; readonly value: Json } | { readonly ok: false; readonly error: string };

/** Allowed types in the order in which a text is tried as each. A string can be any text, and comes last. */
const TYPES = ['null', 'integer', 'number', 'boolean', 'object', 'array', 'string'] as const;
type Type = (typeof TYPES)[number];
const MAX_REFERENCES = 16;

/** The schemas of a tool's arguments; an unknown tool or argument has none. */
export function argumentSchemas(tools: readonly ToolSchema[], name: string): (argument: string) => readonly Type[] {
  const root = tools.find((tool) => tool.name === name)?.parameters ?? null;
  const properties = root !== null && isJsonObject(root) ? root['properties'] : undefined;
  return (argument) => {
    const known = properties !== undefined && isJsonObject(properties) && Object.hasOwn(properties, argument);
    if (!known) return [];
    const types = new Set<Type>();
    collect(properties[argument]!, root as JsonObject, types, { left: MAX_REFERENCES });
    return TYPES.filter((type) => types.has(type));
  };
}

/** `types`: none means that the schema leaves it open; then it is JSON if it is whole JSON, and else a string. */
export function typeText(text: string, argument: string, types: readonly Type[]): Typed {
  if (types.length === 0) return { ok: true, value: wholeJson(text)?.value ?? text };
  for (const type of types) {
    const value = OF_TYPE[type](text);
    if (value !== undefined) return { ok: true, value };
  }
  const wanted = types.map((type) => SAYS[type]).join(' or ');
  const json = types.some((type) => type === 'object' || type === 'array') ? jsonFault(text) : '';
  return { ok: false, error: badArgument(argument, `${wanted}${json}`) };
}

const OF_TYPE: Readonly<Record<Type, (text: string) => Json | undefined>> = {
  null: (text) => (/^(?:null|None)$/.test(text.trim()) ? null : undefined),
  integer: (text) => ofJson(text, Number.isInteger),
  number: (text) => ofJson(text, (value) => typeof value === 'number'),
  // True and False: templates write booleans as Python does.
  boolean: (text) => BOOLEANS.get(text.trim().toLowerCase()),
  object: (text) => ofJson(text, isJsonObject),
  array: (text) => ofJson(text, Array.isArray),
  string: (text) => text,
};
const BOOLEANS: ReadonlyMap<string, boolean> = new Map([
  ['true', true],
  ['false', false],
]);
const SAYS: Readonly<Record<Type, string>> = {
  null: 'null',
  integer: 'an integer',
  number: 'a number',
  boolean: 'true or false',
  object: 'a JSON object',
  array: 'a JSON array',
  string: 'text',
};

function ofJson(text: string, is: (value: Json) => boolean): Json | undefined {
  const whole = wholeJson(text);
  return whole !== null && is(whole.value) ? whole.value : undefined;
}

function jsonFault(text: string): string {
  const read = readJsonAt(text, 0);
  if (!read.ok) return `: ${read.error}`;
  return skipSpace(text, read.end) < text.length ? ': text follows the JSON' : '';
}

/** The types that a schema allows, over its references and alternatives. */
function collect(schema: Json, root: JsonObject, types: Set<Type>, budget: { left: number }): void {
  if (!isJsonObject(schema)) return;
  const { type, enum: values, const: only, $ref: reference } = schema;
  for (const name of Array.isArray(type) ? type : [type]) {
    if (TYPES.some((known) => known === name)) types.add(name as Type);
  }
  if (type === undefined) {
    for (const value of [...(Array.isArray(values) ? values : []), ...(only === undefined ? [] : [only])]) {
      types.add(typeOf(value));
    }
  }
  for (const alternatives of [schema['anyOf'], schema['oneOf'], schema['allOf']]) {
    if (!Array.isArray(alternatives)) continue;
    for (const one of alternatives as readonly Json[]) collect(one, root, types, budget);
  }
  if (typeof reference === 'string' && budget.left-- > 0) {
    const target = pointed(root, reference);
    if (target !== undefined) collect(target, root, types, budget);
  }
}

function typeOf(value: Json): Type {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'array';
  if (typeof value === 'number') return Number.isInteger(value) ? 'integer' : 'number';
  return typeof value as 'boolean' | 'string' | 'object';
}

/** `#/$defs/Name`, inside the tool's own schema. */
function pointed(root: JsonObject, reference: string): Json | undefined {
  if (!reference.startsWith('#/')) return undefined;
  let at: Json | undefined = root;
  for (const part of reference.slice(2).split('/')) {
    const name = part.replaceAll('~1', '/').replaceAll('~0', '~');
    at = at !== undefined && isJsonObject(at) && Object.hasOwn(at, name) ? at[name] : undefined;
  }
  return at;
}
