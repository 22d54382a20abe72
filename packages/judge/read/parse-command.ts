// The commands of LaTeX that stand for values: fractions, roots, functions, sums, sets, matrices. Also serves
// plain text (`sqrt(2)`, `sin x`), whose words arrive here as commands.

import { call, int, mul, neg, type Node, some } from '../base/ast.ts';
import { accept, acceptCmd, type Cursor, expect, isSign, nested, peek, take, type Token } from './cursor.ts';
import { Unparsed } from '../base/limits.ts';
import { bars, braced, itemsUpTo, numberNode, parsePostfix, plainLetter, startsPrimary } from './parse-primary.ts';
import { explicitSet, parseEnvironment } from './parse-enclosed.ts';
import {
  BIG,
  BOLD,
  DECORATIONS,
  FUNCTION_LETTERS,
  FUNCTION_NAMES,
  FUNCTIONS,
  GREEK,
  NAMED_SETS,
  TRANSPARENT,
} from './vocabulary.ts';

export function parseCommand(c: Cursor, token: Token): Node {
  if (token.t === 'begin') return parseEnvironment(c, token.v);
  const name = token.v;
  const mark = DECORATIONS.get(name);
  if (/^[dtc]?frac$/.test(name)) return { k: 'div', top: argument(c), bottom: argument(c) };
  if (/^[dt]?binom$/.test(name)) return call('binom', argument(c), argument(c));
  if (name === 'sqrt') {
    const [degree = int(2)] = accept(c, '[') ? itemsUpTo(c, ']') : [];
    return call('root', argument(c, true), degree);
  }
  if (name === 'cbrt') return call('root', argument(c, true), int(3));
  // `\max = 4`, `f_{\max}`: its name.
  if (/^(?:max|min|sup|inf)$/.test(name) && (isSign(peek(c), '=', '}') || peek(c) === undefined))
    return { k: 'sym', name: `\\${name}` };
  if (FUNCTIONS.has(name) || name === 'Re' || name === 'Im') return functionCall(c, FUNCTION_NAMES.get(name) ?? name);
  if (name === 'pi') return { k: 'const', name: 'pi' };
  if (name === 'infty') return { k: 'const', name: 'inf' };
  if (name === 'angle' || name === 'triangle' || /^(?:vec|hat)$/.test(mark ?? '')) {
    const figure = pointsOf(c, mark ?? name);
    if (figure) return figure;
  }
  if (GREEK.has(name)) return greek(c, name);
  if (/^(?:\||l?[vV]ert)$/.test(name)) return bars(c);
  if (name === '{' || name === 'lbrace') return explicitSet(c);
  if (name === 'langle') return { k: 'tuple', items: itemsUpTo(c, 'rangle'), open: '<', close: '>' };
  if (name === 'lfloor') return call('floor', ...itemsUpTo(c, 'rfloor'));
  if (name === 'lceil') return call('ceil', ...itemsUpTo(c, 'rceil'));
  if (name === 'emptyset' || name === 'varnothing') return { k: 'set', items: [], explicit: true };
  if (name === 'mathbb') {
    const arg = argument(c);
    return arg.k === 'sym' && NAMED_SETS.has(arg.name) ? { k: 'named', name: arg.name } : arg;
  }
  if (NAMED_SETS.has(name)) return { k: 'named', name };
  if (/^[lcv]?dots$/.test(name)) return { k: 'sym', name: 'ellipsis' };
  if (BIG.has(name)) return bigOperator(c, name);
  if (name === 'overline' || name === 'bar') {
    const points = pointsOf(c, 'segment') ?? digitsOf(c);
    if (points) return points;
    const arg = argument(c);
    // A conjugate is of a complex number; over anything else a bar means a mean, a complement: another letter.
    const complex = !some(arg, (n) => n.k === 'sym') || some(arg, (n) => 'name' in n && /^[zwi]$/.test(n.name));
    return call(complex ? 'conj' : '\\bar', arg);
  }
  if (BOLD.has(name)) {
    const arg = argument(c);
    return arg.k === 'sym' ? call('bold', arg) : arg;
  }
  // A mark over a letter belongs to its name.
  if (mark !== undefined) return call(`\\${mark}`, argument(c));
  if (TRANSPARENT.has(name)) {
    if (/^(?:text)?color$/.test(name)) argument(c);
    return argument(c);
  }
  throw new Unparsed(`unknown command ${name}`);
}

/** A braced argument, or TeX's single token: one digit, one letter, one command. */
export function argument(c: Cursor, wholeNumber = false): Node {
  const inner = braced(c);
  if (inner) return inner;
  const token = take(c);
  const isLetters = token.t === 'word' && token.v !== 'pi' && !FUNCTIONS.has(token.v);
  if (token.v.length > 1 && (isLetters || (token.t === 'num' && !wholeNumber))) {
    const [first, rest] = [token.v[0]!, token.v.slice(1)];
    c.tokens[--c.at] = { t: isLetters && rest.length === 1 ? 'id' : token.t, v: rest, sp: false };
    return isLetters ? plainLetter(first) : numberNode(first);
  }
  // Powers belong to what is outside the argument.
  if (token.t === 'num') return numberNode(token.v);
  if (token.t === 'id' || token.v === 'pi') return plainLetter(token.v);
  if (token.t === 'cmd' || token.t === 'begin') return nested(c, () => parseCommand(c, token));
  if (!isSign(token, '(', '[')) throw new Unparsed('an argument is missing');
  c.at--;
  return parsePostfix(c);
}

/** Points behind a figure are its name and no product. */
function pointsOf(c: Cursor, figure: string): Node | undefined {
  const braces = isSign(peek(c), '{');
  const points = peek(c, braces ? 1 : 0);
  if ((points?.t !== 'word' && points?.t !== 'id') || !/^[A-Z]{1,6}$/.test(points.v)) return undefined;
  if (braces && !isSign(peek(c, 2), '}')) return undefined;
  // Over one letter the bar means a complement or a mean, over three a number's digits.
  if (figure === 'segment' && points.v.length !== 2) return undefined;
  c.at += braces ? 3 : 1;
  if (figure === 'segment') return { k: 'mul', items: [...points.v].map((l): Node => ({ k: 'sym', name: l })) };
  return { k: 'sym', name: `${figure} ${points.v}` };
}

/** Letters and digits under a bar, in their order: `\overline{a5b}` is a number by its digits. */
function digitsOf(c: Cursor): Node | undefined {
  let [digits, to] = ['', 1];
  for (; isSign(peek(c), '{') && /^(?:num|id|word)$/.test(peek(c, to)?.t ?? ''); to++) digits += peek(c, to)?.v ?? '';
  if (!isSign(peek(c, to), '}') || digits.length < 2 || /^\d+$|[zwi]/.test(digits)) return undefined;
  c.at += to + 1;
  return { k: 'sym', name: `bar ${digits}` };
}

function greek(c: Cursor, name: string): Node {
  const plain = name.replace(/^var/, '');
  if (!FUNCTION_LETTERS.has(plain) || !accept(c, '(')) return { k: 'sym', name: plain };
  return { k: 'apply', name: plain, args: itemsUpTo(c, ')') };
}

/** `\sin^2 x`, `\log_2(8)`, `\ln 2x`: power and index before the argument, which ends at a sign. */
function functionCall(c: Cursor, name: string): Node {
  let power: Node | undefined;
  let base: Node | undefined;
  for (;;) {
    if (accept(c, '^')) power = accept(c, '-') ? neg(argument(c)) : argument(c);
    else if (accept(c, '_')) base = argument(c, true);
    else break;
  }
  const isBracket = isSign(peek(c), '(', '[');
  const args = isBracket ? itemsUpTo(c, take(c).v === '(' ? ')' : ']') : [braced(c) ?? implicitArgument(c)];
  const [first] = args;
  if (!first) throw new Unparsed('a function needs an argument');
  const isInverse = power?.k === 'num' && power.value.num === -1n && power.value.den === 1n;
  let node: Node;
  if (isInverse && /^(?:sin|cos|tan|cot)h?$/.test(name))
    return call(`ar${name.endsWith('h') ? '' : 'c'}${name}`, first);
  if (name === 'log' && base) node = call('logbase', first, base);
  else if (name === 'log10') node = call('logbase', first, int(10));
  else if (name === 'exp') node = { k: 'pow', base: { k: 'const', name: 'e' }, exp: first };
  else {
    // \max\{a, b\} is \max(a, b).
    const [set] = /^(?:max|min|gcd|lcm)$/.test(name) && args.length === 1 ? args : [];
    node = call(name, ...(set?.k === 'set' ? set.items : args));
  }
  return power ? { k: 'pow', base: node, exp: power } : node;
}

/** The factors written right behind a function, up to a sign or another function. */
function implicitArgument(c: Cursor): Node {
  const items: Node[] = [];
  if (accept(c, '-')) items.push(int(-1));
  while (startsPrimary(c) && items.length < 8) {
    const token = peek(c);
    if (items.length > 0 && token && (FUNCTIONS.has(token.v) || BIG.has(token.v) || isSign(token, '(', '[', '{')))
      break;
    if (token?.t === 'text') break;
    items.push(c.parseFactor(c));
  }
  if (items.length === 0) throw new Unparsed('a function needs an argument');
  return mul(items);
}

/** Sum, product, integral or limit with its bounds and everything multiplied behind it. */
function bigOperator(c: Cursor, op: string): Node {
  let variable = '';
  let from: Node | undefined;
  let to: Node | undefined;
  for (;;) {
    if (accept(c, '_')) {
      if (accept(c, '{')) {
        const lower = c.parseSum(c);
        if (lower.k === 'sym' || lower.k === 'const') variable = lower.name;
        from = accept(c, '=') || acceptCmd(c, 'to', 'rightarrow', 'in') ? c.parseSum(c) : lower;
        expect(c, '}');
      } else from = argument(c);
    } else if (accept(c, '^')) to = argument(c, true);
    else break;
  }
  return { k: 'big', op, variable, from, to, body: c.parseProduct(c) };
}
