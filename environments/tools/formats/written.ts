// Calls whose arguments are pairs of tags around plain text, as Qwen3-Coder and GLM write them. A value may hold the closing
// tag: the value ends at the first one behind which only a tag follows that can follow a value. It is typed by the tool's
// schema: a text that the schema's type does not allow is a fault and never a value of another type. Limits and required
// keys of the schema are not looked at.

import type { Json, JsonObject } from '../../../domain/text/json.ts';
import { skipSpace, isJsonObject, readJsonAt, wholeJson } from './json.ts';
import type { ToolSchema } from './reply.ts';
import type { Find } from './scan.ts';
import { badArgument } from '../../../domain/errors/refusals.ts';

export interface WrittenArgument {
  readonly name: string;
  readonly text: string;
}

type Value =
  { readonly ok: true; readonly text: string; readonly end: number } | { readonly ok: false; readonly error: string };

export interface Tags {
  readonly close: string;
  /** Opens the next argument. */
  readonly next: string;
  /** Closes the call. */
  readonly last: string;
}

export type ValueReader = (from: number) => Value;

/** Reads the value that begins at `from`; `end` is behind its closing tag and the white space there. */
export function valueReader(text: string, { close, next, last }: Tags, find: Find): ValueReader {
  const followed = (at: number) => [next, last].some((tag) => text.startsWith(tag, skipSpace(text, at + close.length)));
  // Whether a closing tag ends a value does not depend on where the value begins: each is looked at once.
  let known = { from: 0, at: -2 };
  function ending(from: number): number {
    if (known.at !== -2 && from >= known.from && (known.at < 0 || from <= known.at)) return known.at;
    let at = find(close, from);
    while (at >= 0 && !followed(at)) at = find(close, at + 1);
    known = { from, at };
    return at;
  }
  return (from) => {
    const [first, opens, at] = [find(close, from), find(next, from), ending(from)];
    if (first < 0) return { ok: false, error: `${close} is missing` };
    // Either a closing tag is missing or the value holds the tag: one cannot be told from the other.
    if (opens >= 0 && opens < first) return { ok: false, error: `${close} is missing before ${next}` };
    if (at < 0 || (opens >= 0 && opens < at)) {
      return { ok: false, error: `neither ${next} nor ${last} follows ${close}` };
    }
    return { ok: true, text: text.slice(from, at), end: skipSpace(text, at + close.length) };
  };
}

/** The arguments typed by the tool's schema, or a sentence. */
export function typedArguments(
  written: readonly WrittenArgument[],
  tool: string,
  tools: readonly ToolSchema[],
): { readonly [name: string]: Json } | string {
  const typesOf = argumentSchemas(tools, tool);
  const values = new Map<string, Json>();
  for (const { name, text } of written) {
    if (values.has(name)) return `the argument ${JSON.stringify(name)} stands twice`;
    const value = typeText(text, name, typesOf(name));
    if (!value.ok) return value.error;
    values.set(name, value.value);
  }
  // Own properties also for a name such as __proto__.
  return Object.fromEntries(values);
}

type Typed = { readonly ok: true; readonly value: Json } | { readonly ok: false; readonly error: string };

/** Allowed types in the order in which a text is tried as each. A string can be any text, and comes last. */
const TYPES = ['null', 'integer', 'number', 'boolean', 'object', 'array', 'string'] as const;
type Type = (typeof TYPES)[number];
const MAX_REFERENCES = 16;

/** The schemas of a tool's arguments; an unknown tool or argument has none. */
function argumentSchemas(tools: readonly ToolSchema[], name: string): (argument: string) => readonly Type[] {
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
function typeText(text: string, argument: string, types: readonly Type[]): Typed {
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
