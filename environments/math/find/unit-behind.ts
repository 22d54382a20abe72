// The unit or the scale directly behind an unmarked value, which belongs to it: 2.5 keV is not 2.5 eV, and 5 thousand not 5.

import { SCALES } from '../read/harmless-words.ts';
import { isUnitWord } from '../read/unit-words.ts';

const PIECE = /\s*((?:square|cubic|per)\s+|\/\s?)?([A-Za-zΩμ]+|°\s?[CF]?)(?:[²³]|\^\{?[23]\}?)?/gy;
/** Letters that are units behind a number, where the text goes on with no letter. */
const LETTER = /^[mghLNJWVKA]$/;

export function unitBehind(text: string, end: number): string {
  const rest = text
    .slice(end, end + 80)
    .replace(/\\(?:text|mathrm)\s*\{([^{}]*)\}|\\[,;:! ]|~/g, ' $1 ')
    .replace(/^[\s$*]*(?:\\[)\]])?[\s*]*/, '');
  let unit = '';
  for (const [piece, lead, word = ''] of rest.matchAll(PIECE)) {
    const isLetter = LETTER.test(word) && !/^[\w'’]/.test(rest.slice(unit.length + piece.length));
    if (!isUnitWord(word) && !isLetter && !SCALES.has(word.toLowerCase()) && !word.startsWith('°')) break;
    unit += lead?.startsWith('/') ? piece.replace('/', ' per ') : piece;
  }
  return unit === '' ? '' : ` ${unit}`;
}
