// What the function of an agent is given, and asks.

import type { Json, JsonObject } from '../domain/text/json.ts';
import type { ToolSchema } from '../domain/tools/tool.ts';

export interface Message {
  readonly role: 'system' | 'user' | 'assistant' | 'tool';
  readonly content: string;
  /** The calls of tools in a message of the assistant. */
  readonly calls?: readonly { readonly id: string; readonly name: string; readonly arguments: Json }[];
  /** The id of the call, in a message with its result. */
  readonly callId?: string;
}

export interface Question {
  readonly messages: readonly Message[];
  /** The model may call them; the function runs what it called. */
  readonly tools?: readonly ToolSchema[];
  /** The smaller of this and the run's limit counts. */
  readonly maxTokens?: number;
  readonly stop?: readonly string[];
  /** The form that the reply is asked to have: a JSON schema, or true: any object. `--structured` says how a run takes it. */
  readonly form?: JsonObject | true;
  /** The tool that must be called; true: any; false: none may be. */
  readonly call?: string | boolean;
  /** Your name for such calls: rows have it, and `--train-calls` chooses by it. */
  readonly tag?: string;
  /** False: the call is in the contexts of those behind it, and is not trained. */
  readonly train?: boolean;
}

export interface Reply {
  /** The call's id. */
  readonly id: string;
  readonly text: string;
  /** Empty if the model gave none. */
  readonly reasoning: string;
  readonly calls: NonNullable<Message['calls']>;
  /** `length`: cut at the limit. */
  readonly finish: 'stop' | 'length';
  /** Tokens; `cached` are of `input`, `reasoning` of `output`. */
  readonly usage: Readonly<Record<'input' | 'cached' | 'output' | 'reasoning', number>>;
  /** The reply as a message: sent back in front of the next one, it lets the next context extend this one's own tokens. */
  readonly message: Message;
}

export interface Task {
  /** The row of the data set. */
  readonly row: JsonObject;
  /** The same for each replay. */
  readonly seed: number;
  /** The idempotency key of side effects: the same for every attempt of this rollout, and for no other one. */
  readonly key: string;
  /**
   * One call of the model, which becomes a turn; a text is one message of the user. Several may be asked at once. Rejects if the
   * context has no room for it, and beyond `--max-calls`.
   */
  ask(question: string | readonly Message[] | Question): Promise<Reply>;
  /** Gives one call a reward of its own, beside the rollout's; the last one counts. */
  reward(reply: Pick<Reply, 'id'>, reward: number): void;
}
