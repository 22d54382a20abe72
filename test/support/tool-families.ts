// Model families that call tools: chat template, format, tokenizer, and the tokens that stand around calls. Calls are
// written by the family's own template, so that nothing here knows how a format looks.

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type ModelTokenizer, openTokenizer } from '../../inference/tokenizer/tokenizer.ts';
import type { ChatMessage } from '../../domain/query/query.ts';
import { toolFormatNamed, type ToolFormat, type ToolSchema } from '../../environments/tools/formats/format.ts';
import { fixture } from './tiny.ts';
import { tokenizerFolder } from './tokenizer-folder.ts';
import { trainTokenizer, type Family } from './trained-tokenizers.ts';

interface ToolFamily {
  readonly format: string;
  readonly tokenizer: Family;
  /** The stop token first. */
  readonly special: readonly string[];
  /** Calls that the template takes in one message. */
  readonly mostCalls?: number;
  /** How the template wants arguments: as they are, as JSON, or with constants as Python writes them. */
  readonly wants?: 'text' | 'python';
  /** The template takes only schemas of scalars in transformers.js. */
  readonly typed?: true;
}

export const TOOL_FAMILIES = fixture('tool-families.json') as Readonly<Record<string, ToolFamily>>;

/** What is meant by a call. */
export interface Meant {
  readonly name: string;
  readonly arguments: Readonly<Record<string, unknown>>;
}

export interface OpenToolFamily {
  readonly name: string;
  readonly template: string;
  readonly format: ToolFormat;
  readonly tokenizer: ModelTokenizer;
  readonly stop: string;
  readonly mostCalls: number;
  readonly typed: boolean;
  render(messages: readonly ChatMessage[], tools: readonly ToolSchema[]): string;
  /** The calls as an assistant's message. */
  message(calls: readonly Meant[]): ChatMessage;
  /** An answer with these calls, as the template writes it, without its stop token. */
  written(calls: readonly Meant[], tools: readonly ToolSchema[]): string;
  /** The text of the answer's ids behind the prompt's, special tokens kept. */
  throughIds(prompt: string, answer: string): Promise<string>;
}

export const ASKED: readonly ChatMessage[] = [{ role: 'user', content: 'Ask.' }];

export async function openToolFamily(name: string): Promise<OpenToolFamily> {
  const { format, tokenizer: kind, special, mostCalls = 3, wants, typed = false } = TOOL_FAMILIES[name]!;
  const template = toolTemplate(name);
  const added = special.filter((content) => content !== '</s>').map((content) => ({ content, special: true }));
  const config = { bos_token: '<s>', eos_token: '</s>', unk_token: '<unk>' };
  const folder = tokenizerFolder({ json: trainTokenizer(kind, added), config: JSON.stringify(config), template }, name);
  const tokenizer = await openTokenizer(folder);
  const stop = special[0]!;

  function render(messages: readonly ChatMessage[], tools: readonly ToolSchema[]): string {
    return tokenizer.renderChat(
      messages,
      tools.map((tool) => ({ type: 'function', function: tool })),
    );
  }
  function message(calls: readonly Meant[]): ChatMessage {
    return {
      role: 'assistant',
      content: '',
      tool_calls: calls.map((call, i) => ({
        id: `id000000${i}`,
        type: 'function',
        function: {
          name: call.name,
          arguments: argumentsAs(call.arguments, wants),
        },
      })),
    };
  }
  return {
    name,
    template,
    format: toolFormatNamed(format)!,
    tokenizer,
    stop,
    mostCalls,
    typed,
    render,
    message,
    written(calls, tools) {
      const prompt = render(ASKED, tools);
      const END = 'The end of it all';
      const results = calls.map((_, i) => ({ role: 'tool', content: END, tool_call_id: `id000000${i}` }));
      const whole = render([...ASKED, message(calls), ...results], tools);
      let same = 0;
      while (same < prompt.length && prompt[same] === whole[same]) same++;
      // A thinking model's prompt may open with tags that the conversation does not repeat.
      const from = same === prompt.length ? same : prompt.lastIndexOf('<', same);
      return whole.slice(from, whole.lastIndexOf(stop, whole.indexOf(END)));
    },
    async throughIds(prompt, answer) {
      const tail = prompt.slice(-40);
      const head = await tokenizer.encodeRendered(tail);
      const all = await tokenizer.encodeRendered(tail + answer);
      return tokenizer.decode(all.slice(head.length), { skipSpecialTokens: false });
    },
  };
}

/** `python`: jinja2 writes None and True where transformers.js writes true, and refuses null. */
function argumentsAs(args: Meant['arguments'], wants: ToolFamily['wants']): object | string {
  if (wants === 'text') return JSON.stringify(args);
  if (wants === undefined) return args;
  const python = (value: unknown) =>
    value === null ? 'None' : typeof value === 'boolean' ? (value ? 'True' : 'False') : value;
  return Object.fromEntries(Object.entries(args).map(([key, value]) => [key, python(value)]));
}

export function toolTemplate(name: string): string {
  return readFileSync(join(import.meta.dirname, '../fixtures/templates', `${name}.jinja`), 'utf8');
}
