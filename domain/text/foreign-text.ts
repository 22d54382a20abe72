// Text from outside (a model, a data set, a server, a file) made safe to show: on a terminal, in one line, in Markdown,
// in JSON. Pure. Every reader of foreign text uses these functions; none has a character class of its own.
// Not covered: HTML, file names (ids.ts) and secrets that the caller does not name.

import { withoutSecret } from './secret.ts';

/** Control and direction characters that steer a terminal, except newline and tab. */
const STEERING = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/gu;
/** Characters without a visible shape: controls, formats, surrogates, unassigned, line and paragraph separators. */
const UNSEEN = /[\p{C}\p{Zl}\p{Zp}]/gu;
const BLANK = /[\u0000-\u001f\u007f-\u009f\u061c\u200b-\u200f\u2028-\u202e\u2066-\u2069\ufeff\s]+/gu;

/** The same text with steering characters made visible: ESC is `␛`, U+009B is `\u009b`. Line breaks remain. */
export function visible(text: string): string {
  return text.replace(STEERING, (char) => {
    const code = char.codePointAt(0)!;
    if (code < 0x20) return String.fromCodePoint(0x2400 + code);
    return code === 0x7f ? '␡' : escaped(code);
  });
}

/** The same text with U+FFFD for each steering character, for formats that have no escape for them. */
export function withoutSteering(text: string): string {
  return text.replace(STEERING, '\ufffd');
}

/** `visible`, on one line. */
export function oneLine(text: string): string {
  return visible(text).replace(/[\n\t]/g, ' ');
}

/**
 * A text for a message, of at most `maxChars` characters: one line, invisible characters as `\u{…}`, `secret` replaced by
 * `[key]`.
 */
export function short(text: string, maxChars: number, secret: string | null = null): string {
  // Cut before the replacement: it may be a megabyte of control characters. Secrets are found before the last cut.
  const head = text.slice(0, maxChars * 40);
  const clean = (secret === null ? head : withoutSecret(head, secret)).slice(0, maxChars + 1).trim();
  const spelled = clean.replace(UNSEEN, (c) => (c === '\n' ? ' ' : `\\u{${c.codePointAt(0)!.toString(16)}}`));
  return spelled.length > maxChars || text.length > maxChars ? `${spelled.slice(0, maxChars - 1)}…` : spelled;
}

/** The last lines that say something (Python's underlines do not), each as `short`, with their margins: a traceback's own end. */
export function lastLines(text: string): string {
  const lines = text.slice(-TRACE_CHARS).split('\n');
  const tellingLines = lines.filter((line) => /[^\s~^]/.test(line)).slice(-TRACE_LINES);
  return tellingLines.map((line) => /^ {0,8}/.exec(line)![0] + short(line, TRACE_LINE_CHARS)).join('\n');
}

/**
 * A message cut to `maxChars` characters: its first line, and its last ones, where an error says what it is.
 * The lines between them that do not fit are counted.
 */
export function headAndTail(text: string, maxChars: number): string {
  if (text.length <= maxChars) return text;
  const lines = text.split('\n');
  const cut = (line: string, chars: number) =>
    line.length > chars ? `${line.slice(0, Math.max(0, chars - 1))}…` : line;
  const first = cut(lines[0]!, lines.length === 1 ? maxChars : Math.ceil(maxChars / 2));
  let room = maxChars - first.length - MOST_COUNTED_CHARS;
  let from = lines.length;
  while (from > 1 && lines[from - 1]!.length < room) room -= lines[--from]!.length + 1;
  const last = lines.slice(from);
  // The end of a last line that does not fit says the most.
  if (last.length === 0 && lines.length > 1) last.push(`…${lines[--from]!.slice(1 - Math.max(2, room))}`);
  const between = from > 1 ? [`… (${from - 1} lines) …`] : [];
  return [first, ...between, ...last].join('\n');
}

const MOST_COUNTED_CHARS = 30;

const TRACE_CHARS = 16_384;
const TRACE_LINES = 12;
const TRACE_LINE_CHARS = 160;

/** The text, cut in its middle to so many bytes of UTF-8, with the count of what is left out. */
export function clippedToBytes(text: string, mostBytes: number): string {
  const bytes = new TextEncoder().encode(text);
  if (bytes.length <= mostBytes) return text;
  const half = Math.floor(mostBytes / 2);
  const [head, tail] = [bytes.subarray(0, boundary(bytes, half)), bytes.subarray(boundary(bytes, bytes.length - half))];
  const decode = (part: Uint8Array): string => new TextDecoder().decode(part);
  return `${decode(head)}\n[${bytes.length - head.length - tail.length} bytes left out]\n${decode(tail)}`;
}

/** The place at or before `at` where no character is cut. */
function boundary(bytes: Uint8Array, at: number): number {
  let place = at;
  while (place > 0 && (bytes[place]! & 0xc0) === 0x80) place--;
  return place;
}

/** The first words on one line of at most `maxChars` characters, for a title: invisible characters become a space. */
export function firstWords(text: string, maxChars = 80): string {
  // Only the beginning of a megabyte of text is read, unless that is white space.
  for (let length = 16 * maxChars; ; length *= 8) {
    const line = text.slice(0, length).replace(BLANK, ' ').trim();
    const chars = [...line];
    if (chars.length > maxChars) return `${chars.slice(0, maxChars - 1).join('')}…`;
    if (length >= text.length) return line;
  }
}

/** One line in which every mark of Markdown and HTML is escaped. */
export function escapeMarkdown(text: string): string {
  return text
    .replace(/[\r\n\u2028\u2029]+/g, ' ')
    .replace(/[\\`*_{}[\]()#+\-!|<>~&]/g, (c) =>
      c === '<' ? '&lt;' : c === '>' ? '&gt;' : c === '&' ? '&amp;' : `\\${c}`,
    );
}

/** JSON in which no character steers a terminal; parses to the same value. */
export function terminalJson(value: unknown): string {
  return JSON.stringify(value).replace(STEERING, (char) => escaped(char.codePointAt(0)!));
}

const escaped = (code: number): string => `\\u${code.toString(16).padStart(4, '0')}`;

export interface MarkdownColumn {
  readonly name: string;
  readonly align: 'left' | 'right';
}

/** Cells are padded by no-break spaces: the UI draws no space between columns. */
export function markdownTable(
  columns: readonly MarkdownColumn[],
  rows: readonly (readonly (string | number)[])[],
): string[] {
  const line = (cells: readonly (string | number)[]) => `| ${cells.map((c) => `\u00a0${c}\u00a0`).join(' | ')} |`;
  const rule = columns.map(({ align }) => (align === 'right' ? '---:' : '---'));
  return [line(columns.map((c) => c.name)), `|${rule.join('|')}|`, ...rows.map(line)];
}
