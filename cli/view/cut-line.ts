// A line cut to the columns of a terminal, one column a character. Not covered: characters of two columns.

/** Our tints take no room; a cut one is ended. */
const TINT = /\u001b\[\d+m/y;

export function cut(line: string, columns: number): string {
  let [text, width, tinted] = ['', 0, false];
  for (let at = 0; at < line.length;) {
    TINT.lastIndex = at;
    const tint = TINT.exec(line)?.[0];
    if (tint !== undefined) {
      text += tint;
      tinted = true;
      at += tint.length;
      continue;
    }
    const char = String.fromCodePoint(line.codePointAt(at)!);
    if (width === columns) return text + (tinted ? '\u001b[0m' : '');
    text += char;
    width++;
    at += char.length;
  }
  return text;
}
