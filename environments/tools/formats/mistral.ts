// Mistral: [TOOL_CALLS] [{"name": …, "arguments": {…}}, …] of tokenizers before v11; [TOOL_CALLS]NAME{…} since, with
// [CALL_ID]id (v11) and [ARGS] (v11, v13) between, repeated for several calls. Ids have 9 letters and digits: a call
// without one gets it from its place and text.

import { sha256Hex } from '../../../domain/text/sha256.ts';
import { badCall, brokenJson, callFromValue, namedCall, isBad, type Call, type ToolFormat } from './reply.ts';
import { readJsonAt, skipSpace } from './json.ts';
import { giveUp, walkReply, type Find, type Read, type Walk } from './scan.ts';

const OPEN = '[TOOL_CALLS]';
const ARRAY = '[TOOL_CALLS][{"name": "…", "arguments": {…}}]';
const NAMED = '[TOOL_CALLS]NAME[ARGS]{…}';
const NAME = /([^\s[\]{}]+)\s*(?:\[CALL_ID\]([A-Za-z0-9]*))?(?:\[ARGS\])?/y;

const read: Walk['read'] = (text, at, _, find): Read => {
  const from = skipSpace(text, at + OPEN.length);
  if (text[from] === '[') return readArray(text, from, find);
  NAME.lastIndex = from;
  const head = text[from] === '{' ? null : NAME.exec(text);
  const begins = head ? NAME.lastIndex : from;
  const json = readJsonAt(text, begins);
  // Nothing closes a call: a broken one takes all up to the next.
  const end = json.ok ? json.end : giveUp(text, find, begins, [], [OPEN]);
  const shape = { raw: text.slice(at, end), form: head ? NAMED : ARRAY };
  if (!json.ok) {
    const what =
      head || text[from] === '{'
        ? brokenJson(json.error)
        : `neither a list nor the name of a tool stands behind ${OPEN}`;
    return { calls: [badCall(shape, what, head?.[1])], end };
  }
  return {
    calls: [head ? namedCall(head[1]!, json.value, shape, head[2] ?? null) : callFromValue(json.value, shape)],
    end,
  };
};

/** One call after the other, so that the calls before a broken one count. */
function readArray(text: string, from: number, find: Find): Read {
  const calls: Call[] = [];
  const broken = (what: string, start: number): Read => {
    const end = giveUp(text, find, start, [], [OPEN]);
    return { calls: [...calls, badCall({ raw: text.slice(start, end), form: ARRAY }, what)], end };
  };
  let at = skipSpace(text, from + 1);
  if (text[at] === ']') return broken('its list is empty', from);
  for (;;) {
    const json = readJsonAt(text, at);
    if (!json.ok) return broken(brokenJson(json.error), at);
    calls.push(callFromValue(json.value, { raw: text.slice(at, json.end), form: ARRAY }));
    const behind = skipSpace(text, json.end);
    if (text[behind] === ']') return { calls, end: behind + 1 };
    if (text[behind] !== ',') return broken('a comma or ] is missing in its list', behind);
    at = skipSpace(text, behind + 1);
  }
}

function withId(call: Call, place: number): Call {
  return isBad(call) || VALID_ID.test(call.id ?? '') ? call : { ...call, id: nineOf(`${place} ${call.raw}`) };
}

const VALID_ID = /^[A-Za-z0-9]{9}$/;
const nineOf = (text: string): string => sha256Hex(text).slice(0, 9);

const WALK: Walk = { openings: [OPEN], stops: ['</s>'], read };

export const mistral: ToolFormat = {
  name: 'mistral',
  openings: WALK.openings,
  stops: WALK.stops,
  parse(text) {
    const reply = walkReply(text, WALK);
    return { ...reply, calls: reply.calls.map(withId) };
  },
  resultMessage: (call, output) => ({
    role: 'tool',
    content: output,
    tool_call_id: isBad(call) ? nineOf(call.raw) : (call.id ?? nineOf(call.raw)),
    ...(call.name === undefined ? {} : { name: call.name }),
  }),
};
