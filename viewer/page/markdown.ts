// A text of a model or a data set read as CommonMark, with tables and formulas. Raw HTML, images and link definitions
// stay text, and single line ends are kept, because models mean them. Nothing here makes markup: the result is tokens.

import MarkdownIt, { type Token } from 'markdown-it';
import { boxAt } from '../../domain/text/boxed-answer.ts';

export type { Token };

/** Deeper lists and quotations stay text. */
const MOST_DEPTH = 20;

/** Places of a text where a formula is looked for: each costs some microseconds, also where none is. */
const MOST_LOOKS = 2_000;

const reader = new MarkdownIt('commonmark', { html: false, breaks: true, maxNesting: MOST_DEPTH });
reader.enable(['table', 'strikethrough']);
reader.disable(['code', 'lheading', 'reference', 'image', 'html_block', 'html_inline']);

reader.inline.ruler.before('escape', 'formula', (state, silent) => {
  const found = lookedFor(state.src, state.pos, state.env);
  if (!found || found.end > state.posMax) return false;
  if (!silent) push(state.push('formula', '', 0), found);
  state.pos = found.end;
  return true;
});

reader.block.ruler.before(
  'fence',
  'formula',
  (state, from, to, silent) => {
    const at = state.bMarks[from]! + state.tShift[from]!;
    const found = lookedFor(state.src, at, state.env);
    if (!found?.display) return false;
    let line = from;
    while (line < to && state.eMarks[line]! < found.end) line++;
    // The rest of its last line is empty, or it is a part of a paragraph.
    if (line === to || state.src.slice(found.end, state.eMarks[line]).trim() !== '') return false;
    if (!silent) {
      push(state.push('formula', '', 0), found);
      state.line = line + 1;
    }
    return true;
  },
  { alt: ['paragraph', 'blockquote', 'list'] },
);

/** `env`: of one text. */
function lookedFor(text: string, at: number, env: Record<string, unknown>): ReturnType<typeof formulaAt> {
  const looks = Number(env['looks'] ?? 0);
  if ((text[at] !== '$' && text[at] !== '\\') || looks >= MOST_LOOKS) return undefined;
  env['looks'] = looks + 1;
  return formulaAt(text, at);
}

function push(token: Token, { tex, display }: { readonly tex: string; readonly display: boolean }): void {
  token.content = tex;
  token.block = display;
}

export const readMarkdown = (text: string): readonly Token[] => reader.parse(text, {});

interface Formula {
  readonly tex: string;
  /** On lines of its own. */
  readonly display: boolean;
  /** The place behind it. */
  readonly end: number;
}

const MOST_CHARS = 4_000;
/** The first that fits counts. A dollar sign is also money, so that single ones must be close to what they hold. */
const MARKS = [
  ['$$', '$$', true],
  ['\\[', '\\]', true],
  ['\\(', '\\)', false],
] as const;
const DOLLARS = /^\$(?=[^\s$])((?:\\[^]|[^\\$]){0,1000}?)(?<=\S)\$(?!\d)/;
const ENVIRONMENT = /^\\begin\{([a-z]{1,20}\*?)\}/;

/** Undefined if none begins there. */
export function formulaAt(text: string, at: number): Formula | undefined {
  const char = text[at];
  if (char !== '$' && char !== '\\') return undefined;
  const rest = text.slice(at, at + MOST_CHARS);
  for (const [open, close, display] of MARKS) {
    if (!rest.startsWith(open)) continue;
    const end = rest.indexOf(close, open.length);
    const tex = rest.slice(open.length, end).trim();
    return end < 0 || tex === '' ? undefined : { tex, display, end: at + end + close.length };
  }
  if (char === '$') {
    const found = DOLLARS.exec(rest);
    return found && !/\n\s*\n/.test(found[1]!)
      ? { tex: found[1]!, display: false, end: at + found[0].length }
      : undefined;
  }
  const environment = ENVIRONMENT.exec(rest)?.[1];
  if (environment !== undefined) {
    const close = `\\end{${environment}}`;
    const end = rest.indexOf(close) + close.length;
    return end < close.length ? undefined : { tex: rest.slice(0, end), display: true, end: at + end };
  }
  const box = boxAt(rest, 0);
  return box && { tex: rest.slice(0, box.end), display: false, end: at + box.end };
}
