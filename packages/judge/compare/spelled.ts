// A solution that cannot be evaluated (a system in cases, \mathbb{Z}_6, a tower of powers) still judges by its spelling:
// the same text is right, nothing else is shown. Broken text is no spelling: an open bracket, an operator without operand.

import { isRelationSign } from '../read/words.ts';

const OPERATOR = String.raw`(?:[=+*/^_<>≤≥≠×·-]|\\(?:cdot|times|div|le|ge|leq|geq|ne|neq|approx|in|cup|cap|pm))`;
const BEGINS = /^\s*(?:[=*/_<>≤≥≠×·]|\\(?:cdot|times|div|le|ge|leq|geq|ne|neq|in|cup|cap)(?![A-Za-z]))/;
const ENDS = new RegExp(`${OPERATOR}\\s*[.,;]?\\s*$`);
const DOUBLED =
  /[+*/=<>]\s*[*/]|[=^_]\s*[=^_*/)}\]]|\\[dt]?frac\s*(?:\{\s*\}|\{[^{}]*\}\s*(?:\{\s*\}|$))|\\(?:frac|sqrt)\s*$|\\sqrt\s*\{\s*\}/;
const CHARGED = /\^\s*(?:\{\s*[+-]\s*\}|[+-]|\*)/g;
const NUMBERED = /(?:^|(?<=[\s;]))\(?\d{1,2}\)(?=[\s\\])/g;
const MAX_CHARS = 400;

export function isSpelling(text: string): boolean {
  if (isRelationSign(text)) return true;
  if (text.length > MAX_CHARS || !/[\p{L}\p{N}]/u.test(text) || /\?/.test(text)) return false;
  // Na^+ and x^* are names; 4x = is half of an equation.
  const plain = text.replace(CHARGED, ' ').replace(NUMBERED, ' ');
  return !BEGINS.test(plain) && !ENDS.test(plain) && !DOUBLED.test(plain) && isBalanced(plain);
}

const PAIRS = [/[{}]/g, /[()[\]]/g, /\\(?:begin|end)(?![A-Za-z])/g];

/** As many close as open. */
const isBalanced = (text: string): boolean =>
  PAIRS.every((pair) => {
    const signs = text.replace(/\\[^A-Za-z]/g, ' ').match(pair) ?? [];
    return signs.filter((sign) => /[{([]|begin/.test(sign)).length * 2 === signs.length;
  });
