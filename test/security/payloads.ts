// Text that takes over a terminal that prints it: titles, clipboards, links, cursors, colours, direction. Seeded by
// nothing: the same texts every time, as many as are asked for.

import { rowsOf } from '../support/rows.ts';

export const SEEDS = rowsOf<string>('./payloads.jsonl', import.meta.url);

export function payloads(count: number): string[] {
  return Array.from({ length: count }, (_, i) => {
    const one = SEEDS[i % SEEDS.length]!;
    const other = SEEDS[(i * 7 + Math.floor(i / SEEDS.length)) % SEEDS.length]!;
    return i < SEEDS.length ? one : `${one}${'x'.repeat(i % 5)}${other}${i}`;
  });
}

// Everything that could steer a terminal, newlines and tabs aside.
const STEERING = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/u;
const OUR_COLOURS = /\u001b\[(?:\d{1,2}(?:;\d{1,2})*)?m/g;

/** The first lines in which something could steer the terminal. */
export function steering(text: string, coloured = false): string[] {
  return (coloured ? text.replace(OUR_COLOURS, '') : text)
    .split('\n')
    .filter((line) => STEERING.test(line))
    .map((line) => JSON.stringify(line.slice(0, 300)))
    .slice(0, 3);
}
