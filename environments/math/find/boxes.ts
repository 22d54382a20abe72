// Finds `\boxed{…}` (and `\fbox{…}`) in one pass, and the last of them with its neighbours. Nested boxes give the outermost; a box that
// never closes is reported as unfinished and never taken for an answer. Linear in length.

import { percentBehind } from './percent.ts';

export interface Box {
  /** The text between the braces. */
  readonly content: string;
  /** Offset of the backslash, and of the character after the closing brace. */
  readonly start: number;
  readonly end: number;
}

interface BoxScan {
  readonly boxes: readonly Box[];
  /** A last box was opened and not closed: the answer was cut off. */
  readonly unfinished: boolean;
}

const COMMANDS = ['boxed', 'fbox'];

const NONE: BoxScan = { boxes: [], unfinished: false };

/** Each is looked for up to the end of the text. */
const MOST_UNCLOSED = 20;

export function scanBoxes(text: string): BoxScan {
  if (!COMMANDS.some((name) => text.includes(name))) return NONE;
  const boxes: Box[] = [];
  let unfinished = false;
  let unclosed = 0;
  let from = 0;
  for (;;) {
    const start = text.indexOf('\\', from);
    if (start < 0) break;
    from = start + 1;
    const command = COMMANDS.find((name) => text.startsWith(name, start + 1));
    if (!command) {
      continue;
    }
    let at = start + 1 + command.length;
    while (text[at] === ' ') at++;
    if (text[at] !== '{') {
      // `\boxed 5`: one bare token.
      const bare = /^[^\s\\{}$.,;]+/.exec(text.slice(at, at + 40));
      if (bare && at > start + 1 + command.length) {
        boxes.push({ content: bare[0], start, end: at + bare[0].length });
        unfinished = false;
      }
      continue;
    }
    const close = closingBrace(text, at);
    if (close < 0) {
      // Boxes inside it may still close.
      unfinished = true;
      if (++unclosed > MOST_UNCLOSED) break;
      continue;
    }
    boxes.push({ content: text.slice(at + 1, close), start, end: close + 1 });
    unfinished = false;
    from = close + 1;
  }
  return { boxes, unfinished };
}

function closingBrace(text: string, open: number): number {
  let depth = 0;
  for (let i = open; i < text.length; i++) {
    const c = text.charCodeAt(i);
    if (c === 92) i++;
    else if (c === 123) depth++;
    else if (c === 125 && --depth === 0) return i;
  }
  return -1;
}

interface Boxed {
  /** `bare`: without the percent sign that stands outside the box. */
  readonly value: { readonly text: string; readonly bare?: string };
  /** Offset behind the last box. */
  readonly end: number;
}

const MOST_JOINED = 30;

/** The last closed box that says something, with those before it that "and", "or" or a comma joins to it. */
export function lastBoxes(text: string): Boxed | undefined {
  const boxes = scanBoxes(text).boxes.filter(({ content }) => content.trim() !== '');
  const last = boxes.at(-1);
  if (!last) return undefined;
  const group = [last];
  for (let k = boxes.length - 2; k >= 0 && group.length < MOST_JOINED; k--) {
    const box = boxes[k]!;
    if (!joins(text.slice(box.end, group[0]!.start))) break;
    group.unshift(box);
  }
  const joined = group.map(({ content }) => content.trim()).join(' , ');
  const isShare = group.length === 1 && !joined.includes('%') && percentBehind(text, last.end);
  const value = isShare ? { text: `${joined}\\%`, bare: joined } : { text: joined };
  return { value, end: last.end };
}

const JOIN_CHARS = 80;
const JOIN_WORDS_CHARS = 32;

/** Between two boxes of one sentence: "and" or "or", a comma, or nothing but blanks and signs that set them. */
function joins(gap: string): boolean {
  if (gap.length > JOIN_CHARS || gap.includes('\n')) return false;
  const plain = gap
    .replace(/\\[()[\]]|\$|\\q?quad|\\[,;:! ]|\\text|\\mathrm|\\mbox|[{}~*]/g, ' ')
    .replace(/[A-Za-z](?:_\{?\w+\}?)?\s*=\s*$/, '')
    .trim();
  if (!/[\p{L}\p{N}.=]/u.test(plain)) return true;
  return plain.length <= JOIN_WORDS_CHARS && !/[.=]/.test(plain) && /(?:^|\s)(?:and|or)(?:\s|$)/i.test(plain);
}
