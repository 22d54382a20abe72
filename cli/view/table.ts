// Aligned columns of plain text.

import type { Paint, Tint } from './paint.ts';

/**
 * `columns`: titles; cells below one with `>` before it are aligned to the right. Cells hold no colour codes; `tint`
 * colours a whole cell after it was padded.
 */
export function table(
  columns: readonly string[],
  rows: readonly (readonly string[])[],
  paint: Paint,
  tint: (row: number, column: number) => Tint | undefined = () => undefined,
): string {
  const titles = columns.map((column) => column.replace(/^>/, ''));
  const widths = titles.map((title, c) => Math.max(width(title), ...rows.map((row) => width(row[c] ?? ''))));
  const line = (cells: readonly string[], paintCell: (text: string, column: number) => string) =>
    columns
      .map((column, c) => {
        const space = ' '.repeat(widths[c]! - width(cells[c] ?? ''));
        const padded = column.startsWith('>') ? space + (cells[c] ?? '') : (cells[c] ?? '') + space;
        return paintCell(c === columns.length - 1 ? padded.trimEnd() : padded, c);
      })
      .join('  ')
      .trimEnd();
  const head = line(titles, (text) => paint('dim', text));
  const body = rows.map((row, r) =>
    line(row, (text, c) => {
      const of = tint(r, c);
      return of ? paint(of, text) : text;
    }),
  );
  return [head, ...body].join('\n');
}

function width(text: string): number {
  return [...text].length;
}
