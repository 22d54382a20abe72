// The mathematics judge as a pure function: the final answer of a text against each of the solutions.
// This first one reads integers, decimals and simple fractions and compares them exactly; what it cannot
// read is compared as written, and never called right on a guess.

import type { Verdict } from '../../domain/verdict.ts';
import { scanBoxes } from './boxes.ts';
import { equal, fromDecimal, rational, div, isZero, type Rational } from './rational.ts';

const MAX_NUMBER_CHARS = 1000;
const TAIL_CHARS = 65536;

export function judgeMath(answer: string, solutions: readonly string[]): Verdict {
  const found = finalAnswer(answer.slice(-TAIL_CHARS));
  if (found === undefined) return { verdict: 'wrong', reason: 'no-answer' };
  const extracted = found.slice(0, 200);
  let reason = 'different';
  for (const solution of solutions) {
    const expected = goldAnswer(solution.slice(-TAIL_CHARS));
    if (expected === undefined) {
      reason = 'no-solution';
      continue;
    }
    const a = readNumber(found);
    const b = readNumber(expected);
    if (a && b ? equal(a, b) : tidy(found) === tidy(expected)) return { verdict: 'right', reason: 'equal', extracted };
    if (!b && reason === 'different') reason = 'unparsed';
  }
  return reason === 'different'
    ? { verdict: 'wrong', reason, extracted }
    : { verdict: 'undecided', reason: solutions.length === 0 ? 'no-solution' : reason, extracted };
}

function finalAnswer(text: string): string | undefined {
  const { boxes, unfinished } = scanBoxes(text);
  if (unfinished) return undefined;
  const box = boxes.at(-1);
  return box ? box.content.trim() : lastNumber(text);
}

function goldAnswer(text: string): string | undefined {
  const hash = text.lastIndexOf('####');
  if (hash >= 0) return text.slice(hash + 4).trim() || undefined;
  const box = scanBoxes(text).boxes.at(-1);
  if (box) return box.content.trim();
  const bare = text.trim();
  if (bare !== '' && bare.length <= 200 && (readNumber(bare) || !/\s/.test(bare))) return bare;
  return lastNumber(text);
}

function lastNumber(text: string): string | undefined {
  let last: string | undefined;
  for (const m of text.matchAll(/-?\d[\d,]{0,400}(?:\.\d{1,400})?(?:\/\d{1,400})?/g)) last = m[0].replace(/,+$/, '');
  return last;
}

const tidy = (text: string): string => text.replace(/\\(?:left|right|,|!|;|:| )|\s|\$/g, '').replace(/\.$/, '');

function readNumber(text: string): Rational | undefined {
  if (text.length > MAX_NUMBER_CHARS) return undefined;
  let s = tidy(text).replaceAll('\u2212', '-').replaceAll('{,}', ',');
  if (/^[+-]?\d{1,3}(,\d{3})+(\.\d+)?$/.test(s)) s = s.replaceAll(',', '');
  const fraction =
    /^([+-]?)\\[dt]?frac\{([+-]?[\d.]+)\}\{([+-]?[\d.]+)\}$/.exec(s) ?? /^([+-]?)([\d.]+)\/([\d.]+)$/.exec(s);
  if (!fraction) return fromDecimal(s);
  const top = fromDecimal(fraction[2] ?? '');
  const bottom = fromDecimal(fraction[3] ?? '');
  if (!top || !bottom || isZero(bottom)) return undefined;
  const value = div(top, bottom);
  return fraction[1] === '-' ? rational(-value.num, value.den) : value;
}
