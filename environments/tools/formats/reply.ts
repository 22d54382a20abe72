// The interface of a tool format, which parses the calls in an answer. A format is pure, takes linear time for any text,
// and never throws. Whether a tool of that name exists, and whether its arguments satisfy its schema, is checked where
// the call is run.

import type { JsonObject } from '../../../domain/text/json.ts';
import type { Message } from '../../../domain/query/query.ts';
import type { ToolSchema } from '../../../domain/tools/tool.ts';

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
