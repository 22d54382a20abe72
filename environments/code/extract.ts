// Finds the program in an answer: the last closed fence of three or more backticks whose content, without blanks
// around it, has at least 20 characters. One pass, linear in the answer's length. An unclosed fence holds nothing.

export interface CodeBlock {
  readonly code: string;
  /** The word behind the opening fence, in lower case; empty when there is none. */
  readonly tag: string;
}

export const MIN_CODE_CHARS = 20;

export function lastCodeBlock(answer: string): CodeBlock | undefined {
  let last: CodeBlock | undefined;
  let opened: number | undefined;
  for (const { index, 0: fence } of answer.matchAll(/`{3,}/g)) {
    if (opened === undefined) {
      opened = index + fence.length;
      continue;
    }
    last = blockOf(answer.slice(opened, index)) ?? last;
    opened = undefined;
  }
  return last;
}

function blockOf(content: string): CodeBlock | undefined {
  const lineEnd = content.indexOf('\n');
  const firstLine = lineEnd < 0 ? '' : content.slice(0, lineEnd).trim();
  // A first line of one word is the language, as every Markdown reader takes it.
  const tagged = lineEnd >= 0 && /^[\w+#.-]{0,20}$/.test(firstLine);
  const body = tagged ? content.slice(lineEnd + 1) : content;
  const code = body
    .replaceAll('\r\n', '\n')
    .replace(/^(?:[ \t]*\n)+/, '')
    .trimEnd();
  if (code.trim().length < MIN_CODE_CHARS) return undefined;
  return { code, tag: tagged ? firstLine.toLowerCase() : '' };
}
