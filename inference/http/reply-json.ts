// The JSON of a reply, or a name for other content: HTML, an event stream, a truncated text. The parser's own words say where
// any other text is no JSON, and what is there.

import { isUtf8 } from 'node:buffer';
import { short } from '../../domain/text/foreign-text.ts';
import { DoubtfulJson, strictJson } from '../../domain/text/json-text.ts';

import { badReply, complaintError, type RequestPlace } from './http-errors.ts';
import { failureIn } from './server-words.ts';

/** `isEnded`: the stream says itself that it is whole. */
export type Together = (events: readonly unknown[], isEnded: boolean) => unknown;

interface Reading {
  /** Given for a reply with a good status: a failure in its body counts as one of the status that it names. */
  readonly headers?: Readonly<Record<string, string | string[] | undefined>>;
  /** Puts the events of a stream together. */
  readonly events?: Together | undefined;
}

/** Null for an empty body. */
export function parseReplyJson(
  body: Buffer,
  said: string,
  place: RequestPlace,
  { headers = {}, events }: Reading = {},
): unknown {
  const text = said.replace(/^\uFEFF/, '');
  if (!isUtf8(body)) throw badReply('sent an answer that is not UTF-8', place, { flaw: 'not UTF-8' });
  if (text.trim() === '') return null;
  const value = events && isStream(text) ? streamed(text, events, place) : parsed(text, place, !events);
  const failure = failureIn(value);
  if (failure) throw complaintError(200, headers, failure, place);
  return value;
}

/** A string as it is, or a number as Python writes it. */
const NO_NUMBER = /"[^"\\]*(?:\\.[^"\\]*)*"|-?\b(?:NaN|Infinity)\b/gs;

/** `strictly`: each number is needed. An endpoint of texts may have one in a count that is none. */
function parsed(text: string, place: RequestPlace, strictly: boolean): unknown {
  try {
    return strictJson(text);
  } catch (error) {
    const plain = strictly ? text : text.replace(NO_NUMBER, (one) => (one.startsWith('"') ? one : 'null'));
    if (plain !== text) return parsed(plain, place, true);
    if (error instanceof DoubtfulJson)
      throw badReply(`sent an answer that ${error.message}`, place, { flaw: 'a key twice' });
    const complaint = error instanceof Error ? error.message : '';
    const flaw = insteadOfJson(text, complaint);
    const [begins, why] = [text, complaint].map((words) => short(words, 200, place.secret));
    throw badReply(`sent an answer that is not JSON, but ${flaw}: ${begins} (${why})`, place, { flaw });
  }
}

const isStream = (text: string): boolean => /^(?:data|event|id|retry|):/.test(text.trimStart().slice(0, 20));

const END = '[DONE]';

function streamed(text: string, events: Together, place: RequestPlace): unknown {
  const all = text.split(/\r?\n\r?\n/).map((event) => {
    const lines = event.split(/\r?\n/);
    const data = lines.flatMap((line) => (line.startsWith('data:') ? [line.slice(5).trim()] : [])).join('\n');
    return { data, isError: lines.some((line) => /^event: *error\s*$/.test(line)) };
  });
  const said = all.filter(({ data }) => data !== '' && data !== END);
  const values = said.map(({ data, isError }) => (isError ? errorIn(data) : parsed(data, place, false)));
  return events(
    values,
    all.some(({ data }) => data === END),
  );
}

/** The content of an event that is named an error: it may hold no more than words. */
function errorIn(data: string): unknown {
  try {
    const value = JSON.parse(data) as { readonly error?: unknown } | null;
    return { error: value?.error ?? value };
  } catch {
    return { error: data };
  }
}

function insteadOfJson(text: string, complaint: string): string {
  const start = text.trimStart().slice(0, 20);
  if (start.startsWith('<')) return 'HTML';
  if (isStream(text)) return 'an event stream';
  if (!/^[[{"]/.test(start)) return 'plain text';
  // If the text ends within a literal or between parts, the parser names the missing token.
  const isCut = /Unexpected end|Unterminated/.test(complaint) || !/[\]}"]\s*$/.test(text);
  return isCut ? 'JSON that was cut' : 'malformed JSON';
}
