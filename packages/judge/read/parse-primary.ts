// The leaves of an answer: numbers, letters, brackets, bars, functions with their powers and indices. The
// commands of LaTeX are in parse-command.ts.

import { call, mul, neg, num, type Node, some } from '../base/ast.ts';
import { accept, acceptCmd, expect, isCmd, isSign, nested, peek, take, type Cursor } from './cursor.ts';
import { isRefusing } from './harmless-words.ts';
import { LIMITS, TooBig, Unparsed } from '../base/limits.ts';
import { degreeAhead, degrees, isNamedFunction, isWord } from './parse-words.ts';
import { numberWord } from './number-words.ts';
import { add as addRational, fromDecimal, rational } from '../base/rational.ts';
import { FUNCTION_LETTERS, FUNCTIONS, startsCommand } from './vocabulary.ts';

/** Can the next token begin a factor? */
export function startsPrimary(c: Cursor): boolean {
  const token = peek(c);
  if (!token || token.t === 'newline' || token.t === 'end') return false;
  if (token.v === '|') return c.bars === 0;
  if (token.t === 'cmd') return startsCommand(token.v);
  if (token.t === 'sign') return '([{€£¥₹'.includes(token.v);
  return !isWord(token, 'and', 'or');
}

const FRACTION = /^[dtc]?frac(?:\{(\d{1,9})\}|(\d))(?:\{(\d{1,9})\}|(\d))$|^(\d{1,9})\/(\d{1,9})$/;
const MOST_TOKENS = 7;

/** `2 \frac{1}{3}` and `2 1/3` are two and a third, not a product. */
export function mixedNumber(c: Cursor): Node | undefined {
  const [whole, next] = [peek(c), peek(c, 1)];
  if (whole?.t !== 'num' || !/^\d{1,9}$/.test(whole.v)) return undefined;
  const isInline = next?.t === 'num' && next.sp && isSign(peek(c, 2), '/');
  if (!isInline && !isCmd(next, 'frac', 'dfrac', 'tfrac', 'cfrac')) return undefined;
  let text = '';
  for (let used = 1; used <= MOST_TOKENS; used++) {
    text += peek(c, used)?.v ?? ' ';
    const [top, bottom] = (FRACTION.exec(text) ?? []).slice(1).filter(Boolean);
    if (top === undefined || bottom === undefined) continue;
    const after = peek(c, used + 1);
    if (Number(top) >= Number(bottom) || isSign(after, '!') || (isSign(after, '^') && !degreeAhead(c, used + 2))) break;
    c.at += used + 1;
    return num(addRational(rational(BigInt(whole.v)), rational(BigInt(top), BigInt(bottom))));
  }
  return undefined;
}

/** A primary with everything written behind it: powers, factorials, percent signs, degrees, indices. */
export function parsePostfix(c: Cursor, start?: Node): Node {
  return nested(c, () => {
    let node = start ?? parsePrimary(c);
    for (;;) {
      const token = peek(c);
      if (accept(c, '^')) {
        const degree = degreeAhead(c);
        c.at += degree;
        if (degree > 0) node = degrees(c, node);
        else if (node.k === 'sym' && FUNCTION_LETTERS.has(node.name) && isSign(peek(c), '{') && isSign(peek(c, 1), '('))
          node = call('index', node, call('\\order', parseExponent(c)));
        else node = { k: 'pow', base: node, exp: parseExponent(c) };
      } else if (acceptCmd(c, 'degree')) node = degrees(c, node);
      else if (accept(c, '!')) node = call(accept(c, '!') ? 'doublefactorial' : 'factorial', node);
      else if (accept(c, '%') || acceptCmd(c, '%')) node = { k: 'percent', arg: node };
      else if (accept(c, "'")) node = call('prime', node);
      else if (isSign(token, '(') && !token?.sp && isNamedFunction(node)) {
        // f'(x), f^{-1}(x), f_n(x): a value of another function, and no product.
        c.at++;
        node = call('at', node, ...itemsUpTo(c, ')'));
      } else if (accept(c, '_')) node = parseIndex(c, node);
      else if (accept(c, '€', '£', '¥', '₹')) node = { k: 'unit', arg: node, unit: token!.v, strong: true };
      else return node;
    }
  });
}

/** What stands in braces, if they open here. */
export function braced(c: Cursor): Node | undefined {
  if (!accept(c, '{')) return undefined;
  const inner = c.parseList(c);
  expect(c, '}');
  return inner;
}

function parseExponent(c: Cursor): Node {
  return nested(c, () => {
    const inner = braced(c);
    if (inner) return inner;
    if (accept(c, '-')) return neg(parseExponent(c));
    accept(c, '+');
    // A letter alone: the bracket in `e^x(x-1)` is no argument of x.
    const base = peek(c)?.t === 'id' ? plainLetter(take(c).v) : parsePrimary(c);
    // Towers written without braces read from the right.
    if (isSign(peek(c), '^') && !isCmd(peek(c, 1), 'circ')) {
      c.at++;
      return { k: 'pow', base, exp: parseExponent(c) };
    }
    return base;
  });
}

/** An index belongs to the name; on digits it is a number base. */
function parseIndex(c: Cursor, base: Node): Node {
  let index = braced(c) ?? parsePrimary(c);
  const named = index.k === 'text' ? numberWord(index.text) : undefined;
  if (named) index = num(fromDecimal(named) ?? rational(0n));
  if (base.k === 'num' && index.k === 'num' && !base.decimal && base.value.den === 1n) {
    const radix = Number(index.value.num);
    return radix === 10 ? base : { k: 'base', digits: base.value.num.toString(), base: radix };
  }
  // A_{ij} is no A_{ji}.
  const names = index.k === 'mul' ? index.items.map((n) => (n.k === 'sym' || n.k === 'const' ? n.name : '')) : [];
  if (names.length > 1 && !names.includes('')) index = { k: 'sym', name: names.join('') };
  return call('index', base, index);
}

function parsePrimary(c: Cursor): Node {
  const token = take(c);
  if (token.t === 'num') return numberNode(token.v);
  if (token.t === 'id') return letter(c, token.v);
  if (token.t === 'word') return word(c, token.v);
  if (token.t === 'cmd' || token.t === 'begin') return nested(c, () => c.parseCommand(c, token));
  if (token.t === 'sign') return nested(c, () => parseBracket(c, token.v));
  if (token.t !== 'text') throw new Unparsed(`unexpected ${token.v}`);
  if (/^[$€£¥₹]$/.test(token.v) && startsPrimary(c))
    return { k: 'unit', arg: c.parseFactor(c), unit: token.v, strong: true };
  // `\text{not } x > 2`: what denies or bounds is no part of a value.
  if (c.tokens.length > 1 && token.v.toLowerCase().split(/\s+/).some(isRefusing)) throw new Unparsed('a denial');
  return { k: 'text', text: token.v };
}

const NUMBER = /^([\d.]+)(?:\\[a-z]+\{(\d+)\})?(?:e([+-]?\d+))?$/i;

/** `1.50`, `0.1\overline{6}`, `1.2e-4`. */
export function numberNode(raw: string): Node {
  const [, mantissa = '', period, exponent] = NUMBER.exec(raw) ?? [];
  const value = fromDecimal(mantissa);
  if (!value) throw new Unparsed('not a number');
  if (period !== undefined) {
    const places = 10n ** BigInt(mantissa.length - mantissa.indexOf('.') - 1);
    return num(addRational(value, rational(BigInt(period), (10n ** BigInt(period.length) - 1n) * places)));
  }
  if (exponent === undefined) return num(value, mantissa.includes('.'));
  const power = Number(exponent);
  if (Math.abs(power) > LIMITS.digits) throw new TooBig('the exponent is too big');
  const scale = 10n ** BigInt(Math.abs(power));
  return num(power < 0 ? rational(value.num, value.den * scale) : rational(value.num * scale, value.den), true);
}

export const plainLetter = (name: string): Node =>
  name === 'e' || name === 'i' || name === 'pi' ? { k: 'const', name } : { k: 'sym', name };

function letter(c: Cursor, name: string): Node {
  if (name === 'e' || name === 'i') return plainLetter(name);
  return applied(c, name) ?? plainLetter(name);
}

/** A name glued to a bracket may be a function: what it is, is settled when it is compared. */
function applied(c: Cursor, name: string): Node | undefined {
  if (peek(c)?.sp || !accept(c, '(')) return undefined;
  return { k: 'apply', name, args: itemsUpTo(c, ')') };
}

/** The items of a list up to the sign or the command that closes it. */
export function itemsUpTo(c: Cursor, close: string): readonly Node[] {
  const inner = c.parseList(c);
  if (take(c).v !== close) throw new Unparsed(`${close} is missing`);
  return inner.k === 'list' ? inner.items : [inner];
}

/** A run of letters: a function, a constant, or a product of single letters. */
function word(c: Cursor, name: string): Node {
  const lower = name.toLowerCase();
  if (FUNCTIONS.has(lower)) return nested(c, () => c.parseCommand(c, { t: 'cmd', v: lower, sp: false }));
  const operator = FUNCTION_LETTERS.has(name) ? applied(c, name) : undefined;
  if (operator) return operator;
  if (lower === 'pi') return { k: 'const', name: 'pi' };
  if (/^(inf|infty|infinity|oo)$/.test(lower)) return { k: 'const', name: 'inf' };
  // A power behind the run belongs to its last letter: ab² is a·b².
  return mul([...Array.from(name.slice(0, -1), plainLetter), parsePostfix(c, letter(c, name.at(-1)!))]);
}

/** `{n \\over k}` and `{n \\choose k}`. */
function overBrace(c: Cursor, top: Node): Node {
  const over = take(c).v === 'over';
  const bottom = c.parseList(c);
  expect(c, '}');
  return over ? { k: 'div', top, bottom } : call('binom', top, bottom);
}

function parseBracket(c: Cursor, open: string): Node {
  if (open === '|') return bars(c);
  if ('€£¥₹'.includes(open)) return { k: 'unit', arg: c.parseFactor(c), unit: open, strong: true };
  const outer = c.bars;
  const start = c.at;
  c.bars = 0;
  const inner = c.parseList(c);
  c.bars = outer;
  if (open === '{') {
    if (isCmd(peek(c), 'over', 'choose', 'atop')) return overBrace(c, inner);
    expect(c, '}');
    // `{x > 1 \text{ and } x < 3}` holds conditions, and no set has those for elements.
    return inner.k === 'list' && !inner.items.every((item) => item.k === 'rel')
      ? { k: 'set', items: inner.items, explicit: false }
      : inner;
  }
  const close = take(c);
  if (!isSign(close, ')', ']')) throw new Unparsed(`${open} is not closed`);
  const items = inner.k === 'list' ? inner.items : [inner];
  // [x] may be the whole part of x: only around other brackets, or around numbers, it just groups.
  const grouped = c.tokens.slice(start, c.at - 1).some((token) => isSign(token, '(', '[') || token.t === 'begin');
  if (open === '[' && close.v === ']' && items.length === 1 && !grouped && some(inner, (n) => n.k === 'sym'))
    return call('bracket', inner);
  return items.length === 1 && open === '(' && close.v === ')' ? inner : { k: 'tuple', items, open, close: close.v };
}

/** An absolute value. Inside it a bar closes. */
export function bars(c: Cursor): Node {
  const outer = c.bars;
  c.bars = 1;
  const inner = c.parseSum(c);
  c.bars = outer;
  if (!/^(?:\||r?[vV]ert|mid)$/.test(take(c).v)) throw new Unparsed('a bar is not closed');
  return call('abs', inner);
}
