// The letter of a family of solutions runs over whole numbers: `x = 2πk, k ∈ ℤ`, `π/6 + nπ for any integer n`, `{2k | k ∈ ℤ}`. What
// says so is cut off, and the letter gets a name of its own, since 2m would be two metres.

import { type Over, RUNNING } from '../base/ast.ts';
import { isCmd, isSign, type Token } from './cursor.ts';

const LEAD = '^(?:[,;(] )*(?:(?:for|where|with|and) )?';
const SET = String.raw`in (?:math(?:bb|bf) )?(?:\{ )?(?<set>[ZN])(?: \})?(?<part> [\^_] [^)]*?)?`;
const KIND = '(?:(?:positive|non ?-?negative|any|an?|some|arbitrary|all|every|each) )*';
const RANGES = [
  `${LEAD}(?:(?:any|all|every|some|each) )?(?<letter>[a-zA-Z]) (?:${SET}|(?:(?:is|being|are|=) )?(?<kind>${KIND})integers?)`,
  `${LEAD}(?<kind>${KIND})integers?(?: values? of)? (?<letter>[a-zA-Z])`,
].map((range) => new RegExp(String.raw`${range}(?: \))?(?: [.,;])?$`));
const MOST_TOKENS = 16;

/** What stands before the range, its letter renamed, and the range. */
export function familyIn(source: readonly Token[]): { readonly tokens: Token[]; readonly over: Over } | undefined {
  if (!source.some((token) => isCmd(token, 'in') || /integer/.test(token.v))) return undefined;
  const tokens = withoutBraces(source);
  for (let at = Math.max(1, tokens.length - MOST_TOKENS); at < tokens.length; at++) {
    const tail = tokens
      .slice(at)
      .map(({ v }) => v)
      .join(' ');
    const { letter, set, part, kind = '' } = RANGES.map((range) => range.exec(tail)).find(Boolean)?.groups ?? {};
    if (letter === undefined) continue;
    const isLetter = (token: Token): boolean => token.t === 'id' && token.v === letter;
    const body = tokens.slice(0, at);
    if (!body.some(isLetter)) return undefined;
    const over = part === undefined ? (set ?? said(kind)) : /\+|> 0/.test(part) ? 'P' : 'N';
    return {
      tokens: body.map((token) => (isLetter(token) ? { ...token, v: RUNNING } : token)),
      over: over as Over,
    };
  }
  return undefined;
}

const said = (kind: string): string => (/positive/.test(kind) ? 'P' : /negative/.test(kind) ? 'N' : 'Z');

/** `{2k | k ∈ ℤ}` as `2k, k ∈ ℤ`, and `{x | x = 2k, k ∈ ℤ}` as well. */
function withoutBraces(tokens: readonly Token[]): readonly Token[] {
  const open = isCmd(tokens[1], 'in') ? 2 : 0;
  const bar = tokens.findIndex((token) => isSign(token, '|', ':') || isCmd(token, 'mid', 'vert'));
  if (!isCmd(tokens[open], '{') || !isCmd(tokens.at(-1), '}') || bar < 0) return tokens;
  const [element, condition] = [tokens.slice(open + 1, bar), tokens.slice(bar + 1, -1)];
  const isNamed = element.length === 1 && condition[0]?.v === element[0]?.v && isSign(condition[1], '=');
  return isNamed ? condition.slice(2) : [...element, { t: 'sign', v: ',', sp: false }, ...condition];
}
