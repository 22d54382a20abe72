// A query: one accepted problem of the data set. Contains everything that a rollout needs to be played and
// judged, and no settings.

import type { Json } from '../text/json.ts';

export const TASKS = ['math', 'stem', 'code'] as const;
/** `environment`: the query names an environment of its run, which alone knows its row. */
export type Task = (typeof TASKS)[number] | 'environment';

/** AReaL's task index, `task_ids` of a sample: the place in [math, code, rlhf, stem]. */
export const TASK_INDEX: Readonly<Partial<Record<Task, number>>> = { math: 0, code: 1, stem: 3 };

export interface Message {
  readonly role: string;
  readonly content: string;
  /** Of a tool's result: the tool, and the id of the call, for templates that show them. */
  readonly name?: string;
  readonly tool_call_id?: string;
}

/** A message as a chat template takes it. */
export interface ChatMessage extends Message {
  readonly tool_calls?: readonly object[];
}

/** `text` is tokenised without a template; `messages` go through the model's chat template. */
export type Prompt =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'messages'; readonly messages: readonly Message[] };

export interface InputOutput {
  readonly inputs: readonly unknown[];
  readonly outputs: readonly unknown[];
  readonly fn_name?: string;
}

export interface Query {
  /** Unique in its data set; any text without control characters or `..` path segments. */
  readonly queryId: string;
  readonly prompt: Prompt;
  readonly task: Task;
  /** Any of them is right. Each may be a full worked text. Empty only for `code` and `environment`. */
  readonly solutions: readonly string[];
  readonly inputOutput?: InputOutput;
  /** The environment of the run that answers for this query; absent: the judge of its task. */
  readonly environment?: string;
  /** With `environment`: the whole row. */
  readonly row?: Readonly<Record<string, Json>>;
}

/** The user's question, for titles: the last user message, or the text. */
export function questionOf(query: Pick<Query, 'prompt'>): string {
  if (query.prompt.kind === 'text') return query.prompt.text;
  const { messages } = query.prompt;
  return messages.findLast((m) => m.role === 'user')?.content ?? messages.at(-1)?.content ?? '';
}
