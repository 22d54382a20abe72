// A text of a model or a data set read as CommonMark, with tables and formulas. Raw HTML, images and link definitions
// stay text, and single line ends are kept, because models mean them. Nothing here makes markup: the result is tokens.

import MarkdownIt, { type Token } from 'markdown-it';
import { formulaAt } from './formula.ts';

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
