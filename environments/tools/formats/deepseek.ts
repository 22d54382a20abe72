// DeepSeek V3 and R1: <｜tool▁calls▁begin｜><｜tool▁call▁begin｜>function<｜tool▁sep｜>NAME, the arguments as a fenced JSON
// block, <｜tool▁call▁end｜>…<｜tool▁calls▁end｜>. V3.1: NAME<｜tool▁sep｜>{…} without word and fence. Both are read.

import { badCall, brokenJson, namedCall, type Call } from './reply.ts';
import { readJsonAt, skipSpace } from './json.ts';
import { giveUp, markedFormat, type Find, type Walk } from './scan.ts';

const BEGIN = '<｜tool▁calls▁begin｜>';
const FINISH = '<｜tool▁calls▁end｜>';
const OPEN = '<｜tool▁call▁begin｜>';
const CLOSE = '<｜tool▁call▁end｜>';
const SEP = '<｜tool▁sep｜>';
const FORM = `${BEGIN}${OPEN}function${SEP}NAME\n\`\`\`json\n{…}\n\`\`\`${CLOSE}${FINISH}, or as NAME${SEP}{…} if the system message says so`;
const HEAD = /([^<\n]*)<｜tool▁sep｜>/y;
const FENCED = /([^\n`{<]*)\n```(?:json)?[ \t]*\n/y;

const read: Walk['read'] = (text, at, opening, find) => {
  const calls: Call[] = [];
  let next = opening === BEGIN ? skipSpace(text, at + BEGIN.length) : at;
  if (!text.startsWith(OPEN, next)) {
    const end = giveUp(text, find, next, [FINISH], [BEGIN]);
    return { calls: [badCall({ raw: text.slice(at, end), form: FORM }, `${OPEN} is missing`)], end };
  }
  while (text.startsWith(OPEN, next)) {
    const one = readOne(text, next, find);
    calls.push(one.call);
    next = skipSpace(text, one.end);
  }
  if (text.startsWith(FINISH, next)) next += FINISH.length;
  return { calls, end: next };
};

function readOne(text: string, at: number, find: Find): { readonly call: Call; readonly end: number } {
  const broken = (what: string, from: number, name?: string) => {
    const end = giveUp(text, find, from, [CLOSE, FINISH], [OPEN]);
    return { call: badCall({ raw: text.slice(at, end), form: FORM }, what, name), end };
  };
  const head = match(HEAD, text, at + OPEN.length);
  if (head === null) return broken(`${SEP} is missing`, at + OPEN.length);
  const bare = skipSpace(text, head.end);
  const fenced = text[bare] === '{' ? null : match(FENCED, text, head.end);
  if (text[bare] !== '{' && fenced === null) return broken('its arguments are not a JSON object', head.end);
  const name = (fenced ?? head).text.trim();
  if (name === '') return broken('the name of a tool is missing', head.end);
  const begins = fenced?.end ?? bare;
  const json = readJsonAt(text, begins);
  if (!json.ok) return broken(brokenJson(json.error), begins, name);
  let end = skipSpace(text, json.end);
  if (fenced) {
    if (!text.startsWith('```', end)) return broken('the block of JSON is not closed', end, name);
    end = skipSpace(text, end + 3);
  }
  if (text.startsWith(CLOSE, end)) end += CLOSE.length;
  else if (end < text.length && !text.startsWith(FINISH, end) && !text.startsWith(OPEN, end)) {
    return broken(`text stands before ${CLOSE}`, end, name);
  }
  return { call: namedCall(name, json.value, { raw: text.slice(at, end), form: FORM }), end };
}

function match(pattern: RegExp, text: string, at: number): { readonly text: string; readonly end: number } | null {
  pattern.lastIndex = at;
  const found = pattern.exec(text);
  return found && { text: found[1]!, end: pattern.lastIndex };
}

export const deepseek = markedFormat('deepseek', {
  openings: [BEGIN, OPEN],
  stops: ['<｜end▁of▁sentence｜>'],
  reader: () => read,
});
