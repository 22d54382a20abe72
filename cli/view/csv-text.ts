// Estimates as CSV: one number a line, with what is needed to trust it. Cells that a spreadsheet would run are inert.

import { csvCell } from '../../domain/text/foreign-text.ts';
import type { Estimate } from '../../statistics/estimate.ts';

const HEAD = ['number', 'value', 'n', 'unit', 'left_out', 'standard_error', 'low95', 'high95', 'method', 'definition'];

export function csvText(rows: readonly Estimate[]): string {
  return lines([HEAD, ...rows.map(cells)]);
}

/** The numbers of each group behind the field and its value. */
export function groupedCsvText(
  field: string,
  groups: readonly { readonly value: string; readonly rows: readonly Estimate[] }[],
): string {
  const all = groups.flatMap(({ value, rows }) => rows.map((row) => [field, value, ...cells(row)]));
  return lines([['field', 'group', ...HEAD], ...all]);
}

function cells({ name, value, n, unit, leftOut, standardError, interval, method, definition }: Estimate) {
  const [low, high] = interval ?? [null, null];
  return [name, value, n, unit, leftOut, standardError, low, high, method, definition];
}

const lines = (rows: readonly (readonly (string | number | null)[])[]): string =>
  rows.map((row) => `${row.map(csvCell).join(',')}\n`).join('');
