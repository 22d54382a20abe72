// JSON schemas of tools: whether one is sound, and whether the arguments of a call fit it. Zod validates; the walk here
// finds what Zod takes in silence. Arguments are hostile: their depth is bounded before anything reads them.

import { z } from 'zod';
import type { Json, JsonObject } from '../../domain/text/json.ts';
import { short } from '../../domain/text/foreign-text.ts';
import { deepestIssue } from '../own/reply.ts';

const TYPES: readonly unknown[] = ['string', 'number', 'integer', 'boolean', 'object', 'array', 'null'];
const MAX_DEPTH = 64;
const NUMBERS = ['minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum', 'multipleOf'];
const COUNTS = ['minLength', 'maxLength', 'minItems', 'maxItems', 'minProperties', 'maxProperties'];
const TEXTS = ['description', 'title', 'format', '$ref'];
const SCHEMAS = ['items', 'not', 'if', 'then', 'else', 'contains', 'propertyNames', 'additionalProperties'];
const LISTS = ['anyOf', 'oneOf', 'allOf', 'prefixItems'];
const MAPS = ['properties', '$defs', 'definitions', 'patternProperties'];

/** The fault of a schema for the arguments of a tool, with its place; undefined if there is none. */
export function schemaFlaw(schema: unknown): string | undefined {
  const flaw = flawAt('parameters', schema, 0);
  if (flaw !== undefined) return flaw;
  const { type = 'object' } = schema as JsonObject;
  if (type !== 'object') return `parameters.type is ${shown(type)}, and arguments are an object`;
  try {
    validatorOf(schema as JsonObject);
    return undefined;
  } catch (error) {
    return `parameters cannot be used: ${short(error instanceof Error ? error.message : String(error), 200)}`;
  }
}

/** The reason why these arguments do not fit; undefined if they do. */
export function argumentsFlaw(schema: JsonObject, given: Json): string | undefined {
  if (isTooDeep(given)) return `the arguments are nested deeper than ${MAX_DEPTH} levels`;
  const result = validatorOf(schema).safeParse(given);
  if (result.success) return undefined;
  const { path: places, message } = deepestIssue(result.error);
  const path = places.map(String).join('.');
  const said = short(message, 200);
  return path === '' ? `the arguments do not fit: ${said}` : `\`${short(path, 80)}\` does not fit: ${said}`;
}

const validators = new WeakMap<JsonObject, z.ZodType>();

function validatorOf(schema: JsonObject): z.ZodType {
  const known = validators.get(schema);
  if (known) return known;
  const made = z.fromJSONSchema({ type: 'object', ...schema } as Parameters<typeof z.fromJSONSchema>[0]);
  validators.set(schema, made);
  return made;
}

function flawAt(place: string, schema: unknown, depth: number): string | undefined {
  if (typeof schema === 'boolean' && depth > 0) return undefined;
  if (!isObject(schema)) return `${place} is ${shown(schema)}, and no JSON schema, which is an object`;
  if (depth > MAX_DEPTH) return `${place} is nested deeper than ${MAX_DEPTH} levels`;
  const { type, required, enum: values, pattern } = schema;
  const types = Array.isArray(type) ? type : [type];
  if (type !== undefined && (types.length === 0 || !types.every((one) => TYPES.includes(one))))
    return `${place}.type is ${shown(type)}, and none of ${TYPES.join(', ')}`;
  if (required !== undefined && !(Array.isArray(required) && required.every((name) => typeof name === 'string')))
    return `${place}.required is ${shown(required)}, and no list of names`;
  const { properties } = schema;
  const alien =
    Array.isArray(required) &&
    isObject(properties) &&
    required.find((name) => !Object.hasOwn(properties, name as string));
  if (typeof alien === 'string' && schema['additionalProperties'] === false)
    return `${place}.required names ${shown(alien)}, which is no property`;
  if (values !== undefined && !(Array.isArray(values) && values.length > 0))
    return `${place}.enum is ${shown(values)}, and no list of values`;
  if (pattern !== undefined && !isPattern(pattern))
    return `${place}.pattern is ${shown(pattern)}, and no regular expression`;
  for (const name of NUMBERS)
    if (schema[name] !== undefined && typeof schema[name] !== 'number')
      return `${place}.${name} is ${shown(schema[name])}, and no number`;
  for (const name of COUNTS) {
    const value = schema[name];
    if (value !== undefined && !(Number.isSafeInteger(value) && (value as number) >= 0))
      return `${place}.${name} is ${shown(value)}, and no whole number`;
  }
  for (const name of TEXTS)
    if (schema[name] !== undefined && typeof schema[name] !== 'string')
      return `${place}.${name} is ${shown(schema[name])}, and no text`;
  for (const name of MAPS) {
    const map = schema[name];
    if (map === undefined) continue;
    if (!isObject(map)) return `${place}.${name} is ${shown(map)}, and no object of schemas`;
    for (const [key, inner] of Object.entries(map)) {
      const flaw = flawAt(`${place}.${name}.${short(key, 40)}`, inner, depth + 1);
      if (flaw !== undefined) return flaw;
    }
  }
  for (const name of LISTS) {
    const list = schema[name];
    if (list === undefined) continue;
    if (!Array.isArray(list) || list.length === 0) return `${place}.${name} is ${shown(list)}, and no list of schemas`;
    for (const [i, inner] of list.entries()) {
      const flaw = flawAt(`${place}.${name}.${i}`, inner, depth + 1);
      if (flaw !== undefined) return flaw;
    }
  }
  for (const name of SCHEMAS) {
    const inner = schema[name];
    const flaw = inner === undefined || Array.isArray(inner) ? undefined : flawAt(`${place}.${name}`, inner, depth + 1);
    if (flaw !== undefined) return flaw;
  }
  return undefined;
}

function isPattern(value: unknown): boolean {
  try {
    return typeof value === 'string' && new RegExp(value, 'u') instanceof RegExp;
  } catch {
    return false;
  }
}

/** Written with a stack of its own: what is nested deep must not end the worker. */
export function isTooDeep(value: unknown): boolean {
  const open = [{ value, depth: 0 }];
  for (let next = open.pop(); next; next = open.pop()) {
    if (typeof next.value !== 'object' || next.value === null) continue;
    if (next.depth >= MAX_DEPTH) return true;
    for (const item of Object.values(next.value)) open.push({ value: item as unknown, depth: next.depth + 1 });
  }
  return false;
}

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
const shown = (value: unknown): string => short(JSON.stringify(value) ?? String(value), 60);
