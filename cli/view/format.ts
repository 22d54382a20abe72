// Numbers and durations as text for one line of a terminal, and the lines of a text.

import { styleText } from 'node:util';
import { oneLine, visible } from '../../domain/text/foreign-text.ts';
import type { Io, Stream } from '../io.ts';

/** The lines that are there: of a condition that does not hold, none. */
export function lines(...parts: readonly (string | false | null | undefined | readonly string[])[]): string[] {
  return parts.flatMap((part) => (part === false || part === null || part === undefined ? [] : part));
}

/** A text from outside, each of its lines behind the margin. */
export function indented(text: string, margin: string, paintLine = (line: string): string => line): string {
  const all = visible(text)
    .replace(/^\n+|\n+$/g, '')
    .split('\n');
  return all.map((line) => paintLine(`${margin}${line}`)).join('\n');
}

export function count(n: number): string {
  return Math.round(n).toLocaleString('en-US');
}

/** `1 query`, `2 queries`. */
export function plural(n: number, one: string, many = `${one}s`): string {
  return `${count(n)} ${n === 1 ? one : many}`;
}

/** `12 tokens`; `– tokens` if nobody knows how many. */
export function tokensText(tokens: number | null): string {
  return tokens === null ? '– tokens' : plural(tokens, 'token');
}

export function percent(part: number, whole: number, digits = 1): string {
  return whole === 0 ? '–' : `${((100 * part) / whole).toFixed(digits)} %`;
}

/** `0:07`, `12:03`, `3:00:07`. */
export function clock(ms: number): string {
  const s = Math.max(0, Math.round(ms / 1000));
  const two = (n: number) => String(n).padStart(2, '0');
  return s < 3600
    ? `${Math.floor(s / 60)}:${two(s % 60)}`
    : `${Math.floor(s / 3600)}:${two(Math.floor(s / 60) % 60)}:${two(s % 60)}`;
}

/** `7 s`, `20 min`, `3 h`, `2 days`. */
export function lasted(ms: number): string {
  const s = Math.max(0, Math.round(ms / 1000));
  if (s < 60) return `${s} s`;
  if (s < 3600) return `${Math.floor(s / 60)} min`;
  return s < 172_800 ? `${Math.floor(s / 3600)} h` : `${Math.floor(s / 86_400)} days`;
}

export function ago(ms: number): string {
  return `${lasted(ms)} ago`;
}

const MOST_NAMED = 20;

/** Rewards and metrics of an environment; their names are foreign text: `format 0.5, length 2` */
export function namedNumbers(numbers: Readonly<Record<string, number>>): string {
  const all = Object.entries(numbers).map(([name, value]) => `${oneLine(name)} ${value}`);
  return [...all.slice(0, MOST_NAMED), ...(all.length > MOST_NAMED ? ['…'] : [])].join(', ');
}

export type Tint = 'bold' | 'dim' | 'green' | 'red' | 'yellow' | 'cyan';
export type Paint = (tint: Tint, text: string) => string;

/** NO_COLOR and FORCE_COLOR as usual; otherwise colours if the stream is a terminal. */
export function paintFor(stream: Stream, env: Io['env']): Paint {
  const forced = env['FORCE_COLOR'];
  const wanted = env['NO_COLOR'] ? false : forced ? forced !== '0' : stream.isTTY === true && env['TERM'] !== 'dumb';
  return wanted ? (tint, text) => styleText(tint, text, { validateStream: false }) : (_, text) => text;
}

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
