// Reads one JSON value out of a longer text: RFC 8259, and besides it no doubled keys, no integers that a double would
// change, no halves of surrogate pairs, at most 100 levels. Linear in what it reads; a fault names its place.

import type { Json } from '../../../domain/text/json.ts';

export type ReadJson =
  | { readonly ok: true; readonly value: Json; readonly end: number }
  | { readonly ok: false; readonly error: string; readonly at: number };

const MAX_DEPTH = 100;
const NUMBER = /-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?/y;
const ESCAPE = /\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})/y;

/** The value that begins at `from`, after white space. */
export function readJsonAt(text: string, from: number): ReadJson {
  const start = skipSpace(text, from);
  const scanned = scan(text, start);
  if (typeof scanned !== 'number') return { ok: false, ...scanned };
  return { ok: true, value: JSON.parse(text.slice(start, scanned)) as Json, end: scanned };
}

/** The text as one JSON value, or null. */
export function wholeJson(text: string): { readonly value: Json } | null {
  const read = readJsonAt(text, 0);
  return read.ok && skipSpace(text, read.end) === text.length ? { value: read.value } : null;
}

export function isJsonObject(value: Json): value is { readonly [key: string]: Json } {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** JSON's white space only. */
export function skipSpace(text: string, from: number): number {
  let at = from;
  while (at < text.length && ' \n\r\t'.includes(text[at]!)) at++;
  return at;
}

interface Fault {
  readonly error: string;
  readonly at: number;
}

/** The end of the value, or a fault. Its own stack: depth is a limit of ours and not of the machine. */
function scan(text: string, start: number): number | Fault {
  /** A set of keys for each open object, null for each open array. */
  const open: (Set<string> | null)[] = [];
  let at = start;
  for (;;) {
    // A value begins here.
    at = skipSpace(text, at);
    const first = text[at];
    if (first === '{' || first === '[') {
      if (open.length === MAX_DEPTH) return fault(`it is nested more than ${MAX_DEPTH} levels deep`, at);
      open.push(first === '{' ? new Set() : null);
      at = skipSpace(text, at + 1);
      if (text[at] === (first === '{' ? '}' : ']')) {
        open.pop();
        at++;
      } else if (first === '[') {
        continue;
      } else {
        const behind = key(text, at, open.at(-1)!);
        if (typeof behind !== 'number') return behind;
        at = behind;
        continue;
      }
    } else {
      const end = scalar(text, at);
      if (typeof end !== 'number') return end;
      at = end;
    }
    // A value ends here: what is around it goes on or ends too.
    for (;;) {
      const keys = open.at(-1);
      if (keys === undefined) return at;
      at = skipSpace(text, at);
      const close = keys ? '}' : ']';
      if (text[at] === close) {
        open.pop();
        at++;
        continue;
      }
      if (text[at] !== ',') return fault(`a comma or ${close} is missing`, at, text);
      at = skipSpace(text, at + 1);
      if (keys) {
        const behind = key(text, at, keys);
        if (typeof behind !== 'number') return behind;
        at = behind;
      }
      break;
    }
  }
}

/** Behind the colon of a key, which joins `keys`. */
function key(text: string, at: number, keys: Set<string>): number | Fault {
  if (text[at] !== '"') return fault('a key in double quotes is missing', at, text);
  const end = string(text, at);
  if (typeof end !== 'number') return end;
  const name = JSON.parse(text.slice(at, end)) as string;
  if (keys.has(name)) return fault(`the key ${short(name)} stands twice in one object`, at);
  keys.add(name);
  const colon = skipSpace(text, end);
  if (text[colon] !== ':') return fault(`a colon is missing behind the key ${short(name)}`, colon, text);
  return colon + 1;
}

function scalar(text: string, at: number): number | Fault {
  const first = text[at];
  if (first === '"') return string(text, at);
  for (const literal of ['true', 'false', 'null']) if (text.startsWith(literal, at)) return at + literal.length;
  NUMBER.lastIndex = at;
  const number = NUMBER.exec(text)?.[0];
  if (number === undefined) return fault('a value is missing', at, text);
  const value = Number(number);
  if (!Number.isFinite(value)) return fault(`the number ${short(number)} is too large`, at);
  // The number has at most 309 digits: longer ones are not finite.
  if (!Number.isSafeInteger(value) && !/[.eE]/.test(number) && BigInt(number) !== BigInt(value)) {
    return fault(`the integer ${short(number)} is beyond 2^53 and would not be kept exactly: write it as a string`, at);
  }
  return at + number.length;
}

function string(text: string, from: number): number | Fault {
  let high = false;
  for (let at = from + 1; at < text.length;) {
    const code = text.charCodeAt(at);
    let unit = code;
    let length = 1;
    if (code === 0x22) return high ? fault(HALF, at) : at + 1;
    if (code < 0x20) return fault(`a string holds ${CONTROL[text[at]!] ?? 'a control character'} as it is`, at);
    if (code === 0x5c) {
      ESCAPE.lastIndex = at;
      const escape = ESCAPE.exec(text)?.[0];
      if (escape === undefined) return fault(`${short(text.slice(at, at + 2))} is no escape`, at);
      length = escape.length;
      unit = length === 6 ? Number.parseInt(escape.slice(2), 16) : 0;
    }
    const low = unit >= 0xdc00 && unit < 0xe000;
    if (low !== high) return fault(HALF, at);
    high = unit >= 0xd800 && unit < 0xdc00;
    at += length;
  }
  return fault('a string is not closed', text.length);
}

const HALF = 'a string holds half of a surrogate pair';
const CONTROL: Readonly<Record<string, string>> = {
  '\n': 'a line break (write \\n)',
  '\t': 'a tab (write \\t)',
  '\r': 'a carriage return (write \\r)',
};

/** `text`: shows what stands there instead. */
function fault(error: string, at: number, text?: string): Fault {
  if (text === undefined) return { error, at };
  return { error: at >= text.length ? `${error}: the text ends` : `${error} before ${short(text.slice(at))}`, at };
}

function short(text: string): string {
  return JSON.stringify(text.length > 20 ? `${text.slice(0, 20)}…` : text);
}
