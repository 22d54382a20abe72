// `\boxed{…}` in a text: the content of one, and the final answer of a worked text. For display; the judge reads answers by
// rules of its own (packages/judge). Pure, in bounded time.

const BOX = '\\boxed{';
const MOST_CHARS = 4_000;

/** The box that begins there; undefined if none does, or it is not closed. */
export function boxAt(text: string, at: number): { readonly content: string; readonly end: number } | undefined {
  if (!text.startsWith(BOX, at)) return undefined;
  let depth = 0;
  for (let i = at + BOX.length - 1; i < text.length; i++) {
    if (text[i] === '\\') i++;
    else if (text[i] === '{') depth++;
    else if (text[i] === '}' && --depth === 0) return { content: text.slice(at + BOX.length, i), end: i + 1 };
  }
  return undefined;
}

/** The content of the last box of a text; undefined without one. */
export function lastBoxed(text: string): string | undefined {
  const at = text.lastIndexOf(BOX);
  return at < 0 ? undefined : boxAt(text.slice(at, at + MOST_CHARS), 0)?.content;
}

const FINAL = /(?:^|\n)\s*####\s*(.+?)\s*$/;

/** The final answer of a worked text, where it is marked; a text without one is its own value, up to `most` characters. */
export function finalValue(text: string, most = 120): string {
  const value = lastBoxed(text) ?? FINAL.exec(text)?.[1] ?? text;
  return value.length <= most ? value : `${value.slice(0, most)} …`.toWellFormed();
}
