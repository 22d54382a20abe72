// Between spelling and structure: brackets that turn outwards, dollars that are money, and `\text{…}` that is a
// separator, a letter, or mathematics of its own.

import { isCmd, isSign, type Commas, type Token, tokenize } from './tokens.ts';
import { numberWord } from './number-words.ts';
import { isMatrix } from './parse-enclosed.ts';
import { isUnit, unitOf } from './unit-words.ts';
import { GREEK } from './vocabulary.ts';

const IN_WORDS =
  /(?<=(?:^|[^\d.,/^])(\d{1,12}))\s*(?:\\text\s*\{\s*)?\(([a-z][a-z -]{1,60})\)(?:\s*\})?(?=[a-z\s]{0,60}$)/i;

/** `6 (six)` says 6 twice; `7/12, or about 58.3%` says what it rounds to, which has to agree. */
function saidOnce(text: string): string {
  const [all = '', number, word = ''] = IN_WORDS.exec(text) ?? [];
  if (number !== undefined && numberWord(word.toLowerCase()) === number) return text.replace(all, ' ');
  return text.replace(/,?\s+or\s+(?:about|approximately|roughly)\s+(?=[\d.$\\])/, ' \\approx ');
}

/** `]a, b[` is `(a, b)`: only where a bracket turns outwards at an end of the whole. */
export function inward(source: string): string {
  const text = saidOnce(source);
  // `17 (pages)` counts pages.
  if (/[a-z]\)\s*$/i.test(text)) return text.replace(/(?<=\d)\s+\(([a-z ]{3,40})\)\s*$/i, ' $1');
  if (!/^\s*\]|\[\s*\$?\s*$/.test(text)) return text;
  return text.replace(/([[\]])([^[\]]*)([[\]])/g, (_, open: string, inner: string, close: string) => {
    return `${open === ']' ? '(' : '['}${inner}${close === '[' ? ')' : ']'}`;
  });
}

/** `5\text{ m}`: an upright letter behind a value is a unit and no factor. */
const isUnitHere = (letter: string, before: Token | undefined, after: Token | undefined): boolean =>
  isUnit(letter) &&
  (before?.t === 'num' || isSign(before, '}', ')') || isCmd(before, 'pi')) &&
  !isSign(after, '_', '(');

const isKnownUnit = (phrase: string): boolean => {
  const { dimension, unknown } = unitOf(phrase);
  return dimension !== '' && unknown.length === 0;
};

const isNamed = (token: Token | undefined): boolean =>
  token?.t === 'id' || (token?.t === 'word' && /^[A-Z]+$/.test(token.v)) || (token?.t === 'cmd' && GREEK.has(token.v));

/** Settles `\text{…}`: separators, percent signs, single letters and texts that hold numbers. */
export function tidy(tokens: Token[], commas: Commas): Token[] {
  const out: Token[] = [];
  let rows = 0;
  // Dollars in pairs are delimiters; a single one is a currency.
  const delimiters = tokens.filter((token) => isSign(token, '$')).length % 2 === 0;
  for (const [k, token] of tokens.entries()) {
    if (token.t === 'begin' || token.t === 'end') rows += (token.t === 'begin' ? 1 : -1) * (isMatrix(token.v) ? 1 : 0);
    if (isSign(token, '&') && rows === 0) continue;
    if (isCmd(token, '(', ')', '[', ']')) continue;
    // "40 sq. ft."
    const short = out.at(-1)?.t === 'word' ? (out.at(-1)?.v ?? '') : '';
    if (isSign(token, '.') && (isUnit(short) || short === 'sq') && tokens[k + 1]?.t === 'word') continue;
    const seconds = isSign(token, '"') && out.at(-1)?.t === 'num' && out.some((t) => isSign(t, "'"));
    if (isSign(token, '"', '`') && !seconds) continue;
    if (isSign(token, '$') || isCmd(token, '$')) {
      if (!(delimiters && token.t === 'sign')) out.push({ t: 'text', v: '$', sp: token.sp });
      continue;
    }
    // "x is 5" says x = 5.
    if (token.t === 'word' && /^(?:is|equals)$/i.test(token.v) && isNamed(out.at(-1))) {
      out.push({ t: 'sign', v: '=', sp: true });
      continue;
    }
    if (token.t !== 'text') {
      const next = tokens[k + 1];
      // `3.2 x 10^5` and `9 x $2 = $18` multiply.
      const number = isSign(next, '$') || isCmd(next, '$') ? tokens[k + 2] : next;
      const times = token.t === 'id' && token.v === 'x' && out.at(-1)?.t === 'num' && number?.t === 'num';
      const reckoned = token.sp && number?.v !== undefined && tokens.some((other) => isSign(other, '='));
      const power = next?.v === '10' && isSign(tokens[k + 2], '^');
      out.push(times && (power || reckoned) ? { t: 'sign', v: '*', sp: true } : token);
      continue;
    }
    const text = token.v.replace(/\\[,;:! ]|~/g, ' ').trim();
    if (text === '') continue;
    if (text === '\\$') {
      out.push({ t: 'text', v: '$', sp: token.sp });
      continue;
    }
    // `\mathrm{m/s^{2}}`: upright behind a value, all of it is a unit.
    const unit = /^[A-Za-z][A-Za-z\s/^{}\d*-]*$/.test(text) ? text.replace(/[{}]/g, '') : '';
    if (/[/^]/.test(unit) && out.at(-1)?.t === 'num' && isKnownUnit(unit)) {
      out.push({ t: 'text', v: unit, sp: token.sp });
      continue;
    }
    const lower = text.toLowerCase().replace(/[.,;]$/, '');
    if (/^,?\s*(and|or|mod)$/.test(lower)) out.push({ t: 'word', v: /[a-z]+$/.exec(lower)?.[0] ?? lower, sp: true });
    else if (/^[A-Za-z]$/.test(text) && (isCmd(out.at(-2), 'circ') || !isUnitHere(text, out.at(-1), tokens[k + 1])))
      out.push({ t: 'id', v: text, sp: token.sp });
    else if (/\d|^[(\\$^{]|[=<>]/.test(text) || /\b(and|or)\b/.test(lower) || /^[,;:.]$/.test(text))
      out.push(...tokenize(text, commas).filter((inner) => inner.t !== 'text' || !/[\\{}$]/.test(inner.v)));
    else out.push({ t: 'text', v: text, sp: token.sp });
  }
  return out;
}
