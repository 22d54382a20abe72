// How a family of models writes the calls of tools, and takes their results: the interface of the formats, and their
// registry. A format is a pure parser of hostile text, in bounded time.

import type { Json, JsonObject } from '../../domain/json.ts';
import type { Message } from '../../domain/query.ts';

export type JsonValue = Json;

/** A call that can be read. `arguments` is an object. */
export interface ParsedCall {
  readonly name: string;
  readonly arguments: JsonValue;
  readonly id: string | null;
  /** The whole call, as written. */
  readonly raw: string;
}

/** A call that cannot be read. `error`: a plain sentence for the model. */
export interface BadCall {
  readonly raw: string;
  readonly error: string;
}

export interface ParsedReply {
  readonly content: string;
  readonly thinking: string;
  readonly calls: readonly (ParsedCall | BadCall)[];
}

export interface ToolSchema {
  readonly name: string;
  readonly description: string;
  /** JSON schema. */
  readonly parameters: JsonValue;
}

export interface ToolFormat {
  readonly name: string;
  /** `text`: the reply with its special tokens. */
  parse(text: string, tools: readonly ToolSchema[]): ParsedReply;
  /** The message that is appended to the conversation, in the template's own shape. */
  resultMessage(call: ParsedCall | BadCall, output: string): Message;
}

// Hermes and Qwen: `<tool_call>\n{"name": …, "arguments": {…}}\n</tool_call>`, repeated.
const OPEN = '<tool_call>';
const CLOSE = '</tool_call>';
const THOUGHT = '</think>';

const hermes: ToolFormat = {
  name: 'hermes',
  parse(text) {
    const thought = text.lastIndexOf(THOUGHT);
    const thinking = thought < 0 ? '' : text.slice(0, thought + THOUGHT.length);
    const said = text.slice(thinking.length);
    const calls: (ParsedCall | BadCall)[] = [];
    let content = '';
    let at = 0;
    for (let open = said.indexOf(OPEN); open >= 0; open = said.indexOf(OPEN, at)) {
      content += said.slice(at, open);
      const close = said.indexOf(CLOSE, open);
      at = close < 0 ? said.length : close + CLOSE.length;
      const raw = said.slice(open, at);
      if (close < 0) calls.push({ raw, error: `The call is not closed: ${CLOSE} is missing.` });
      else calls.push(callOf(raw));
    }
    return { content: content + said.slice(at), thinking, calls };
  },
  resultMessage: (_, output) => ({ role: 'tool', content: output }),
};

function callOf(raw: string): ParsedCall | BadCall {
  let value: unknown;
  try {
    value = JSON.parse(raw.slice(OPEN.length, -CLOSE.length));
  } catch (error) {
    return { raw, error: `The call is not JSON: ${error instanceof Error ? error.message : String(error)}` };
  }
  const { name, arguments: given } = (value ?? {}) as { readonly name?: unknown; readonly arguments?: unknown };
  if (typeof name !== 'string') return { raw, error: 'The call has no "name", which is the name of a tool.' };
  if (typeof given !== 'object' || given === null || Array.isArray(given))
    return { raw, error: 'The call has no "arguments", which are a JSON object.' };
  return { name, arguments: given as JsonObject, id: null, raw };
}

const FORMATS: readonly ToolFormat[] = [hermes];

export const toolFormatNames: readonly string[] = FORMATS.map(({ name }) => name);

export function toolFormatNamed(name: string): ToolFormat | null {
  return FORMATS.find((format) => format.name === name) ?? null;
}

/** The format that a chat template uses; null if it is none of those known. */
export function detectToolFormat(chatTemplate: string): string | null {
  return chatTemplate.includes('<tool_call>') ? 'hermes' : null;
}
