// The interface of a tool format: the calls that it reads out of an answer, and the tools that it may know of. A format is pure and takes linear time,
// whatever the text; it never throws. Whether a tool of that name exists, and whether its arguments satisfy its
// schema, is for those who run the call.

import type { Json, JsonObject } from '../../domain/json.ts';
import type { Message } from '../../domain/query.ts';

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
  /** In the order in which they were written. */
  readonly calls: readonly Call[];
}

/** A message as chat templates take it, in the shape of OpenAI's API. */
export interface ChatMessage extends Message {
  /** Of a result: the tool, and the id of its call. */
  readonly name?: string;
  readonly tool_call_id?: string;
  readonly tool_calls?: readonly object[];
}

export interface ToolSchema {
  readonly name: string;
  readonly description: string;
  /** JSON schema of the arguments. */
  readonly parameters: Json;
}

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
   * not. If the generation prompt has opened the thinking, `openedThinking(prompt)` goes before it.
   */
  parse(text: string, tools: readonly ToolSchema[]): ParsedReply;
  /** The message that the template shows as this call's result. */
  resultMessage(call: Call, output: string): ChatMessage;
}

export function isBad(call: Call): call is BadCall {
  return 'error' in call;
}
