// JSON from outside: refuses what JSON.parse silently accepts: a key twice in one object (the last would win), and nesting
// that would overflow a recursive reader. Numbers that lose digits are found for data sets. Linear in the text.
// Not covered: the files of a model, read as their own libraries read them; calls in a model's text (environments/tools/formats/json.ts).

/** Deeper than any data set or reply needs; recursive readers are safe up to this depth. */
export const MAX_NESTING = 200;

/** The text is JSON, and not to be taken. `message` continues "it". */
export class DoubtfulJson extends SyntaxError {}

/** Does what JSON.parse does, for every text that others wrote. Throws a SyntaxError, a DoubtfulJson for JSON that is refused. */
export function strictJson(text: string): unknown {
  const value = JSON.parse(text) as unknown;
  const { keys, tooDeep } = measure(value);
  if (tooDeep) throw new DoubtfulJson(`is nested deeper than ${MAX_NESTING} levels`);
  if (keysIn(text) === keys) return value;
  throw new DoubtfulJson(`has the key ${JSON.stringify((doubledKey(text) ?? '').slice(0, 80))} twice in one object`);
}

interface JsonFacts {
  /** `extra.index`: the path of the first key that occurs twice in its object. */
  readonly doubled: string | undefined;
  /** Values of numbers whose written digits mean another value. */
  readonly inexact: ReadonlySet<number>;
  readonly tooDeep: boolean;
}

const NONE: ReadonlySet<number> = new Set();

/** `value` is the result of JSON.parse on `text`. */
export function jsonFacts(text: string, value: unknown): JsonFacts {
  let inexact: Set<number> | undefined;
  const written = keysIn(text, (gap) => {
    if (/[\d.]{16}|[eE][-+]?\d{3}/.test(gap)) for (const number of inexactIn(gap)) (inexact ??= new Set()).add(number);
  });
  const { keys, tooDeep } = measure(value);
  return { doubled: written === keys || tooDeep ? undefined : doubledKey(text), inexact: inexact ?? NONE, tooDeep };
}

/** True if objects and lists are nested more than this deep. */
export function deeperThan(value: unknown, levels: number): boolean {
  let level: unknown[] = [value];
  for (let depth = 0; level.length > 0; depth++) {
    if (depth > levels) return true;
    level = level.flatMap((node) => (isNode(node) ? Object.values(node).filter(isNode) : []));
  }
  return false;
}

const isNode = (value: unknown): value is object => typeof value === 'object' && value !== null;

/** Keys of all objects. */
function measure(value: unknown): { readonly keys: number; readonly tooDeep: boolean } {
  let keys = 0;
  let level: object[] = isNode(value) ? [value] : [];
  for (let depth = 0; level.length > 0; depth++) {
    if (depth > MAX_NESTING) return { keys, tooDeep: true };
    const next: object[] = [];
    for (const node of level) {
      if (Array.isArray(node)) {
        for (const child of node as unknown[]) if (isNode(child)) next.push(child);
        continue;
      }
      for (const key of Object.keys(node)) {
        keys++;
        const child = (node as Record<string, unknown>)[key];
        if (isNode(child)) next.push(child);
      }
    }
    level = next;
  }
  return { keys, tooDeep: false };
}

/** The position after the closing quote of the string that opens at `open`. */
function stringEnd(text: string, open: number): number {
  for (let at = open + 1; ;) {
    const close = text.indexOf('"', at);
    let slash = close;
    while (text.charCodeAt(slash - 1) === BACKSLASH) slash--;
    if ((close - slash) % 2 === 0) return close + 1;
    at = close + 1;
  }
}

const BACKSLASH = 92;
const COLON = 58;

function isKey(text: string, end: number): boolean {
  let at = end;
  while (text.charCodeAt(at) <= 32) at++;
  return text.charCodeAt(at) === COLON;
}

/** Shorter than the shortest number that could lose digits: `1e-400`. */
const SHORT_GAP = 6;

/** Keys as they are written. `onGap` gets the text between strings. */
function keysIn(text: string, onGap?: (gap: string) => void): number {
  let keys = 0;
  for (let at = 0; ;) {
    const open = text.indexOf('"', at);
    const gapEnd = open < 0 ? text.length : open;
    if (onGap && gapEnd - at >= SHORT_GAP) onGap(text.slice(at, gapEnd));
    if (open < 0) return keys;
    at = stringEnd(text, open);
    if (isKey(text, at)) keys++;
  }
}

function* inexactIn(gap: string): Generator<number> {
  for (const [token] of gap.matchAll(/-?\d[\d.]*(?:[eE][-+]?\d+)?/g)) {
    const value = Number(token);
    if (!Number.isFinite(value) || decimalOf(token) !== decimalOf(String(value))) yield value;
  }
}

/** A number's digits and the position of its point, the same for all spellings of a value. */
function decimalOf(token: string): string {
  const [mantissa = '', exponent = '0'] = token.replace(/^-/, '').toLowerCase().split('e');
  const [whole = '', rest = ''] = mantissa.split('.');
  const digits = whole + rest;
  let from = 0;
  while (digits[from] === '0') from++;
  let to = digits.length;
  while (to > from && digits[to - 1] === '0') to--;
  return from === to ? '0' : `${digits.slice(from, to)}@${whole.length - from + Number(exponent)}`;
}

/** Walks the text with one set of keys for each open object. */
function doubledKey(text: string): string | undefined {
  const open: { readonly keys: Set<string> | null; at: string }[] = [];
  for (let at = 0; at < text.length; at++) {
    const c = text[at];
    if (c === '{') open.push({ keys: new Set(), at: '' });
    else if (c === '[') open.push({ keys: null, at: '[]' });
    else if (c === '}' || c === ']') open.pop();
    else if (c === '"') {
      const end = stringEnd(text, at);
      const inside = open.at(-1);
      if (inside?.keys && isKey(text, end)) {
        inside.at = JSON.parse(text.slice(at, end)) as string;
        if (inside.keys.has(inside.at))
          return open
            .map(({ at: key }) => key)
            .join('.')
            .replaceAll('.[]', '[]');
        inside.keys.add(inside.at);
      }
      at = end - 1;
    }
  }
  return undefined;
}
