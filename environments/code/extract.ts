// Finds the program in an answer: the last closed fence of three or more backticks (or `~`) that names Python; else the last
// that names no language, of some length; else the last of another one; of these the last that defines what is called, if one
// does. What is shown beside a program, its input, its output and how it is run, so never takes its place. Fences are read as
// in CommonMark, and backticks within a line as well. One pass, linear in the answer's length. An unclosed fence counts as
// empty; a text that ends within its thought has no program.

import { behindThoughts } from '../../packages/judge/index.ts';
import { languageOf } from '../../packages/sandbox/index.ts';

export interface CodeBlock {
  readonly code: string;
  /** The word after the opening fence, in lower case; empty if there is none. */
  readonly tag: string;
}

/** A fence of fewer characters without a language may show an output, and within a line is a quotation. */
const FEW_CHARS = 20;

/** A fence, with what stands before it where it begins its line: indentation, the mark of a list's item. */
const FENCE = /(?:^([ \t]*(?:(?:[-*+]|\d{1,9}[.)])[ \t]+)?)|)(`{3,}|~{3,})/gm;
const widthOf = (prefix = ''): number => prefix.replaceAll('\t', '    ').length;

/** `answers`: whether a program has what is called. */
export function lastCodeBlock(answer: string, answers: (code: string) => boolean = () => true): CodeBlock | undefined {
  if (behindThoughts(answer).isOpen) return undefined;
  let last: CodeBlock | undefined;
  const rankOf = (block: CodeBlock): number => 2 * kindOf(block) + Number(answers(block.code));
  let opened: { readonly prefix: string | undefined; readonly fence: string; readonly from: number } | undefined;
  for (const { index, 0: all, 1: prefix, 2: fence = '' } of answer.matchAll(FENCE)) {
    if (fence.startsWith('~') && prefix === undefined) continue;
    if (opened === undefined) {
      opened = { prefix, fence, from: index + all.length };
      continue;
    }
    // This fence stands in a docstring, or is of the other kind, or shorter, than the one that it stands in.
    if (widthOf(prefix) >= widthOf(opened.prefix) + 4 || !fence.startsWith(opened.fence)) continue;
    const block = blockOf(answer.slice(opened.from, index), opened.prefix?.length ?? 0);
    if (block && (last === undefined || rankOf(block) >= rankOf(last))) last = block;
    opened = undefined;
  }
  return last;
}

const isLong = (code: string): boolean => code.trim().length >= FEW_CHARS;
const kindOf = ({ code, tag }: CodeBlock): number => (tag === '' ? (isLong(code) ? 2 : 0) : languageOf(tag) ? 3 : 1);

function blockOf(content: string, indent: number): CodeBlock | undefined {
  const lineEnd = content.indexOf('\n');
  const firstLine = lineEnd < 0 ? '' : content.slice(0, lineEnd).trim();
  // A single word on the fence's line is the language, as in every Markdown parser; attributes may follow.
  const [, tag] = lineEnd < 0 ? [] : (/^([\w+#.-]{0,20})(?:\s*\{[^{}]*\}|\s+[\w-]+=\S+)?$/.exec(firstLine) ?? []);
  const body = tag !== undefined ? content.slice(lineEnd + 1) : content;
  const code = body
    .replaceAll('\r\n', '\n')
    .replace(new RegExp(`^[ \\t]{0,${indent}}`, 'gm'), '')
    .replace(/^(?:[ \t]*\n)+/, '')
    .trimEnd();
  if (code.trim() === '' || (lineEnd < 0 && !isLong(code))) return undefined;
  return { code, tag: tag?.toLowerCase() ?? '' };
}
