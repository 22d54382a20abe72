// A call of the AI SDK as a question of `ask`, and what of it no call can have, in words.

import type { Json, JsonObject } from '../domain/text/json.ts';
import type { Message, Question } from './agent-task.ts';

/** A part of a message, by structure: the versions of the specification differ in parts that are refused here. */
interface Part {
  readonly type: string;
  readonly text?: string;
  readonly toolCallId?: string;
  readonly toolName?: string;
  readonly input?: unknown;
  readonly output?: { readonly type: string; readonly value?: unknown; readonly reason?: string };
}

/** The options of `doGenerate`, in either version of the specification. */
export interface CallOptions {
  readonly prompt: readonly { readonly role: Message['role']; readonly content: string | readonly object[] }[];
  readonly tools?: readonly {
    readonly type: string;
    readonly name: string;
    readonly description?: string | undefined;
    readonly inputSchema?: object | boolean;
    readonly strict?: boolean;
    readonly inputExamples?: readonly object[];
  }[];
  readonly toolChoice?: { readonly type: 'auto' | 'none' | 'required' | 'tool'; readonly toolName?: string };
  readonly responseFormat?: {
    readonly type: 'text' | 'json';
    readonly schema?: object | boolean;
    readonly name?: string;
    readonly description?: string;
  };
  readonly maxOutputTokens?: number;
  readonly stopSequences?: readonly string[];
  /** `everturn`: `tag` and `train` of the question. */
  readonly providerOptions?: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
  readonly headers?: Readonly<Record<string, string | undefined>>;
  readonly abortSignal?: AbortSignal;
}

/** The run's own. */
const OF_THE_RUN = ['temperature', 'topP', 'topK', 'presencePenalty', 'frequencyPenalty', 'seed'] as const;

/** `left`: a sentence for each part that is left out. Throws TypeError for what is no text. */
export function questionOf(options: CallOptions): { readonly question: Question; readonly left: readonly string[] } {
  const { prompt, maxOutputTokens, stopSequences = [], responseFormat, toolChoice, providerOptions = {} } = options;
  const { everturn: { tag, train } = {}, ...foreign } = providerOptions;
  const given = options as CallOptions & Partial<Record<(typeof OF_THE_RUN)[number], number>>;
  const offered = options.tools ?? [];
  const tools = offered
    .filter(({ type }) => type === 'function')
    .map(({ name, description = '', inputSchema = {} }) => ({
      name,
      description,
      parameters: inputSchema as JsonObject,
    }));
  const call = { auto: undefined, none: false, required: true, tool: toolChoice?.toolName }[toolChoice?.type ?? 'auto'];
  const question = {
    messages: prompt.flatMap(({ role, content }) => messagesOf(role, content)),
    ...(tools.length > 0 && { tools, ...(call !== undefined && { call }) }),
    ...(responseFormat?.type === 'json' && { form: (responseFormat.schema ?? true) as JsonObject | true }),
    ...(maxOutputTokens !== undefined && { maxTokens: maxOutputTokens }),
    ...(stopSequences.length > 0 && { stop: stopSequences }),
    // What is wrong with them, the question says.
    ...(tag !== undefined && { tag: tag as string }),
    ...(train !== undefined && { train: train as boolean }),
  };
  const left = [
    ...OF_THE_RUN.filter((name) => given[name] != null).map((name) => `${name} is left out: it is the run's.`),
    ...offered.flatMap(leftOfTool),
    ...(['name', 'description'] as const)
      .filter((name) => responseFormat?.[name] !== undefined)
      .map((name) => `responseFormat.${name} is left out: the model is told the schema.`),
    ...Object.keys(foreign).map((name) => `providerOptions.${name} is left out: it is another provider's.`),
    ...Object.keys(options.headers ?? {})
      .filter((name) => name.toLowerCase() !== 'user-agent' && options.headers?.[name] !== undefined)
      .map((name) => `The header ${name} is left out: no request is sent.`),
    ...(options.abortSignal ? ['abortSignal is left out of a call that has begun, which is recorded.'] : []),
  ];
  return { question, left };
}

/** `strict: false` asks for nothing. */
function leftOfTool({ type, name, strict, inputExamples = [] }: NonNullable<CallOptions['tools']>[number]): string[] {
  if (type !== 'function') return [`The tool ${name} is left out: a provider runs it.`];
  return [
    ...(strict === true ? [`strict of the tool ${name} is left out: nothing holds a call to its schema.`] : []),
    ...(inputExamples.length > 0
      ? [`inputExamples of the tool ${name} are left out: write them into its description.`]
      : []),
  ];
}

function messagesOf(role: Message['role'], content: string | readonly object[]): Message[] {
  if (typeof content === 'string') return [{ role, content }];
  const parts = content as readonly Part[];
  if (role === 'tool') return parts.map(resultOf);
  // The record of a reply has its reasoning.
  const said = role === 'assistant' ? parts.filter(({ type }) => type !== 'tool-call' && type !== 'reasoning') : parts;
  const calls = parts.filter(({ type }) => type === 'tool-call').map(callOf);
  return [{ role, content: textOf(said, role), ...(calls.length > 0 && { calls }) }];
}

const callOf = ({ toolCallId = '', toolName = '', input = {} }: Part) => ({
  ...{ id: toolCallId, name: toolName },
  arguments: JSON.parse(JSON.stringify(input)) as Json,
});

function resultOf({ type, toolCallId = '', output }: Part): Message {
  if (type !== 'tool-result' || !output) throw noText(type, 'tool');
  return { role: 'tool', content: outputOf(output), callId: toolCallId };
}

function outputOf({ type, value, reason }: NonNullable<Part['output']>): string {
  if (type === 'execution-denied') return reason ?? 'The call was not allowed.';
  if (type === 'content') return textOf(value as readonly Part[], 'tool');
  return typeof value === 'string' ? value : JSON.stringify(value ?? null);
}

function textOf(parts: readonly Part[], role: string): string {
  const other = parts.find(({ type }) => type !== 'text');
  if (other) throw noText(other.type, role);
  return parts.map(({ text }) => text).join('\n');
}

const noText = (type: string, role: string) =>
  new TypeError(
    `A message of role ${role} has a part of type ${type}, and a run's model takes text alone: leave it out.`,
  );
