// The interface of a tool format, which parses the calls in an answer, and the sentences that all formats share. A format is
// pure, takes linear time for any text, and never throws. Whether a tool of that name exists, and whether its arguments
// satisfy its schema, is checked where the call is run.

import type { JsonObject, Json } from '../../../domain/text/json.ts';
import type { Message } from '../../../domain/query/query.ts';
import type { ToolSchema } from '../../../domain/tools/tool.ts';
import { notInForm } from '../../../domain/errors/refusals.ts';
import { isJsonObject, wholeJson } from './json.ts';

export interface ParsedCall {
  readonly name: string;
  readonly arguments: JsonObject;
  /** The model's own id; for Mistral's formats, which cannot do without one, one made from the call. */
  readonly id: string | null;
  /** The text of the call in the answer. */
  readonly raw: string;
}

export interface BadCall {
  readonly raw: string;
  /** A sentence for the model: what is wrong, and how a call is written. */
  readonly error: string;
  /** The tool's name, if it can be read. */
  readonly name?: string;
}

export type Call = ParsedCall | BadCall;

export interface ParsedReply {
  /** The text around thinking and calls, without the stop token and without white space at its ends. */
  readonly content: string;
  readonly thinking: string;
  /** Calls, in the order in which they were written. */
  readonly calls: readonly Call[];
}

export type { ToolSchema };

export interface ToolFormat {
  readonly name: string;
  /** Texts of which one opens each call. An answer without the id of an opening that is one token holds no call by it. */
  readonly openings: readonly string[];
  /** Tokens that may end an answer, as text. */
  readonly stops: readonly string[];
  /** The stop that begins the results in the template, if one does: after another stop it is still to come. */
  readonly opensResults?: string;
  /**
   * `text`: the answer decoded with its special tokens, from the first sampled token on, its stop token included or
   * not. If the generation prompt has opened the thinking, `openedThought(prompt)` goes before it.
   */
  parse(text: string, tools: readonly ToolSchema[]): ParsedReply;
  /** The message that the template shows as this call's result. */
  resultMessage(call: Call, output: string): Message;
}

export function isBad(call: Call): call is BadCall {
  return 'error' in call;
}

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

const CODE_TOOLS = ['python', 'code_interpreter', 'ipython'];

/** Its name and the argument that takes the code: the first required one, else the first, else `code`. */
export function codeTool(tools: readonly ToolSchema[]): { readonly name: string; readonly argument: string } | null {
  const tool = tools.find(({ name }) => CODE_TOOLS.includes(name));
  if (!tool) return null;
  const schema = isJsonObject(tool.parameters) ? tool.parameters : {};
  const { required, properties = null } = schema;
  const first: unknown = Array.isArray(required) ? required[0] : undefined;
  const other = isJsonObject(properties) ? Object.keys(properties)[0] : undefined;
  return { name: tool.name, argument: typeof first === 'string' ? first : (other ?? 'code') };
}
