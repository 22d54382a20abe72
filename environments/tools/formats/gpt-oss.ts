// gpt-oss (harmony): messages of a header, <|message|> and a body, ended by <|end|>, <|call|> or <|return|>. A header
// names a channel and at times a recipient: `to=functions.NAME` is a call, its body JSON. The answer begins inside the
// first header, because the prompt ends with <|start|>assistant.

import {
  badCall,
  brokenJson,
  namedCall,
  type Shape,
  codeTool,
  type Call,
  type ParsedReply,
  type ToolFormat,
  type ToolSchema,
} from './reply.ts';
import { readJsonAt, skipSpace } from './json.ts';
import { finder, firstOf, giveUp } from './scan.ts';

const START = '<|start|>';
const MESSAGE = '<|message|>';
const ENDS = ['<|end|>', '<|call|>', '<|return|>'];
const FORM = '<|start|>assistant<|channel|>commentary to=functions.NAME <|constrain|>json<|message|>{…}<|call|>';
const RECIPIENT = /(?:^|[\s>])to=([^\s<]+)/;
const FUNCTION = /^functions\.(.+)$/;
const CHANNEL = /<\|channel\|>\s*(\w+)/;

interface Header {
  readonly recipient: string | null;
  readonly channel: string;
}

function parse(text: string, tools: readonly ToolSchema[]): ParsedReply {
  const find = finder(text);
  const content: string[] = [];
  const thinking: string[] = [];
  const calls: Call[] = [];
  let at = 0;
  while (at < text.length) {
    const opened = firstOf(find, [MESSAGE, START], at);
    // A header that another one interrupts, or one without a message: its text is an answer without markup.
    if (opened === null || opened.needle === START) {
      const end = opened?.at ?? text.length;
      content.push(withoutMarks(text.slice(at, end)));
      at = end + START.length;
      continue;
    }
    const header = headerOf(text.slice(at, opened.at));
    const body = opened.at + MESSAGE.length;
    const call = header.recipient === null ? null : readCall(text, header, body, at, tools);
    const after = call?.end === null ? giveUp(text, find, body, [], [...ENDS, START]) : (call?.end ?? body);
    const stop = firstOf(find, [...ENDS, START], after);
    const bodyEnd = stop?.at ?? text.length;
    if (call) calls.push(call.calls(bodyEnd));
    else (header.channel === 'analysis' ? thinking : content).push(text.slice(body, bodyEnd));
    at = stop === null ? text.length : stop.at + (stop.needle === START ? 0 : stop.needle.length);
    if (text.startsWith(START, at)) at += START.length;
  }
  const joined = (parts: readonly string[]) =>
    parts
      .map((part) => part.trim())
      .filter(Boolean)
      .join('\n');
  return { content: joined(content), thinking: joined(thinking), calls };
}

function headerOf(text: string): Header {
  const recipient = RECIPIENT.exec(text)?.[1] ?? null;
  // A message to itself is no call: results of tools are so addressed.
  return { recipient: recipient === 'assistant' ? null : recipient, channel: CHANNEL.exec(text)?.[1] ?? '' };
}

interface Body {
  /** The body's end is searched from here on: behind the JSON, which may hold a marker. Null if that is broken. */
  readonly end: number | null;
  readonly calls: (bodyEnd: number) => Call;
}

function readCall(text: string, header: Header, body: number, from: number, tools: readonly ToolSchema[]): Body {
  const recipient = header.recipient!;
  const tool = FUNCTION.exec(recipient)?.[1];
  // `to=python` with plain code, as for the model's own interpreter.
  const code = recipient === 'python' ? codeTool(tools) : null;
  const shape = (end: number): Shape => ({ raw: text.slice(from, end), form: FORM });
  if (code) {
    const call = (end: number): Call => ({
      name: code.name,
      arguments: { [code.argument]: text.slice(body, end) },
      id: null,
      raw: text.slice(from, end),
    });
    return { end: body, calls: call };
  }
  if (tool === undefined) {
    return { end: body, calls: (end) => badCall(shape(end), `${JSON.stringify(recipient)} is not functions.NAME`) };
  }
  const json = readJsonAt(text, body);
  if (!json.ok) return { end: null, calls: (end) => badCall(shape(end), brokenJson(json.error), tool) };
  const calls = (end: number): Call =>
    skipSpace(text, json.end) < end
      ? badCall(shape(end), 'text follows its JSON object', tool)
      : namedCall(tool, json.value, shape(end));
  return { end: json.end, calls };
}

function withoutMarks(text: string): string {
  return text.replace(/<\|(?:channel|constrain|end|call|return)\|>/g, '');
}

export const gptOss: ToolFormat = {
  name: 'gpt-oss',
  openings: [MESSAGE],
  stops: ['<|call|>', '<|return|>', '<|end|>'],
  parse,
  resultMessage: (call, output) => ({
    role: 'tool',
    content: output,
    // The template names results after the tool, also those of a call that could not be read.
    name: call.name ?? FUNCTION.exec(RECIPIENT.exec(call.raw)?.[1] ?? '')?.[1] ?? 'unknown',
  }),
};
