// Every repetition of every token: each word of the vocabulary, sign, bracket, digit, letter and opening, alone, in pairs
// and nested in every bracket, up to the 4,000 characters that a final answer may have. A generator without an opinion.

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  BIG,
  FUNCTIONS,
  GREEK,
  IGNORED,
  NAMED_SETS,
  RELATIONS,
  TEXT_COMMANDS,
  TRANSPARENT,
} from '../read/vocabulary.ts';
import { pick, type RandomSource } from '../../../test/support/texts.ts';

/** Further commands, signs, pieces of formulas and texts; `nests`: what opens, and what would close it. */
const WORDS = JSON.parse(readFileSync(join(import.meta.dirname, 'repeated.json'), 'utf8')) as {
  readonly commands: readonly string[];
  readonly signs: readonly string[];
  readonly pieces: readonly string[];
  readonly nests: readonly (readonly [open: string, close: string])[];
};
const asCommand = (word: string): string => (/[A-Za-z]$/.test(word) ? `\\${word} ` : `\\${word}`);

const COMMANDS = [
  ...[IGNORED, TRANSPARENT, TEXT_COMMANDS, FUNCTIONS, GREEK, BIG].flatMap((words) => [...words]),
  ...[RELATIONS, NAMED_SETS].flatMap((table) => Object.keys(table).filter((word) => /^[A-Za-z]+$/.test(word))),
  ...WORDS.commands,
];

const TOKENS: readonly string[] = [...new Set([...COMMANDS.map(asCommand), ...WORDS.signs, ...WORDS.pieces])];
const NESTS = WORDS.nests;

const MOST = 4_000;
const upTo = (unit: string, chars: number): string => unit.repeat(Math.max(1, Math.floor(chars / unit.length)));

export function* repetitions(): Generator<string> {
  for (const token of TOKENS)
    for (const chars of [60, 250, 1_000, MOST - 10]) {
      const text = upTo(token, chars);
      yield* [text, `${text}1`, `${text}x`, `1${text}`, `x${text}2`];
    }
  for (const [open, close] of NESTS)
    for (const depth of [5, 15, 28, 60, 85, 200, 1_300])
      for (const core of ['1', 'x+1', ''])
        for (const text of [
          open.repeat(depth) + core + close.repeat(depth),
          open.repeat(depth) + core,
          core + close.repeat(depth),
          `${open.repeat(depth)}${core}${close.repeat(depth)}^{100}!`,
        ])
          if (text.length <= MOST) yield text;
}

/** Units of several tokens, repeated and nested at random. */
export function* mixtures(random: RandomSource, count: number): Generator<string> {
  const unit = (depth: number): string => {
    if (depth > 3 || random(2) === 0) return pick(random, TOKENS);
    if (random(2) === 0) return unit(depth + 1) + unit(depth + 1);
    const [open, close] = pick(random, NESTS);
    return open + unit(depth + 1) + close;
  };
  for (let n = 0; n < count; n++) {
    const [open, close] = pick(random, NESTS);
    const depth = pick(random, [0, 0, 1, 5, 20, 60]);
    const inner = upTo(unit(0), pick(random, [1, 50, 300, 1_000, MOST]));
    yield `${open.repeat(depth)}${inner}${pick(random, ['', '1', 'x'])}${close.repeat(depth)}`.slice(0, MOST);
  }
}
