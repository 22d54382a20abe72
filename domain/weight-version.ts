// A version of the weights as a number, from the word that a server has for it. Trainers keep versions as
// int32, so every version is an integer in [0, 2^31). The word itself is kept beside it (VersionSpan.versionLabel).

import { sha256Hex } from './sha256.ts';

/** `default` is what SGLang and vLLM say before the first update; a server that says nothing is at 0 too. */
export const FIRST_VERSION = 0;
const FIRST_WORDS = new Set(['', 'default']);
const INT32_END = 2 ** 31;
/** Words without a number of their own are above every count of updates that anybody will see. */
const UNNUMBERED = 2 ** 30;
const LONGEST_NUMBERED = 200;

/**
 * The written rule:
 *   `default`, nothing        0
 *   `12`                      12
 *   `v3`, `step-12`, `actor/global_step_40`: a word that ends in digits, letters or a separator before them, and
 *                             no other digits in its last part     those digits
 *   anything else             2^30 + 30 bits of its SHA-256: the same word is always the same number, no more
 * A number that int32 cannot hold is "anything else".
 */
export function versionNumber(word: string | number | null | undefined): number {
  const text = String(word ?? '').trim();
  if (FIRST_WORDS.has(text)) return FIRST_VERSION;
  const digits = text.length > LONGEST_NUMBERED ? undefined : numberIn(text);
  const number = digits === undefined ? Number.NaN : Number(digits);
  if (Number.isSafeInteger(number) && number < INT32_END) return number;
  return UNNUMBERED + (Number.parseInt(sha256Hex(text).slice(0, 8), 16) % UNNUMBERED);
}

function numberIn(text: string): string | undefined {
  return /^\d+$/.exec(text)?.[0] ?? /(?:^|[/:])[A-Za-z_. -]*[A-Za-z][A-Za-z_. -]*?(\d+)$/.exec(text)?.[1];
}
