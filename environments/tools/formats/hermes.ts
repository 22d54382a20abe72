// Hermes, Qwen 2.5, Qwen 3: <tool_call>{"name": …, "arguments": {…}}</tool_call>, repeated for several calls.
// The closing tag may be missing where the next call or the end of the answer follows complete JSON.

import { badCall, brokenJson, callFromValue } from './reply.ts';
import { readJsonAt, skipSpace } from './json.ts';
import { giveUp, markedFormat, type Read, type Walk } from './scan.ts';

const OPEN = '<tool_call>';
const CLOSE = '</tool_call>';
const FORM = '<tool_call>\n{"name": "…", "arguments": {…}}\n</tool_call>';

const read: Walk['read'] = (text, at, _, find): Read => {
  const json = readJsonAt(text, at + OPEN.length);
  if (!json.ok) {
    const end = giveUp(text, find, at + OPEN.length, [CLOSE], [OPEN]);
    return { calls: [badCall({ raw: text.slice(at, end), form: FORM }, brokenJson(json.error))], end };
  }
  const behind = skipSpace(text, json.end);
  const closed = text.startsWith(CLOSE, behind);
  if (closed || behind === text.length || text.startsWith(OPEN, behind)) {
    const end = closed ? behind + CLOSE.length : behind;
    return { calls: [callFromValue(json.value, { raw: text.slice(at, end), form: FORM })], end };
  }
  const end = giveUp(text, find, behind, [CLOSE], [OPEN]);
  return { calls: [badCall({ raw: text.slice(at, end), form: FORM }, 'text follows its JSON object')], end };
};

export const hermes = markedFormat('hermes', {
  openings: [OPEN],
  stops: ['<|im_end|>', '<|endoftext|>', '<|eot_id|>', '<|end_of_text|>'],
  reader: () => read,
});
