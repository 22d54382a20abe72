// Texts that try tokenizers, from a seed: words of many scripts, LaTeX, digits, white space and control characters
// of every kind, combining marks, emoji, halves of surrogate pairs, and whatever the caller mixes in.

/** Integers in [0, below), always the same for a seed. */
export type RandomSource = (below: number) => number;

export function randomSource(seed: number): RandomSource {
  let state = seed >>> 0;
  return (below) => {
    state = (state + 0x6d2b79f5) >>> 0;
    let t = Math.imul(state ^ (state >>> 15), state | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return ((t ^ (t >>> 14)) >>> 0) % below;
  };
}

const SYLLABLES = 'an be con di ent fa gra he ing ja ka lo ma ner or pro qu re st tion ul ver wa xi yo ze'.split(' ');
const OTHER = 'число сумма ответ पूर्ण संख्या 数学 问题 答案 かずの こたえ 숫자 정답 عدد جواب מספר ἀριθμός số học'.split(
  ' ',
);

export function someWord(random: RandomSource): string {
  if (random(6) === 0) return pick(random, OTHER);
  if (random(8) === 0) return String(random(10 ** (1 + random(6))));
  const word = Array.from({ length: 1 + random(4) }, () => pick(random, SYLLABLES)).join('');
  return random(4) === 0 ? word[0]!.toUpperCase() + word.slice(1) : word;
}

const SPACES = [
  ' ',
  '  ',
  '\n',
  '\n\n',
  '\r\n',
  '\t',
  '\u00a0',
  '\u0085',
  '\u2028',
  '\u3000',
  '\u200b',
  '\ufeff',
  '\v\f',
];
const MATH = [
  '\\frac{a}{b}',
  '$x^2$',
  '\\boxed{42}',
  '1,234.5',
  '≤ ∑ √2',
  "don't I'LL we'Ve",
  '½ ² Ⅳ ٣',
  '---',
  '...!!',
  '(a+b)',
];
const MARKS = ['é', 'e\u0301', 'ḍ̇', 'd\u0307\u0323', 'ﬁ', 'Å', '\u0345\u0301', 'กำ', 'க்ஷி', '각', '각', 'ạ̈'];
const EMOJI = ['👍🏽', '👩‍👩‍👧‍👦', '🇫🇷', '❤️', '𝔘𝔫𝔦', '𠮷', '\u{1f9ff}'];
const PIECES = ['▁', '▁▁a', '<0x41>', '<0xFF>', '##a', 'Ġ', 'Ċb', '[UNK]', '<', '|>', '<|im_'];

export interface TextOptions {
  /** Texts to mix in, such as added tokens. */
  readonly extra?: readonly string[];
  /** The highest code point of the random characters. */
  readonly maxCodePoint?: number;
}

export function someText(random: RandomSource, { extra = [], maxCodePoint = 0x10ffff }: TextOptions = {}): string {
  const parts: string[] = [];
  for (let n = 1 + random(12); n > 0; n--) {
    const kind = random(20);
    if (kind < 9) parts.push(someWord(random));
    else if (kind < 11) parts.push(pick(random, MATH));
    else if (kind < 13) parts.push(pick(random, MARKS));
    else if (kind < 14) parts.push(pick(random, EMOJI));
    else if (kind < 15) parts.push(pick(random, PIECES));
    else if (kind < 16) parts.push(String.fromCodePoint(random(0xa0)));
    else if (kind < 17) parts.push(String.fromCodePoint(random(maxCodePoint + 1)));
    else if (kind < 18) parts.push(String.fromCodePoint(random(0x3000)), String.fromCodePoint(0x300 + random(0x70)));
    else if (extra.length > 0) parts.push(pick(random, extra));
    if (random(3) > 0) parts.push(random(3) > 0 ? ' ' : pick(random, SPACES));
  }
  return parts.join('');
}

export function pick<T>(random: RandomSource, items: readonly T[]): T {
  return items[random(items.length)]!;
}
