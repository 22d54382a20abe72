// Between a model and an OpenEnv server: an answer becomes an action by the action's schema, an observation becomes text.
// Pure, and in bounded time: answers and observations are hostile.

import type { Json, JsonObject } from '../../domain/json.ts';
import { strictJson } from '../../domain/json-text.ts';
import { isStorable } from './reply.ts';

export type Action = { readonly action: JsonObject } | { readonly fault: string };

interface Field {
  readonly name: string;
  readonly type: string | undefined;
  /** The texts that it allows; empty: all. */
  readonly texts: readonly string[];
}

export interface ActionForm {
  /** The one field that takes an answer; undefined: an action is a JSON object of several. */
  readonly field: Field | undefined;
  readonly fields: ReadonlySet<string>;
  /** For the model; empty where any text is an action. */
  readonly says: string;
}

const isObject = (value: unknown): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** `named`: the field that the user chose. Undefined: it is not in the schema, or is no single field. */
export function actionForm(schema: Json, named: string | undefined): ActionForm | undefined {
  const { properties, required } = isObject(schema) ? schema : {};
  const all = isObject(properties) ? properties : {};
  const names = Object.keys(all).filter((name) => name !== 'metadata');
  const needed = (Array.isArray(required) ? required : []).filter((name) => typeof name === 'string');
  const [only, ...more] = needed.length > 0 ? needed : names;
  const chosen = named ?? (more.length === 0 ? only : undefined);
  if (named !== undefined && !Object.hasOwn(all, named)) return undefined;
  const fields = new Set(Object.keys(all));
  if (chosen === undefined || !Object.hasOwn(all, chosen)) {
    const shown = Object.fromEntries(names.map((name) => [name, all[name]!]));
    return { field: undefined, fields, says: `Reply with one JSON object: ${JSON.stringify(shown)}` };
  }
  const field = fieldOf(chosen, all[chosen]!, schema as JsonObject);
  return { field, fields, says: wanted(field) };
}

function fieldOf(name: string, given: Json, root: JsonObject): Field {
  const { $ref: reference, allOf } = isObject(given) ? given : {};
  const [first] = Array.isArray(allOf) ? (allOf as readonly Json[]) : [];
  const to = reference ?? (isObject(first) ? first['$ref'] : undefined);
  const defined = isObject(root['$defs']) ? root['$defs'] : {};
  const target = typeof to === 'string' ? defined[to.replace('#/$defs/', '')] : given;
  const { type, enum: values, const: only } = isObject(target) ? target : {};
  const texts = (Array.isArray(values) ? values : [only]).filter((one) => typeof one === 'string');
  return { name, type: typeof type === 'string' ? type : undefined, texts };
}

function wanted({ type, texts }: Field): string {
  if (texts.length > 0) return `Reply with one of: ${texts.join(', ')}.`;
  if (type === 'integer' || type === 'number') return `Reply with ${type === 'integer' ? 'an integer' : 'a number'}.`;
  if (type === 'boolean') return 'Reply with true or false.';
  return type === undefined || type === 'string'
    ? ''
    : `Reply with JSON: ${type === 'array' ? 'a list' : 'an object'}.`;
}

/** The action of an answer, without the thinking before it. */
export function actionOf(answer: string, form: ActionForm): Action {
  const said = answer.split('</think>').at(-1)!.trim();
  const { field, fields, says } = form;
  const whole = objectIn(said, field === undefined);
  if (whole && (field === undefined || Object.keys(whole).every((key) => fields.has(key)))) return { action: whole };
  if (!field) return { fault: `Your reply holds no JSON object. ${says}` };
  const value = valueOf(said, field);
  return value === undefined ? { fault: `Your reply is no action. ${says}` } : { action: { [field.name]: value } };
}

function valueOf(said: string, { type, texts }: Field): Json | undefined {
  if (texts.length > 0) return lastOf(said, texts);
  if (type === 'boolean') {
    const last = said.match(/\b(?:true|false)\b/gi)?.at(-1);
    return last && last.toLowerCase() === 'true';
  }
  if (type === 'integer' || type === 'number') return lastNumber(said, type === 'integer');
  if (type === 'array' || type === 'object') return jsonIn(said).find((value) => isOf(value, type));
  return said;
}

const isOf = (value: Json, type: string): boolean => (type === 'array' ? Array.isArray(value) : isObject(value));

function lastNumber(said: string, whole: boolean): number | undefined {
  const numbers = said.match(/-?\d+(?:\.\d+)?(?:e[+-]?\d{1,3})?/gi) ?? [];
  const found = numbers.map(Number).filter((one) => Number.isFinite(one) && (!whole || Number.isSafeInteger(one)));
  return found.at(-1);
}

/** The text that is said last, as the schema writes it. */
function lastOf(said: string, texts: readonly string[]): string | undefined {
  const lower = said.toLowerCase();
  const at = texts.map((text) => ({ text, at: lastWord(lower, text.toLowerCase()) })).filter((one) => one.at >= 0);
  // Of two that begin at the same place the longer one was said.
  return at.toSorted((a, b) => a.at - b.at || a.text.length - b.text.length).at(-1)?.text;
}

function lastWord(text: string, word: string): number {
  const inWord = (char: string | undefined) => char !== undefined && /[\p{L}\p{N}_]/u.test(char);
  for (let at = text.lastIndexOf(word); at >= 0; at = at === 0 ? -1 : text.lastIndexOf(word, at - 1)) {
    if (!inWord(text[at - 1]) && !inWord(text[at + word.length])) return at;
  }
  return -1;
}

/** `anywhere`: also behind other words. */
function objectIn(said: string, anywhere: boolean): JsonObject | undefined {
  return jsonIn(said, anywhere).find(isObject);
}

/** The whole text as JSON, or that of its last fence, or from its first bracket to its last. */
function jsonIn(said: string, anywhere = true): Json[] {
  const fence = said
    .split('```')
    .at(-2)
    ?.replace(/^\w*\n/, '');
  const open = said.search(/[[{]/);
  const close = Math.max(said.lastIndexOf('}'), said.lastIndexOf(']'));
  const inside = open >= 0 && close > open ? said.slice(open, close + 1) : undefined;
  const isFenced = said.startsWith('```') && said.endsWith('```');
  const tried = [said, ...(anywhere || isFenced ? [fence] : []), ...(anywhere ? [inside] : [])];
  return tried.flatMap((text) => (text === undefined ? [] : parsed(text)));
}

function parsed(text: string): Json[] {
  try {
    const value = strictJson(text) as Json;
    return isStorable(value) ? [value] : [];
  } catch {
    return [];
  }
}

/** The text of an observation: of the fields that the user chose, else of all that are not empty. */
export function observationText(observation: JsonObject, show: readonly string[] | undefined): string {
  const isShown = (name: string, value: Json) => (show ? show.includes(name) : name !== 'metadata' && !isEmpty(value));
  const fields = Object.entries(observation).filter(([name, value]) => isShown(name, value));
  if (show) {
    const byName = Object.fromEntries(fields);
    return show.flatMap((name) => (isEmpty(byName[name]) ? [] : [textOf(byName[name]!)])).join('\n\n');
  }
  const [only, ...more] = fields;
  if (only && more.length === 0) return textOf(only[1]);
  return fields.length === 0 ? '' : JSON.stringify(Object.fromEntries(fields));
}

const isEmpty = (value: Json | undefined): boolean =>
  value === undefined ||
  value === null ||
  value === '' ||
  (typeof value === 'object' && Object.keys(value).length === 0);

/** A list of messages, as many environments have it, is shown by their contents. */
function textOf(value: Json): string {
  if (typeof value === 'string') return value;
  const contents = (Array.isArray(value) ? (value as readonly Json[]) : []).map((one) =>
    isObject(one) && typeof one['content'] === 'string' ? one['content'] : undefined,
  );
  const isMessages = contents.length > 0 && contents.every((content) => content !== undefined);
  return isMessages ? contents.join('\n') : JSON.stringify(value);
}
