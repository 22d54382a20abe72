// An answer that opens with its value and counts something: "46m of fence". A denial counts only where the question denies. Linear.

import { afterwards } from './afterwards.ts';
import { askedOf } from './asked.ts';
import type { Known } from './known.ts';
import type { Extraction } from './phrases.ts';
import { mathSegments } from './segments.ts';
import { isStated } from './statement.ts';
import { withTail } from './tail.ts';

/** "46m of fence", "8 primes: 2, 3, …": a value with words that the question knows. */
export function valueFirst(text: string, known: Known): Extraction | undefined {
  const value = /^\s*[-−]?[$€£]?\d[\d,]*(?:\.\d+)?(?:\/\d+)?(?![\d.,/]|\s*(?:[-−+*/×÷=^!<>≤≥]|x\b))/.exec(text)?.[0];
  if (
    value === undefined ||
    mathSegments(text)[0]?.start === text.search(/\S/) ||
    !known.asked ||
    !/^(?=.*\p{L}{3})(?!.*[.!]\s+\p{Lu})[^\n]{1,200}$/u.test(text)
  )
    return undefined;
  const refused = /\b(?:not|never|still|can|could)\b|n[’']t\b/i.exec(text)?.[0];
  if (
    refused &&
    !askedOf(known.question ?? '')
      .toLowerCase()
      .includes(` ${refused}`)
  )
    return undefined;
  return isStated(text, 0, value.length, known, false) && !afterwards(text, value.length, value, known).withdrawn
    ? { text: withTail(value.trim(), text, value.length), by: 'whole' }
    : undefined;
}
