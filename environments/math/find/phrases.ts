// Answers that are named: `#### …`, "the answer is …", "Answer: …". The whole statement is the answer, and a text that was
// cut has to complete it.

import type { About } from '../compare/subject.ts';
import type { Known } from './known.ts';
import { isLedTo } from './statement.ts';
import { unexplained } from './rest.ts';
import { STRIKES } from './sentence.ts';
import { afterwards } from './afterwards.ts';
import { PLACE } from './tail.ts';
import { mathSegments, type Segment } from './segments.ts';

export interface Extraction {
  readonly text: string;
  /** The same without a percent sign that stands outside the box: either may be meant. */
  readonly bare?: string;
  /** The place it was found in. A marked one was named as the answer; the others are the last thing said. */
  /** Named as an answer once more behind it: each has to be right as well. */
  readonly also?: readonly string[];
  /** The same value once more, rounded. */
  readonly rounded?: (() => string | undefined) | undefined;
  /** The link of an equation before the value. */
  readonly chain?: string | undefined;
  /** The equation at whose right the value stands; read where the value is right. */
  readonly about?: (() => About | undefined) | undefined;
  readonly by: 'box' | 'phrase' | 'hash' | 'whole' | 'formula' | 'number' | 'choice';
}

export type Found = Extraction | 'cut-off' | undefined;

/** GSM8K's mark: what stands behind the last one on its line. */
export function hash(text: string, cut = false): Extraction | undefined {
  const at = text.lastIndexOf('####');
  const said = text.slice(at + 4, at + 600).trimStart();
  if (at < 0 || (cut && !said.includes('\n'))) return undefined;
  const line = firstLine(said);
  if (!/[\dA-Za-z\\]/.test(line)) return undefined;
  const { withdrawn, also } = afterwards(text, at + 4, line);
  return withdrawn ? undefined : { text: line, by: 'hash', also };
}

const firstLine = (text: string): string => text.trimStart().split('\n', 1)[0]?.trim() ?? '';

/** "The final answer is …", if a value follows it. `known`: of an answer, whose words have to be accounted for. */
export function finalPhrase(text: string, cut = false, known?: Known): Extraction | undefined {
  return phrase(text, /final answer\**\s*(?:(?:to|for|of)\b[^.\n:]{0,80}?)?\s*(?:is|:|=)\**\s*:?\**/gi, cut, known);
}

export function answerPhrase(text: string, cut = false, known?: Known): Extraction | undefined {
  return phrase(
    text,
    /\banswers?\**\s*(?:(?:to|for|of)\b[^.\n:]{0,80}?)?\s*(?:is|are|:|=)\**\s*:?\**|\b(?:correct|right) (?:option|choice) is\**:?\**/gi,
    cut,
    known,
    NEAR_END_CHARS,
  );
}

/** Said further from the end than this, "the answer is" was a thought on the way. */
const NEAR_END_CHARS = 600;

function phrase(
  text: string,
  pattern: RegExp,
  cut: boolean,
  known: Known | undefined,
  near = Infinity,
): Extraction | undefined {
  const tail = text.slice(-60_000);
  const last = [...tail.matchAll(pattern)].at(-1);
  if (!last || tail.length - last.index > near) return undefined;
  const said = last.index + last[0].length;
  if (known && !isLedTo(tail, said, known)) return undefined;
  const rest = tail.slice(said, said + 2_000).replace(/^[\s*:}]+(?:still\s)?/, '');
  const found = statement(rest, cut, known, tail.slice(0, last.index));
  if (found === undefined || (known && STRIKES.test(found))) return undefined;
  const after = known
    ? afterwards(tail, said + (/^[\s*:}]*/.exec(tail.slice(said))?.[0].length ?? 0), found, known)
    : AGREED;
  return after.withdrawn ? undefined : { text: bare(found), by: 'phrase', also: after.also };
}

/** One formula that fills the statement, without its dollars. */
function bare(said: string): string {
  const [only] = mathSegments(said);
  return only && only.start === 0 && only.end === said.length ? only.content : said;
}

const AGREED = { withdrawn: false, also: [] };

/** The end of a sentence, which a point inside a number is not. */
const ENDS = /(?<=[^\d\s]|\d\d|[\s/]\d|^\d|[A-Za-z]\d)\.(?=\s|$|\*|")|[!?](?=\s|$|\*)|\n|[。！？；]/;
/** The text behind "the answer is", up to the end of the sentence: all of it is the answer, each word is accounted for. */
function statement(rest: string, cut: boolean, known: Known | undefined, before: string): string | undefined {
  const end = ENDS.exec(blank(rest, mathSegments(rest), '\uE000'));
  const place = end?.index ?? rest.length;
  const raw = rest.slice(0, place);
  // "The answer is 42? No, …" asks.
  if (end?.[0] === '?' || end?.[0] === '？') return undefined;
  // The end of a text that was cut may be half of a number.
  if (cut && (!end || (end[0] === '.' && place + 1 >= rest.length)) && !/(?:\$|\\[)\]]|\*\*)\s*$/.test(raw))
    return undefined;
  const stated = known ? unexplained(raw, known, before) : raw;
  const sentence = stated
    ?.replace(/\s+\(i\.?e\.?,?\s+([^()]{1,60})\)/, ' = $1')
    .replace(PLACE, '')
    .replace(/(?<![\w)}])\*\*|\*\*(?![\w({\\])|^\*|\*$|["“”]/g, '')
    .replace(/^(?:given by|found to be) /, '')
    .trim();
  return sentence !== undefined && /[\p{L}\p{N}\\]/u.test(sentence) ? sentence : undefined;
}

/** Keeps the places of what remains. */
export function blank(text: string, segments: readonly Segment[], by: string): string {
  let out = '';
  let at = 0;
  for (const { start, end } of segments) {
    out += text.slice(at, start) + by.repeat(end - start);
    at = end;
  }
  return out + text.slice(at);
}
