// Finds the program in an answer: the last closed fence of three or more backticks with at least 20 characters, trimmed.
// One pass, linear in the answer's length. An unclosed fence counts as empty.

export interface CodeBlock {
  readonly code: string;
  /** The word after the opening fence, in lower case; empty if there is none. */
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
  // A single word on the fence's line is the language, as in every Markdown parser; attributes may follow.
  const [, tag] = lineEnd < 0 ? [] : (/^([\w+#.-]{0,20})(?:\s*\{[^{}]*\}|\s+[\w-]+=\S+)?$/.exec(firstLine) ?? []);
  const body = tag !== undefined ? content.slice(lineEnd + 1) : content;
  const code = body
    .replaceAll('\r\n', '\n')
    .replace(/^(?:[ \t]*\n)+/, '')
    .trimEnd();
  if (code.trim().length < MIN_CODE_CHARS) return undefined;
  return { code, tag: tag?.toLowerCase() ?? '' };
}
