// The little Markdown that the Temporal UI shows: tables, and text that cannot become markup.

export interface Column {
  readonly name: string;
  readonly align: 'left' | 'right';
}

/** Cells are padded by no-break spaces: the UI draws no space between columns. */
export function markdownTable(columns: readonly Column[], rows: readonly (readonly (string | number)[])[]): string[] {
  const line = (cells: readonly (string | number)[]) => `| ${cells.map((c) => `\u00a0${c}\u00a0`).join(' | ')} |`;
  const rule = columns.map(({ align }) => (align === 'right' ? '---:' : '---'));
  return [line(columns.map((c) => c.name)), `|${rule.join('|')}|`, ...rows.map(line)];
}

/** Model and data set text must not become markup: one line, every mark of Markdown and HTML escaped. */
export function escapeMarkdown(text: string): string {
  return text
    .replace(/[\r\n\u2028\u2029]+/g, ' ')
    .replace(/[\\`*_{}[\]()#+\-!|<>~&]/g, (c) =>
      c === '<' ? '&lt;' : c === '>' ? '&gt;' : c === '&' ? '&amp;' : `\\${c}`,
    );
}
