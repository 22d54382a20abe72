// The JSON of a reply, or a name for other content: HTML, an event stream, a truncated text. The parser's own words say where
// any other text is no JSON, and what is there.

import { isUtf8 } from 'node:buffer';
import { short } from '../../domain/text/foreign-text.ts';
import { DoubtfulJson, strictJson } from '../../domain/text/json-text.ts';

import { badReply, type Place } from './http-errors.ts';

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
    const complaint = error instanceof Error ? error.message : '';
    const flaw = insteadOfJson(text, complaint);
    const [begins, why] = [text, complaint].map((words) => short(words, 200, place.secret));
    throw badReply(`sent an answer that is not JSON, but ${flaw}: ${begins} (${why})`, place, { flaw });
  }
  if (typeof value === 'object' && value !== null && 'error' in value && value.error) {
    throw badReply('sent an error beside its answer', place, { flaw: 'an error with a good status' });
  }
  return value;
}

function insteadOfJson(text: string, complaint: string): string {
  const start = text.trimStart().slice(0, 20);
  if (start.startsWith('<')) return 'HTML';
  if (/^(?:data|event|id|retry|):/.test(start)) return 'an event stream';
  if (!/^[[{"]/.test(start)) return 'plain text';
  // If the text ends within a literal or between parts, the parser names the missing token.
  const isCut = /Unexpected end|Unterminated/.test(complaint) || !/[\]}"]\s*$/.test(text);
  return isCut ? 'JSON that was cut' : 'malformed JSON';
}
