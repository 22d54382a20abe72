// Finds the program in an answer: the last closed fence of three or more backticks. A few characters in a fence of no
// language, as a program's output is shown, do not take the place of a program before them. One pass, linear in the answer's
// length. An unclosed fence counts as empty; a text that ends within its thought has no program.

import { behindThoughts } from '../../domain/text/thoughts.ts';
import { languageOf } from './languages.ts';

export interface CodeBlock {
  readonly code: string;
  /** The word after the opening fence, in lower case; empty if there is none. */
  readonly tag: string;
}

/** A fence of fewer characters without a language of ours may show an output, and within a line is a quotation. */
const FEW_CHARS = 20;

export function lastCodeBlock(answer: string): CodeBlock | undefined {
  if (behindThoughts(answer).isOpen) return undefined;
  let last: CodeBlock | undefined;
  let opened: number | undefined;
  for (const { index, 0: fence } of answer.matchAll(/`{3,}/g)) {
    if (opened === undefined) {
      opened = index + fence.length;
      continue;
    }
    const block = blockOf(answer.slice(opened, index));
    if (block && (last === undefined || isProgram(block) || !isProgram(last))) last = block;
    opened = undefined;
  }
  return last;
}

const isLong = (code: string): boolean => code.trim().length >= FEW_CHARS;
const isProgram = ({ code, tag }: CodeBlock): boolean => isLong(code) || (tag !== '' && languageOf(tag) !== undefined);

function blockOf(content: string): CodeBlock | undefined {
  const lineEnd = content.indexOf('\n');
  const firstLine = lineEnd < 0 ? '' : content.slice(0, lineEnd).trim();
  // A single word on the fence's line is the language, as in every Markdown parser; attributes may follow.
  const [, tag] = lineEnd < 0 ? [] : (/^([\w+#.-]{0,20})(?:\s*\{[^{}]*\}|\s+[\w-]+=\S+)?$/.exec(firstLine) ?? []);
  const body = tag !== undefined ? content.slice(lineEnd + 1) : content;
  const code = body
    .replaceAll('\r\n', '\n')
    .replace(/^(?:[ \t]*\n)+/, '')
    .trimEnd();
  if (code.trim() === '' || (lineEnd < 0 && !isLong(code))) return undefined;
  return { code, tag: tag?.toLowerCase() ?? '' };
}
