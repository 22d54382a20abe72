// Finds `\boxed{…}` (and `\fbox{…}`) in one pass, and the last of them with its neighbours. Nested boxes give the outermost; a box that
// never closes is reported as isOpen and never taken for an answer. Linear in length.

import { percentBehind } from './last-value.ts';

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
  readonly isOpen: boolean;
}

/** `\boxed 5` holds one bare token. */
const OPENING = /\\(?:boxed|fbox)(?:\s*\{| +([^\s\\{}$.,;]{1,40}))/g;

/** Each is looked for up to the end of the text. */
const MOST_UNCLOSED = 20;

export function scanBoxes(text: string): BoxScan {
  const boxes: Box[] = [];
  let unclosed = 0;
  let isOpen = false;
  let from = 0;
  for (const { index: start, 0: opening, 1: bare } of text.matchAll(OPENING)) {
    if (start < from) continue;
    const begin = start + opening.length;
    const close = bare === undefined ? closingBrace(text, begin - 1) : begin;
    isOpen = close < 0;
    // Boxes inside it may still close.
    if (isOpen && ++unclosed > MOST_UNCLOSED) break;
    if (isOpen) continue;
    from = bare === undefined ? close + 1 : begin;
    boxes.push({ content: bare ?? text.slice(begin, close), start, end: from });
  }
  return { boxes, isOpen };
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

export interface Boxed {
  /** The last closed box that says something, with those before it that "and", "or" or a comma joins to it. */
  readonly box: { readonly text: string; readonly bare?: string } | undefined;
  /** The text behind the last box; all of it, if there is none. */
  readonly behind: string;
  /** A last box was opened and not closed. */
  readonly isOpen: boolean;
}

const MOST_JOINED = 30;

export function boxed(text: string): Boxed {
  const { boxes, isOpen } = scanBoxes(text);
  const said = boxes.filter(({ content }) => content.trim() !== '');
  const last = said.pop();
  if (!last) return { box: undefined, behind: text, isOpen };
  const behind = text.slice(last.end);
  const group = [last];
  for (let box = said.pop(); box && group.length < MOST_JOINED; box = said.pop()) {
    if (!joins(text.slice(box.end, group[0]!.start))) break;
    group.unshift(box);
  }
  const joined = group.map(({ content }) => content.trim()).join(' , ');
  const isShare = group.length === 1 && !joined.includes('%') && percentBehind(text, last.end);
  return { box: isShare ? { text: `${joined}\\%`, bare: joined } : { text: joined }, behind, isOpen };
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
