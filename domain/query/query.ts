// A query: one accepted problem of the data set. Contains everything that a rollout needs to be played and
// judged, and no settings.

import {
  BOOLEAN,
  COUNT,
  eitherOf,
  LIST,
  listOf,
  mapOf,
  maybe,
  NAME,
  OBJECT,
  objectOf,
  oneOf,
  TEXT,
  type TypeOf,
} from '../schema/fields.ts';
import { firstWords } from '../text/foreign-text.ts';

export const TASKS = ['math', 'stem', 'code'] as const;
/** `rules`: the answer is to follow instructions. `environment`: the query names an environment of its run, which alone knows its row. */
export type Task = (typeof TASKS)[number] | 'rules' | 'environment';

/** AReaL's task index, `task_ids` of a sample: the place in [math, code, rlhf, stem]. */
export const TASK_INDEX: Readonly<Partial<Record<Task, number>>> = { math: 0, code: 1, stem: 3 };

const MESSAGE = objectOf({
  role: TEXT,
  content: TEXT,
  /** The tool and the id of the call that a result is of, for templates that show them. */
  name: maybe(TEXT),
  tool_call_id: maybe(TEXT),
});
export type Message = TypeOf<typeof MESSAGE>;
export const MESSAGES = listOf(MESSAGE);

/** A message as a chat template takes it. */
export interface ChatMessage extends Message {
  readonly tool_calls?: readonly object[];
}

/** `text` is tokenised without a template; `messages` go through the model's chat template. */
export const PROMPT = eitherOf(
  objectOf({ kind: oneOf('text'), text: TEXT }),
  objectOf({ kind: oneOf('messages'), messages: MESSAGES }),
);
export type Prompt = TypeOf<typeof PROMPT>;

/** The words of a run around its rows: a system message, and a template in Jinja that takes the place of their questions. */
export const WORDING = objectOf({
  system: maybe(NAME),
  template: maybe(NAME),
  /** The name that each field has in the data set. */
  fields: maybe(mapOf(NAME)),
  /** The rows whose field holds one of these days, in ISO's form: both ends count. The others are left out. */
  dates: maybe(objectOf({ field: NAME, from: maybe(NAME), until: maybe(NAME) })),
  /** Each row is a question with choices: in the row's own order, or in that of a seed. */
  choices: maybe(eitherOf(oneOf('as-written'), COUNT)),
  /** Instructions are followed loosely. */
  loose: maybe(BOOLEAN),
});
export type Wording = TypeOf<typeof WORDING>;

const INPUT_OUTPUT = objectOf({ inputs: LIST, outputs: LIST, fn_name: maybe(TEXT) });
export type InputOutput = TypeOf<typeof INPUT_OUTPUT>;

const TESTS = objectOf({
  /** Tests of an answer's program, in Python: run beside it, never in its process. */
  source: TEXT,
  /** What runs before them: imports, the helpers of a prompt. */
  before: TEXT,
  /** The names in them that are the answer's. */
  names: listOf(TEXT),
  /** An answer may be the body that continues this text: the head of the function of the first name. */
  head: maybe(TEXT),
});
export type Tests = TypeOf<typeof TESTS>;

export const QUERY = objectOf({
  /** Unique in its data set; any text without control characters or `..` path segments. */
  queryId: NAME,
  prompt: PROMPT,
  task: oneOf(...TASKS, 'rules', 'environment'),
  /** Any of them is right. Each may be a full worked text. Empty for `code`, `rules`, `environment`, and an agent that judges itself. */
  solutions: listOf(TEXT),
  inputOutput: maybe(INPUT_OUTPUT),
  tests: maybe(TESTS),
  /** What an answer must follow, with the task `rules`; `domain/query/instruction.ts` has the names. */
  instructions: maybe(listOf(objectOf({ name: NAME, args: OBJECT }), 1)),
  /** They may be followed without the first line, the last one, or asterisks. */
  loose: maybe(BOOLEAN),
  /** Variables of the chat template for this query, before those of its run. */
  chatTemplateKwargs: maybe(OBJECT),
  /** The row's own question, its first words, where a prompt template stands around it. */
  title: maybe(TEXT),
  /** Its row's `category`, `subject`, `level` and the like: lists and statistics group by them. */
  categories: maybe(mapOf(TEXT)),
  /** The environment of the run that answers for this query; absent: the judge of its task. */
  environment: maybe(NAME),
  /** The whole row, with `environment` and for an agent's program. */
  row: maybe(OBJECT),
});
export type Query = TypeOf<typeof QUERY>;

/** The user's question: the last user message, or the text. */
export function questionOf(query: Pick<Query, 'prompt'>): string {
  if (query.prompt.kind === 'text') return query.prompt.text;
  const { messages } = query.prompt;
  return messages.findLast((m) => m.role === 'user')?.content ?? messages.at(-1)?.content ?? '';
}

export const titleOf = (query: Pick<Query, 'prompt' | 'title'>, maxChars?: number): string =>
  firstWords(query.title ?? questionOf(query), maxChars);
