// Numbers and durations as text for one line of a terminal, and the lines of a text.

import { styleText } from 'node:util';
import { oneLine, visible } from '../domain/text/foreign-text.ts';
import { count, plural } from '../domain/text/plural.ts';
import type { Interval } from '../domain/statistics/mean.ts';
import type { Io, Stream } from './io.ts';

export { count, plural };

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

/** `12 tokens`; `– tokens` if nobody knows how many. */
export function tokensText(tokens: number | null): string {
  return tokens === null ? '– tokens' : plural(tokens, 'token');
}

export function percent(part: number, whole: number, digits = 1): string {
  return whole === 0 ? '–' : `${((100 * part) / whole).toFixed(digits)} %`;
}

export function share(value: number | null): string {
  return value === null ? '–' : percent(value, 1);
}

/** Four digits are shown of a number that is no count. */
export function fourDigits(value: number | null): string {
  if (value === null) return '–';
  const text = Math.abs(value) >= 1000 ? count(value) : String(Number(value.toPrecision(4)));
  return text.replace('-', '−');
}

/** `12.3 to 45.6`, in percent. */
export function percents(bounds: Interval | null): string {
  return bounds === null ? '–' : bounds.map((bound) => (100 * bound).toFixed(1)).join(' to ');
}

/** `0:07`, `12:03`, `3:00:07`. */
export function clock(ms: number): string {
  const s = Math.max(0, Math.round(ms / 1000));
  const two = (n: number) => String(n).padStart(2, '0');
  return s < 3600
    ? `${Math.floor(s / 60)}:${two(s % 60)}`
    : `${Math.floor(s / 3600)}:${two(Math.floor(s / 60) % 60)}:${two(s % 60)}`;
}

/** `7 s ago`, `20 min ago`, `3 h ago`, `2 days ago`. */
export function ago(ms: number): string {
  const s = Math.max(0, Math.round(ms / 1000));
  if (s < 60) return `${s} s ago`;
  if (s < 3600) return `${Math.floor(s / 60)} min ago`;
  return s < 172_800 ? `${Math.floor(s / 3600)} h ago` : `${Math.floor(s / 86_400)} days ago`;
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

/** A title, with `>` before it where cells are aligned to the right; a row's cell, without colour codes; its tint. */
export type Column<T> = readonly [
  title: string,
  cell: (row: T) => string,
  tint?: Tint | ((row: T) => Tint | undefined),
];

/** A column whose condition does not hold is left out. */
export function table<T>(rows: readonly T[], columns: readonly (Column<T> | false)[], paint: Paint): string {
  const shown = columns.filter((column) => column !== false);
  const titles = shown.map(([title]) => title.replace(/^>/, ''));
  const cells = rows.map((row) => shown.map(([, cell]) => cell(row)));
  const widths = titles.map((title, c) => Math.max(width(title), ...cells.map((row) => width(row[c]!))));
  const line = (texts: readonly string[], tintOf: (column: Column<T>) => Tint | undefined) =>
    shown
      .map((column, c) => {
        const space = ' '.repeat(widths[c]! - width(texts[c]!));
        const padded = column[0].startsWith('>') ? space + texts[c]! : texts[c]! + space;
        const text = c === shown.length - 1 ? padded.trimEnd() : padded;
        const tint = tintOf(column);
        return tint ? paint(tint, text) : text;
      })
      .join('  ')
      .trimEnd();
  const body = rows.map((row, r) => line(cells[r]!, ([, , tint]) => (typeof tint === 'function' ? tint(row) : tint)));
  return [line(titles, () => 'dim'), ...body].join('\n');
}

function width(text: string): number {
  return [...text].length;
}
