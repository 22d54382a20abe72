// The module `everturn/ai-sdk`: the task of an agent's function as a language model of Vercel's AI SDK, whose package is the user's own.
// Each call of the model is one `ask`, recorded and replayed as any other. What a run decides itself (temperature, seed, …) stands in
// the warnings. Text alone: a file is refused.

import { type CallOptions, questionOf } from './ai-sdk-question.ts';
import type { Reply, Task } from './agent-task.ts';

type Unified = 'stop' | 'length' | 'tool-calls';
type Counts<Name extends string, Missing extends string = never> = Record<Name, number> & Record<Missing, undefined>;

/** How the versions of the specification write a reply's end and its tokens. */
interface Ends {
  v3: {
    finishReason: { unified: Unified; raw: string };
    usage: {
      inputTokens: Counts<'total' | 'noCache' | 'cacheRead', 'cacheWrite'>;
      outputTokens: Counts<'total' | 'text' | 'reasoning'>;
    };
  };
  v2: {
    finishReason: Unified;
    usage: Counts<'inputTokens' | 'outputTokens' | 'totalTokens' | 'reasoningTokens' | 'cachedInputTokens'>;
  };
}

interface ToolCall {
  type: 'tool-call';
  toolCallId: string;
  toolName: string;
  /** JSON; what the model wrote, where that is none. */
  input: string;
}
type Content = { type: 'text' | 'reasoning'; text: string } | ToolCall;
/** In the form that both versions have. */
interface Start {
  warnings: { type: 'other'; message: string }[];
}

type Part =
  | ({ type: 'stream-start' } & Start)
  | { type: 'response-metadata'; id: string }
  | { type: 'text-start' | 'text-end' | 'reasoning-start' | 'reasoning-end'; id: string }
  | { type: 'text-delta' | 'reasoning-delta'; id: string; delta: string }
  | ToolCall;

/** `LanguageModelV3` or `LanguageModelV2` of `@ai-sdk/provider`, by structure. */
export interface Model<V extends keyof Ends> {
  readonly specificationVersion: V;
  readonly provider: string;
  readonly modelId: string;
  readonly supportedUrls: Record<string, RegExp[]>;
  doGenerate(options: CallOptions): Promise<{ content: Content[]; response: { id: string } } & Start & Ends[V]>;
  /** The whole reply, once it is there. */
  doStream(options: CallOptions): Promise<{ stream: ReadableStream<Part | ({ type: 'finish' } & Ends[V])> }>;
}

/** `specification`: `v3` for `ai` 6, `v2` for `ai` 5. */
export function model<V extends keyof Ends = 'v3'>(
  { ask }: Pick<Task, 'ask'>,
  { specification = 'v3' as V }: { readonly specification?: V } = {},
): Model<V> {
  async function play(options: CallOptions) {
    options.abortSignal?.throwIfAborted();
    const { question, left } = questionOf(options);
    const reply = await ask(question);
    const warnings = left.map((message) => ({ type: 'other' as const, message }));
    return { content: contentOf(reply), warnings, response: { id: reply.id }, end: ENDS[specification](reply) };
  }
  return {
    ...{ specificationVersion: specification, provider: 'everturn', modelId: 'run', supportedUrls: {} },
    async doGenerate(options) {
      const { end, ...reply } = await play(options);
      return { ...reply, ...end };
    },
    async doStream(options) {
      const { content, warnings, response, end } = await play(options);
      const parts = [
        { type: 'stream-start' as const, warnings },
        { type: 'response-metadata' as const, ...response },
        ...content.flatMap(streamed),
        { type: 'finish' as const, ...end },
      ];
      const stream = new ReadableStream<(typeof parts)[number]>({
        start(controller) {
          for (const part of parts) controller.enqueue(part);
          controller.close();
        },
      });
      return { stream };
    },
  };
}

function contentOf({ text, reasoning, calls }: Reply): Content[] {
  return [
    ...(reasoning === '' ? [] : [{ type: 'reasoning' as const, text: reasoning }]),
    ...(text === '' ? [] : [{ type: 'text' as const, text }]),
    ...calls.map(({ id, name, arguments: given }) => ({
      ...{ type: 'tool-call' as const, toolCallId: id, toolName: name },
      input: typeof given === 'string' ? given : JSON.stringify(given),
    })),
  ];
}

function streamed(part: Content, place: number): Part[] {
  if (part.type === 'tool-call') return [part];
  const [{ type, text: delta }, id] = [part, String(place)];
  return [
    { type: `${type}-start`, id },
    { type: `${type}-delta`, id, delta },
    { type: `${type}-end`, id },
  ];
}

const unifiedOf = ({ finish, calls }: Reply): Unified =>
  finish === 'stop' && calls.length > 0 ? 'tool-calls' : finish;

const ENDS: { readonly [V in keyof Ends]: (reply: Reply) => Ends[V] } = {
  v3: (reply) => {
    const { input, cached, output, reasoning } = reply.usage;
    return {
      finishReason: { unified: unifiedOf(reply), raw: reply.finish },
      usage: {
        inputTokens: { total: input, noCache: input - cached, cacheRead: cached, cacheWrite: undefined },
        outputTokens: { total: output, text: output - reasoning, reasoning },
      },
    };
  },
  v2: (reply) => {
    const { input, cached: cachedInputTokens, output, reasoning: reasoningTokens } = reply.usage;
    const tokens = { inputTokens: input, outputTokens: output, totalTokens: input + output };
    return { finishReason: unifiedOf(reply), usage: { ...tokens, reasoningTokens, cachedInputTokens } };
  },
};
