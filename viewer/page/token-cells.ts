// The cells of a turn's tokens: places, texts, and the class that colours each. Pure, and made once per turn: of 32,000
// tokens none is computed twice.

import type { TokensMessage } from '../model/messages.ts';
import { rankStep, surpriseStep, type TokenStats } from '../model/token-stats.ts';

export const COLOURS = [
  ['logprob', 'probability'],
  ['rank', 'rank of surprise'],
  ['version', 'weight version'],
  ['loss', 'trained or masked'],
] as const;
export type Colour = (typeof COLOURS)[number][0];

export interface Cells {
  readonly count: number;
  /** The first token of each cell, and one past its last. */
  readonly span: (cell: number) => readonly [number, number];
  readonly cellOf: (token: number) => number;
  /** The text, or the id where there is none. */
  readonly textOf: (cell: number) => string;
  readonly style: (cell: number, colour: Colour) => string;
}

export function cellsOf({ output, logprobs, versions, trained }: TokensMessage, stats: TokenStats | null): Cells {
  const { ids, texts, lengths } = output;
  const count = texts.length > 0 ? texts.length : ids.length;
  const starts = new Int32Array(count + 1);
  for (let i = 0; i < count; i++) starts[i + 1] = starts[i]! + (lengths?.[i] ?? 1);
  const span = (cell: number): readonly [number, number] => [starts[cell]!, starts[cell + 1]!];
  /** The least likely token of a cell colours it. */
  const worst = (cell: number): number => {
    const [from, to] = span(cell);
    let place = from;
    for (let i = from + 1; i < to; i++) if (logprobs[i]! < logprobs[place]!) place = i;
    return place;
  };
  const versionAt = (token: number): number =>
    Math.max(
      0,
      versions.findIndex(({ end }) => token < end),
    );
  return {
    count,
    span,
    cellOf(token) {
      let [low, high] = [0, count - 1];
      while (low < high) {
        const middle = (low + high + 1) >> 1;
        if (starts[middle]! <= token) low = middle;
        else high = middle - 1;
      }
      return low;
    },
    textOf: (cell) => (texts.length > 0 ? texts[cell]! : `${ids[cell]!} `),
    style(cell, colour) {
      switch (colour) {
        case 'logprob': {
          const value = logprobs[worst(cell)];
          return value === undefined ? '' : `s${surpriseStep(value)}`;
        }
        case 'rank':
          return stats ? `s${rankStep(stats.ranks[worst(cell)]!, stats.count)}` : '';
        case 'version':
          return `v${versionAt(starts[cell]!) % 4}`;
        case 'loss':
          return trained ? 'trained' : 'masked';
      }
    },
  };
}
