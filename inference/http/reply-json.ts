// The JSON of a reply, or a name for other content: HTML, an event stream, a truncated text.

import { isUtf8 } from 'node:buffer';
import { short } from '../../domain/text/foreign-text.ts';
import { DoubtfulJson, strictJson } from '../../domain/text/json-text.ts';

import { badReply, type Place } from './http-errors.ts';

const [QUOTE, BACKSLASH] = [0x22, 0x5c];

/** Null for an empty body. */
export function parseJson(body: Buffer, text: string, place: Place): unknown {
  if (!isUtf8(body)) throw badReply('sent an answer that is not UTF-8', place, { flaw: 'not UTF-8' });
  if (text.trim() === '') return null;
  let value: unknown;
  try {
    value = strictJson(text);
  } catch (error) {
    if (error instanceof DoubtfulJson)
      throw badReply(`sent an answer that ${error.message}`, place, { flaw: 'a key twice' });
    // The parser's own message quotes the body without escaping.
    const flaw = insteadOfJson(body, text, error instanceof Error ? error.message : '');
    const quoted = short(text, 200, place.secret);
    throw badReply(`sent an answer that is not JSON, but ${flaw}: ${quoted}`, place, { flaw });
  }
  if (typeof value === 'object' && value !== null && 'error' in value && value.error) {
    throw badReply('sent an error beside its answer', place, { flaw: 'an error with a good status' });
  }
  return value;
}

const BOM = '\uFEFF';
/** Spellings of other writers that JSON does not have, searched outside of strings. */
const SPELLINGS: readonly [RegExp, string][] = [
  [/\bNaN\b|\bInfinity\b/i, 'JSON with NaN or Infinity'],
  [/\b(?:None|True|False|undefined)\b/, 'JSON with a literal of another language'],
  [/\/[/*]/, 'JSON with comments'],
  [/'/, 'JSON with single quotes'],
  [/,\s*[\]},]/, 'JSON with a comma too many'],
];

/** A name for a body that cannot be parsed; never empty. */
function insteadOfJson(body: Buffer, text: string, complaint: string): string {
  if (text.startsWith(BOM)) return 'JSON behind a byte order mark';
  if (text.includes('\0')) return 'a text with zero bytes (UTF-16?)';
  const start = text.trimStart().slice(0, 20);
  if (start.startsWith('<')) return 'HTML';
  if (/^(?:data|event|id|retry|):/.test(start)) return 'an event stream';
  const outside = outsideTexts(body);
  const spelling = /^[[{"\d/'-]|^(?:NaN|Infinity|None|True|False)\b/i.test(start)
    ? SPELLINGS.find(([spelt]) => spelt.test(outside))
    : undefined;
  if (spelling) return spelling[1];
  if (/after JSON/.test(complaint)) return 'JSON with more behind it';
  if (/Unexpected end|Unterminated/.test(complaint)) return 'JSON that was cut';
  // If the text ends within a literal or between parts, the parser names the missing token.
  if (/^[[{]/.test(start) && !/[\]}]\s*$/.test(text)) return 'JSON that was cut';
  return /^[[{]/.test(start) ? 'malformed JSON' : 'plain text';
}

/** The text outside of double quotes. */
function outsideTexts(json: Buffer): string {
  const parts: string[] = [];
  for (let from = 0; from < json.length;) {
    const quote = json.indexOf(QUOTE, from);
    const end = quote < 0 ? json.length : quote;
    parts.push(json.toString('latin1', from, end));
    from = quote < 0 ? json.length : endOfText(json, quote) + 1;
  }
  return parts.join('""');
}

function endOfText(json: Buffer, start: number): number {
  for (let quote = json.indexOf(QUOTE, start + 1); ; quote = json.indexOf(QUOTE, quote + 1)) {
    if (quote < 0) return json.length;
    let slashes = 0;
    while (json[quote - 1 - slashes] === BACKSLASH) slashes++;
    if (slashes % 2 === 0) return quote;
  }
}
