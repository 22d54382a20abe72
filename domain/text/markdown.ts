// The little Markdown that the Temporal UI shows: tables. Cells of foreign text go through foreign-text.ts first.

export interface MarkdownColumn {
  readonly name: string;
  readonly align: 'left' | 'right';
}

/** Cells are padded by no-break spaces: the UI draws no space between columns. */
export function markdownTable(
  columns: readonly MarkdownColumn[],
  rows: readonly (readonly (string | number)[])[],
): string[] {
  const line = (cells: readonly (string | number)[]) => `| ${cells.map((c) => `\u00a0${c}\u00a0`).join(' | ')} |`;
  const rule = columns.map(({ align }) => (align === 'right' ? '---:' : '---'));
  return [line(columns.map((c) => c.name)), `|${rule.join('|')}|`, ...rows.map(line)];
}
