// Llama 3.1 to 3.3: a JSON object {"name": …, "parameters": {…}} instead of an answer, or after <|python_tag|>, several
// with ; between. Behind the tag also NAME.call(key="…") of built-in tools, and plain code for a tool that takes code.
// Within prose such an object is a call if there is a tool of that name; any other JSON is an answer.

import {
  badCall,
  brokenJson,
  callFromValue,
  type Shape,
  codeTool,
  type Call,
  type ToolFormat,
  type ToolSchema,
} from './reply.ts';
import { isJsonObject, readJsonAt, skipSpace } from './json.ts';
import { finder, withoutEnd } from './scan.ts';

const TAG = '<|python_tag|>';
const FORM = '{"name": "…", "parameters": {…}} and nothing else';
const STOPS = ['<|eom_id|>', '<|eot_id|>', '<|end_of_text|>'];
const NAMED = /\{\s*"name"\s*:\s*"([^"\\]*)"/g;
const BUILT_IN = /^([\w-]+)\.call\(([\s\S]*)\)$/;
const ARGUMENT = /^([A-Za-z_]\w*)="/;

function parse(answer: string, tools: readonly ToolSchema[]) {
  const text = withoutEnd(answer, STOPS);
  const tag = text.indexOf(TAG);
  if (tag < 0) return inText(text, 0, '', tools);
  const before = text.slice(0, tag);
  const behind = skipSpace(text, tag + TAG.length);
  if (text[behind] === '{') return inText(text, behind, before, tools);
  const call = action(text.slice(behind).trim(), text.slice(tag), tools);
  return { content: before.trim(), thinking: '', calls: [call] };
}

/** JSON objects from `start` on. `before`: a tag stood there, so an object at `start` is a call whatever it is. */
function inText(text: string, start: number, before: string, tools: readonly ToolSchema[]) {
  const names = new Set(tools.map(({ name }) => name));
  const candidates = placesOf(text, start, names);
  const calls: Call[] = [];
  const content: string[] = [before];
  let plain = start;
  let at: number | null = text[skipSpace(text, start)] === '{' ? skipSpace(text, start) : candidates(start);
  // An object that must be a call: behind the tag, behind another call, or named after a tool.
  let must = start > 0;
  while (at !== null) {
    const json = readJsonAt(text, at);
    const known = must || candidates(at) === at;
    if (json.ok ? isCall(json.value, known) : known) {
      content.push(text.slice(plain, at));
      // A broken one has no end: the rest of the answer belongs to it.
      const end = json.ok ? json.end : text.length;
      const shape: Shape = { raw: text.slice(at, end), form: FORM };
      calls.push(json.ok ? callFromValue(json.value, shape) : badCall(shape, brokenJson(json.error)));
      plain = end;
      const next = behindSeparator(text, end);
      must = text[next] === '{';
      if (must || next === text.length) plain = next;
      at = must ? next : candidates(end);
    } else {
      at = candidates(json.ok ? json.end : Math.max(json.at, at + 1));
      must = false;
    }
  }
  content.push(text.slice(plain));
  return { content: content.join('').trim(), thinking: '', calls };
}

function behindSeparator(text: string, at: number): number {
  const from = skipSpace(text, at);
  const separator = [';', ',', TAG].find((one) => text.startsWith(one, from));
  return separator === undefined ? from : skipSpace(text, from + separator.length);
}

const isCall = (value: Parameters<typeof isJsonObject>[0], known: boolean): boolean =>
  known ||
  (isJsonObject(value) && typeof value['name'] === 'string' && ['parameters', 'arguments'].some((key) => key in value));

/** The next object that begins with the name of a tool. Linear in all, if it is asked from left to right. */
function placesOf(text: string, start: number, names: ReadonlySet<string>): (from: number) => number | null {
  const pattern = new RegExp(NAMED);
  pattern.lastIndex = start;
  let next: number | null = -1;
  return (from) => {
    while (next !== null && next < from) {
      const found = pattern.exec(text);
      if (!found) next = null;
      else if (names.has(found[1]!)) next = found.index;
    }
    return next;
  };
}

/** Text behind the tag that is no JSON. */
function action(code: string, raw: string, tools: readonly ToolSchema[]): Call {
  const shape = { raw, form: FORM };
  const builtIn = BUILT_IN.exec(code);
  const tool = builtIn && tools.find(({ name }) => name === builtIn[1]);
  if (tool) return builtInCall(tool.name, builtIn[2]!, shape);
  const runs = codeTool(tools);
  if (!runs) return badCall(shape, `neither JSON nor the call of a tool stands behind ${TAG}`);
  return { name: runs.name, arguments: { [runs.argument]: code }, id: null, raw };
}

/** `key="value", …`: values are written without escapes, so a value ends where the next key or the end follows. */
function builtInCall(name: string, written: string, shape: Shape): Call {
  const find = finder(written);
  const args = new Map<string, string>();
  for (let at = 0; at < written.length;) {
    const key = ARGUMENT.exec(written.slice(at, at + 200))?.[1];
    if (key === undefined) return badCall(shape, 'an argument is not written as key="value"', name);
    if (args.has(key)) return badCall(shape, `the argument ${JSON.stringify(key)} stands twice`, name);
    const from = at + key.length + 2;
    let end = find('", ', from);
    while (end >= 0 && !ARGUMENT.test(written.slice(end + 3, end + 203))) end = find('", ', end + 1);
    if (end < 0 && !written.slice(from).endsWith('"')) return badCall(shape, 'a value has no closing quote', name);
    args.set(key, written.slice(from, end < 0 ? -1 : end));
    at = end < 0 ? written.length : end + 3;
  }
  return { name, arguments: Object.fromEntries(args), id: null, raw: shape.raw };
}

export const llama3: ToolFormat = {
  name: 'llama3',
  openings: [TAG, '{'],
  stops: STOPS,
  parse,
  resultMessage: (_, output) => ({ role: 'tool', content: output }),
};
