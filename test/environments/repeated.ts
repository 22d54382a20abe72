// Every repetition of every token: each word of the vocabulary, sign, bracket, digit, letter and opening, alone, in pairs
// and nested in every bracket, up to the 4,000 characters that a final answer may have. A generator without an opinion.

import {
  BIG,
  FUNCTIONS,
  GREEK,
  IGNORED,
  NAMED_SETS,
  RELATIONS,
  TEXT_COMMANDS,
  TRANSPARENT,
} from '../../environments/math/read/vocabulary.ts';
import { pick, type RandomSource } from '../support/texts.ts';

const split = (text: string): string[] => text.split(' ').filter(Boolean);
const asCommand = (word: string): string => (/[A-Za-z]$/.test(word) ? `\\${word} ` : `\\${word}`);

const COMMANDS = [
  ...[IGNORED, TRANSPARENT, TEXT_COMMANDS, FUNCTIONS, GREEK, BIG].flatMap((words) => [...words]),
  ...[RELATIONS, NAMED_SETS].flatMap((table) => Object.keys(table).filter((word) => /^[A-Za-z]+$/.test(word))),
  ...split(
    'frac dfrac tfrac cfrac binom tbinom sqrt pi infty lbrace rbrace lvert rvert lVert rVert langle rangle lfloor rfloor',
  ),
  ...split(
    'lceil rceil emptyset ldots cdots mid to circ prime degree pm mp cdot times div bmod pmod cup cap bigcup setminus',
  ),
  ...split('backslash land wedge lor vee colon implies iff not over choose atop mathbb overline bar'),
];

const SIGNS = split(
  '+ - * / ^ _ ! \' " ( ) [ ] { } | \\| \\{ \\} , ; : . = < > & \\\\ % \\% # $ $$ ~ @ ? ` √ ² ³ ½ − × ÷ ± ≤ ≥ ≠ ∞ π ∪ ∩ ∅ ° ′ ∑ ∏ ∫ ⌊ ⌋ ⟨ ⟩ € £ ₂ … 😀 １',
);

const PIECES = [
  ...split(
    '0 1 2 9 12 1. .5 1,000 1,2 x y n i e a ab abc f( f(x) ln( 1e9 10^ 2^ x^ x_ x^2 x_{1} {1} (1) (x+1) |x| 1! x! 1/ 1/2',
  ),
  ...split(
    '\\frac12 3\\frac12 \\frac{x}{ \\sqrt2 \\sqrt[ \\left( \\right) \\left| \\right| \\left\\{ \\begin{pmatrix} \\end{pmatrix}',
  ),
  ...split(
    '\\begin{cases} \\text{ \\text{and} \\mathbb{R} \\overline{3} \\boxed{ \\log_2 \\sum_{k=1}^{9} \\int_0^1 \\binom{9}{4} \\pmod{7}',
  ),
  ...split(
    '_{2} ^{2} ^{ _{ ^\\circ +1 -1 =1 <1 x=1, x> 3:5 or cm 5cm km/h m^2 \\$5 \\{1, (1, [1,2) \\cup(1,2) \\pm1 1\\pm \\to',
  ),
  ...[' ', '\n', ' 1', ' and ', ' or ', '1 2/3 ', '1 000 '],
];

const TOKENS: readonly string[] = [...new Set([...COMMANDS.map(asCommand), ...SIGNS, ...PIECES])];

/** What opens, and what would close it. */
const NESTS: readonly (readonly [open: string, close: string])[] = [
  ...split('() [] {} ||').map((pair) => [pair[0]!, pair[1]!] as const),
  ['\\{', '\\}'],
  ['\\left(', '\\right)'],
  ['\\left|', '\\right|'],
  ['\\lfloor ', '\\rfloor '],
  ['\\langle ', '\\rangle '],
  ['\\|', '\\|'],
  ['(1,', ')'],
  ['[1,', ')'],
  ['\\{1,', '\\}'],
  ['-(', ')'],
  ['(x^2+', ')^9'],
  ['(', '!)'],
  ['(2^', ')'],
  ['f(', ')'],
  ['|x-|', '|'],
  ...[
    '\\frac{1}{ \\frac{x}{1+ \\sqrt{ \\sqrt{1+ \\sqrt[3]{ \\ln{ \\log_2{ \\log_{ e^{ 2^{ 10^{ x^{ x_{ \\overline{ \\boxed{ \\text{',
    '\\mathrm{ \\binom{1}{ \\vec{ \\mathbb{ \\pmod{ \\underbrace{ \\operatorname{ \\int_0^{',
  ].flatMap((line) => split(line).map((open) => [open, '}'] as const)),
  ...split('\\sin( \\arctan( \\max(1, \\gcd(6, \\sum_{k=1}^{3}( \\prod_{k=1}^{9}(').map((open) => [open, ')'] as const),
  ...split('pmatrix cases vmatrix aligned array').map((name) => [`\\begin{${name}}`, `\\end{${name}}`] as const),
];

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
