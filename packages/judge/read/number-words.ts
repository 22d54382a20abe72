// Numbers in words: `twelve`, `one hundred and five`, `two million`, `three quarters`, `one half`.

import { SCALES } from './harmless-words.ts';
import { plainWords } from './words.ts';

const words = (text: string, from: number, step: number): [string, number][] =>
  text.split(' ').map((word, k) => [word, from + k * step]);

const ONES = new Map([
  ...words('zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen', 0, 1),
  ...words('sixteen seventeen eighteen nineteen', 16, 1),
]);
const TENS = new Map(words('twenty thirty forty fifty sixty seventy eighty ninety', 20, 10));
const SIGNED = /^(negative |minus )?([a-z][a-z -]*?)( percent)?$/;

/** The digits of what is one number in words, or undefined. */
export function numberWord(text: string): string | undefined {
  const [, sign, inner = '', percent] = SIGNED.exec(plainWords(text)) ?? [];
  if (inner === 'infinity') return `${sign === undefined ? '' : '-'}\\infty`;
  const value = sign === undefined && percent === undefined ? undefined : numberWord(inner);
  if (value !== undefined) return `${sign === undefined ? '' : '-'}${value}${percent === undefined ? '' : '\\%'}`;
  const ratio = /^(\d{1,9}) (?:to|in|out of) (\d{1,9})$/.exec(plainWords(text));
  if (ratio) return `${ratio[1]}:${ratio[2]}`;
  if (/\d|[a-z]{20}/.test(text) || !/\p{L}{3}/u.test(text)) return undefined;
  const parts = plainWords(text).replace(/-/g, ' ').split(' ');
  const [one, bottom = 1n] = SCALES.get(parts.at(-1) ?? '') ?? [];
  if (one !== 1n || parts.length === 1) return whole(parts)?.toString();
  const top = whole(parts.slice(0, -1));
  // One third, two thirds: what is more than one is a mixed number, or none.
  return top !== undefined && top > 0 && top < Number(bottom) ? `${top}/${bottom}` : undefined;
}

/** Thousands of hundreds of tens and ones, in falling order, each said once. */
function whole(parts: readonly string[]): number | undefined {
  let [total, group, room, scale] = [0, 0, Infinity, Infinity];
  for (const [k, part] of parts.entries()) {
    const [ones, tens, by] = [ONES.get(part), TENS.get(part), Number(SCALES.get(part)?.[0] ?? 0)];
    if (ones !== undefined && (ones < 10 ? room > 1 : room > 10) && (ones > 0 || parts.length === 1)) {
      group += ones;
      room = 1;
    } else if (tens !== undefined && room > 10) {
      group += tens;
      room = 10;
    } else if (part === 'hundred' && group > 0 && group < 10) {
      group *= 100;
      room = 100;
    } else if (by >= 1000 && group > 0 && by < scale) {
      total += group * by;
      [group, room, scale] = [0, Infinity, by];
    } else if (!(part === 'and' && k > 0 && k < parts.length - 1 && parts[k - 1] === 'hundred')) return undefined;
  }
  return total + group;
}
