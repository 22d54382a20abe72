// Qwen3-Coder, Qwen 3.5 and later, Nemotron 3: <tool_call><function=NAME><parameter=KEY>VALUE</parameter></function>
// </tool_call>. Values are plain text, typed by the tool's schema; one line break at each end of them is markup.
// A <function=…> without <tool_call>, as Qwen3-Coder writes it at times, is a call if there is a tool of that name.

import { badCall, type Shape, type Call, type ToolSchema } from './reply.ts';
import { skipSpace } from './json.ts';
import { behindTag, markedFormat, type Find, type Walk } from './scan.ts';
import { typedArguments, valueReader, type ValueReader, type WrittenArgument } from './written.ts';

const OPEN = '<tool_call>';
const CLOSE = '</tool_call>';
const FUNCTION = '<function=';
const END = '</function>';
const PARAMETER = '<parameter=';
const TAGS = { close: '</parameter>', next: PARAMETER, last: END };
const FORM =
  '<tool_call>\n<function=NAME>\n<parameter=KEY>\nVALUE\n</parameter>\n</function>\n</tool_call>, each tag once';
const NAME = /([^\s<>]+)>/y;

/** One answer's text; `valueAt` knows which closing tags end a value. */
interface Answer {
  readonly text: string;
  readonly tools: readonly ToolSchema[];
  readonly find: Find;
  readonly valueAt: ValueReader;
}

function readCall(tools: readonly ToolSchema[]): Walk['read'] {
  let answer: Answer | undefined;
  return (text, at, opening, find) => {
    answer ??= { text, tools, find, valueAt: valueReader(text, TAGS, find) };
    const bare = opening === FUNCTION;
    if (bare && !tools.some(({ name }) => name === nameAt(text, at + FUNCTION.length)?.name)) return null;
    const calls: Call[] = [];
    let from = bare ? at : skipSpace(text, at + OPEN.length);
    let rawFrom = at;
    do {
      const one = readFunction(answer, from, rawFrom);
      calls.push(one.call);
      if (one.broken) return { calls, end: one.end };
      from = rawFrom = one.end;
    } while (!bare && text.startsWith(FUNCTION, from));
    if (text.startsWith(CLOSE, from)) return { calls, end: from + CLOSE.length };
    if (bare || from === text.length || text.startsWith(OPEN, from)) return { calls, end: from };
    const end = behindTag(text, find, from, CLOSE);
    calls.pop();
    return { calls: [...calls, badCall(shape(text, at, end), `text stands between ${END} and ${CLOSE}`)], end };
  };
}

interface One {
  readonly call: Call;
  readonly end: number;
  readonly broken?: true;
}

function readFunction({ text, tools, find, valueAt }: Answer, from: number, rawFrom: number): One {
  // A value that is not closed has no end: the rest of the answer belongs to the call.
  const broken = (what: string, at: number, name?: string): One => {
    const end = behindTag(text, find, at, CLOSE);
    return { call: badCall(shape(text, rawFrom, end), what, name), end, broken: true };
  };
  if (!text.startsWith(FUNCTION, from)) return broken(`${FUNCTION}NAME> is missing`, from);
  const named = nameAt(text, from + FUNCTION.length);
  if (named === null) return broken(`${FUNCTION} is not followed by a name and >`, from + FUNCTION.length);
  const { name } = named;
  const written: WrittenArgument[] = [];
  let at = skipSpace(text, named.end);
  while (text.startsWith(PARAMETER, at)) {
    const key = nameAt(text, at + PARAMETER.length);
    if (key === null) return broken(`${PARAMETER} is not followed by a key and >`, at + PARAMETER.length, name);
    const value = valueAt(key.end);
    if (!value.ok) return broken(value.error, text.length, name);
    written.push({ name: key.name, text: value.text.replace(/^\n/, '').replace(/\n$/, '') });
    at = value.end;
  }
  if (!text.startsWith(END, at)) return broken(`${END} is missing`, at, name);
  const args = typedArguments(written, name, tools);
  const raw = text.slice(rawFrom, at + END.length);
  const call: Call =
    typeof args === 'string' ? badCall({ raw, form: FORM }, args, name) : { name, arguments: args, id: null, raw };
  return { call, end: skipSpace(text, at + END.length) };
}

function nameAt(text: string, at: number): { readonly name: string; readonly end: number } | null {
  NAME.lastIndex = at;
  const name = NAME.exec(text)?.[1];
  return name === undefined ? null : { name, end: NAME.lastIndex };
}

function shape(text: string, at: number, end: number): Shape {
  return { raw: text.slice(at, end), form: FORM };
}

export const qwen3Coder = markedFormat('qwen3-coder', {
  openings: [OPEN, FUNCTION],
  stops: ['<|im_end|>', '<|endoftext|>'],
  reader: readCall,
});
