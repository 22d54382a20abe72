// The walk over an answer that formats with marked calls share: thinking, text, calls. Each marker is searched for once,
// from left to right, so that a text of a million openings takes no longer than any other.

import { THOUGHT_MARKS } from '../../../domain/text/thoughts.ts';
import type { Call, ParsedReply, ToolFormat, ToolSchema } from './reply.ts';

/** The place of the first `needle` at or after `from`, or -1. Linear in all, if `from` grows. */
export type Find = (needle: string, from: number) => number;

export function finder(text: string): Find {
  const known = new Map<string, { from: number; at: number }>();
  return (needle, from) => {
    const last = known.get(needle);
    if (last && from >= last.from && (last.at < 0 || from <= last.at)) return last.at;
    const at = text.indexOf(needle, from);
    known.set(needle, { from, at });
    return at;
  };
}

/** The first of the needles; of two at one place the earlier in the list. Null if there is none. */
export function firstOf(
  find: Find,
  needles: readonly string[],
  from: number,
): { readonly at: number; readonly needle: string } | null {
  let first: { at: number; needle: string } | null = null;
  for (const needle of needles) {
    const at = find(needle, from);
    if (at >= 0 && (first === null || at < first.at)) first = { at, needle };
  }
  return first;
}

/**
 * The end of a call whose JSON is broken: behind the next of `close`, or before the next of `open`, or with the text. Tags
 * inside of strings do not count: what a call only quotes is never run. `from`: outside of strings.
 */
export function giveUp(
  text: string,
  find: Find,
  from: number,
  close: readonly string[],
  open: readonly string[],
): number {
  for (let at = from; ;) {
    const tag = firstOf(find, [...close, ...open], at);
    if (tag === null) return text.length;
    const quote = find('"', at);
    if (quote < 0 || tag.at < quote) return open.includes(tag.needle) ? tag.at : tag.at + tag.needle.length;
    at = quote + 1;
    while (at < text.length && text[at] !== '"') at += text[at] === '\\' ? 2 : 1;
    at++;
  }
}

/** Behind the next `tag`, or the end of the text. */
export function behindTag(text: string, find: Find, from: number, tag: string): number {
  const at = find(tag, from);
  return at < 0 ? text.length : at + tag.length;
}

export interface Walk {
  readonly openings: readonly string[];
  readonly stops: readonly string[];
  /** The calls from the opening at `at` on, and their end; null if it opens nothing and is text. */
  readonly read: (text: string, at: number, opening: string, find: Find) => Read | null;
}

export interface Read {
  readonly calls: readonly Call[];
  readonly end: number;
}

/** A format of marked calls. `reader`: for one answer. */
export function markedFormat(
  name: string,
  { reader, ...parts }: Omit<Walk, 'read'> & { readonly reader: (tools: readonly ToolSchema[]) => Walk['read'] },
): ToolFormat {
  return {
    name,
    openings: parts.openings,
    stops: parts.stops,
    parse: (text, tools) => walkReply(text, { ...parts, read: reader(tools) }),
    resultMessage: (_, output) => ({ role: 'tool', content: output }),
  };
}

/** The mark that closes a thought, by the one that opens it. */
const CLOSING: ReadonlyMap<string, string> = new Map(THOUGHT_MARKS);

export function walkReply(answer: string, { openings, stops, read }: Walk): ParsedReply {
  const text = withoutEnd(answer, stops);
  const find = finder(text);
  const content: string[] = [];
  const thinking: string[] = [];
  const calls: Call[] = [];
  const needles = [...CLOSING.keys(), ...openings];
  // Thinking that the prompt has opened ends before anything else begins.
  const closed = firstOf(find, [...CLOSING.values()], 0);
  const begins = firstOf(find, needles, 0);
  let at = 0;
  if (closed !== null && (begins === null || closed.at < begins.at)) {
    thinking.push(text.slice(0, closed.at));
    at = closed.at + closed.needle.length;
  }
  let plain = at;
  for (;;) {
    const next = firstOf(find, needles, at);
    if (next === null) break;
    const behind = next.at + next.needle.length;
    const closing = CLOSING.get(next.needle);
    if (closing !== undefined) {
      content.push(text.slice(plain, next.at));
      const close = find(closing, behind);
      thinking.push(text.slice(behind, close < 0 ? text.length : close));
      plain = at = close < 0 ? text.length : close + closing.length;
      continue;
    }
    const found = read(text, next.at, next.needle, find);
    if (found === null) {
      at = behind;
      continue;
    }
    content.push(text.slice(plain, next.at));
    calls.push(...found.calls);
    plain = at = found.end;
  }
  content.push(text.slice(plain));
  return { content: content.join('').trim(), thinking: thinking.join('\n').trim(), calls };
}

/** The text without one stop token at its end. */
export function withoutEnd(text: string, stops: readonly string[]): string {
  const stop = stops.find((stop) => text.endsWith(stop));
  return stop === undefined ? text : text.slice(0, -stop.length);
}
