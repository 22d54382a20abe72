// GLM 4.5 to 4.7: <tool_call>NAME<arg_key>k</arg_key><arg_value>v</arg_value></tool_call>, with line breaks between or
// without. Values are plain text, typed by the tool's schema and preserved byte for byte.

import { badCall, type Call, type ToolFormat, type ToolSchema } from './reply.ts';
import { skipSpace } from './json.ts';
import { behindTag, firstOf, markedFormat, type Walk } from './scan.ts';
import { typedArguments, valueReader, type ValueReader, type WrittenArgument } from './written.ts';

const OPEN = '<tool_call>';
const CLOSE = '</tool_call>';
const KEY = '<arg_key>';
const KEY_END = '</arg_key>';
const VALUE = '<arg_value>';
const TAGS = { close: '</arg_value>', next: KEY, last: CLOSE };
const FORM = '<tool_call>NAME\n<arg_key>KEY</arg_key>\n<arg_value>VALUE</arg_value>\n</tool_call>, each tag once';

function readCall(tools: readonly ToolSchema[]): Walk['read'] {
  let valueAt: ValueReader | undefined;
  return (text, at, _, find) => {
    valueAt ??= valueReader(text, TAGS, find);
    // A value that is not closed has no end: the rest of the answer belongs to the call.
    const broken = (what: string, end: number, name?: string) => {
      return { calls: [badCall({ raw: text.slice(at, end), form: FORM }, what, name)], end };
    };
    const closed = (from: number) => behindTag(text, find, from, CLOSE);
    const from = at + OPEN.length;
    const behind = firstOf(find, [KEY, CLOSE, OPEN], from);
    if (behind === null || behind.needle === OPEN) return broken(`${CLOSE} is missing`, behind?.at ?? text.length);
    const name = text.slice(from, behind.at).trim();
    if (name === '' || /\s/.test(name)) return broken(`the name of a tool is missing behind ${OPEN}`, closed(from));
    const written: WrittenArgument[] = [];
    let next = behind.at;
    while (text.startsWith(KEY, next)) {
      const keyEnd = find(KEY_END, next);
      if (keyEnd < 0 || text.slice(next + KEY.length, keyEnd).includes('<'))
        return broken(`${KEY_END} is missing`, closed(next), name);
      const opens = skipSpace(text, keyEnd + KEY_END.length);
      if (!text.startsWith(VALUE, opens)) return broken(`${VALUE} is missing behind ${KEY_END}`, closed(opens), name);
      const value = valueAt(opens + VALUE.length);
      if (!value.ok) return broken(value.error, text.length, name);
      written.push({ name: text.slice(next + KEY.length, keyEnd).trim(), text: value.text });
      next = value.end;
    }
    // A value ends before one of these two only, and so does the name.
    const end = next + CLOSE.length;
    const args = typedArguments(written, name, tools);
    const raw = text.slice(at, end);
    const call: Call =
      typeof args === 'string' ? badCall({ raw, form: FORM }, args, name) : { name, arguments: args, id: null, raw };
    return { calls: [call], end };
  };
}

export const glm: ToolFormat = {
  ...markedFormat('glm', {
    openings: [OPEN],
    stops: ['<|observation|>', '<|user|>', '<|endoftext|>'],
    reader: readCall,
  }),
  opensResults: '<|observation|>',
};
