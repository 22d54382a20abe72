// The commands of LaTeX that stand for values: fractions, roots, functions, sums, sets, matrices. Also serves
// plain text (`sqrt(2)`, `sin x`), whose words arrive here as commands.

import { call, int, type Node, some } from '../base/ast.ts';
import { accept, type Cursor, expect, isCmd, isSign, nested, peek, take, type Token } from './tokens.ts';
import { Unparsed } from '../base/limits.ts';
import { bars, numberNode } from './parse-primary.ts';
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
  if (name === 'sqrt') return root(c);
  if (name === 'cbrt') return call('root', argument(c, true), int(3));
  // `\max = 4`, `f_{\max}`: its name.
  if (/^(?:max|min|sup|inf)$/.test(name) && (isSign(peek(c), '=', '}') || peek(c) === undefined))
    return { k: 'sym', name: `\\${name}` };
  if (FUNCTIONS.has(name) || name === 'Re' || name === 'Im') return functionCall(c, FUNCTION_NAMES.get(name) ?? name);
  if (name === 'pi') return { k: 'const', name: 'pi' };
  if (name === 'infty' || name === 'infin') return { k: 'const', name: 'inf' };
  if (name === 'imath') return { k: 'const', name: 'i' };
  if (name === 'angle' || name === 'triangle' || /^(?:vec|hat)$/.test(mark ?? '')) {
    const figure = pointsOf(c, mark ?? name);
    if (figure) return figure;
  }
  if (GREEK.has(name)) return greek(c, name);
  if (name === '|' || name === 'lVert' || name === 'Vert') return bars(c, '||');
  if (name === 'lvert' || name === 'vert') return bars(c, '|');
  if (name === '{' || name === 'lbrace') return explicitSet(c);
  if (name === 'langle') return enclosed(c, 'rangle', (items) => ({ k: 'tuple', items, open: '<', close: '>' }));
  if (name === 'lfloor') return enclosed(c, 'rfloor', ([arg = int(0)]) => call('floor', arg));
  if (name === 'lceil') return enclosed(c, 'rceil', ([arg = int(0)]) => call('ceil', arg));
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
  if (mark !== undefined) return decorated(c, mark);
  if (TRANSPARENT.has(name)) {
    if (/^(?:text)?color$/.test(name)) argument(c);
    return argument(c);
  }
  // An unknown sign may be an operator, whose sides have an order: a letter only where it stands alone or as a power.
  const before = c.tokens[c.at - 2];
  const power = isSign(before, '^') || (isSign(before, '{') && isSign(c.tokens[c.at - 3], '^'));
  if (/^[A-Za-z]+$/.test(name) && (c.tokens.length === 1 || (power && !isSign(peek(c), '{', '[', '('))))
    return { k: 'sym', name: `\\${name}` };
  throw new Unparsed(`unknown command ${name}`);
}

/** A braced argument, or TeX's single token: one digit, one letter, one command. */
export function argument(c: Cursor, wholeNumber = false): Node {
  if (accept(c, '{')) {
    const inner = c.parseList(c);
    expect(c, '}');
    return inner;
  }
  const token = peek(c);
  if (token?.t === 'num' && !wholeNumber && token.v.length > 1) {
    const [first = '0', rest] = [token.v[0], token.v.slice(1)];
    if (!/\d/.test(first)) throw new Unparsed('a fraction needs two arguments');
    c.tokens[c.at] = { t: 'num', v: rest, sp: false };
    return int(BigInt(first));
  }
  if (token?.t === 'word' && token.v.length > 1 && !FUNCTIONS.has(token.v) && token.v !== 'pi') {
    c.tokens[c.at] = { t: token.v.length === 2 ? 'id' : 'word', v: token.v.slice(1), sp: false };
    return { k: 'sym', name: token.v[0] ?? '' };
  }
  if (token?.t === 'num' || token?.t === 'id' || token?.t === 'word') {
    // Powers belong to what is outside the argument.
    c.at++;
    if (token.t === 'num') return numberNode(c, token.v);
    if (token.t === 'word' && token.v !== 'pi') throw new Unparsed('a function as an argument');
    if (token.v === 'e' || token.v === 'i') return { k: 'const', name: token.v };
    return token.v === 'pi' ? { k: 'const', name: 'pi' } : { k: 'sym', name: token.v };
  }
  if (token?.t === 'cmd' || token?.t === 'begin') {
    c.at++;
    return nested(c, () => parseCommand(c, token));
  }
  if (isSign(token, '(', '[')) return c.parsePostfix(c);
  throw new Unparsed('an argument is missing');
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

/** A mark over a letter belongs to its name. */
const decorated = (c: Cursor, name: string): Node => call(`\\${name}`, argument(c));

function root(c: Cursor): Node {
  let degree: Node = int(2);
  if (accept(c, '[')) {
    degree = c.parseList(c);
    expect(c, ']');
  }
  return call('root', argument(c, true), degree);
}

function greek(c: Cursor, name: string): Node {
  const plain = name.replace(/^var/, '');
  if (FUNCTION_LETTERS.has(plain) && isSign(peek(c), '(')) {
    c.at++;
    const inner = c.parseList(c);
    expect(c, ')');
    return { k: 'apply', name: plain, args: inner.k === 'list' ? inner.items : [inner] };
  }
  return { k: 'sym', name: plain };
}

/** `\sin^2 x`, `\log_2(8)`, `\ln 2x`: power and index before the argument, which ends at a sign. */
function functionCall(c: Cursor, name: string): Node {
  let power: Node | undefined;
  let base: Node | undefined;
  for (;;) {
    if (accept(c, '^')) {
      if (isCmd(peek(c), 'circ')) throw new Unparsed('degrees of a function');
      power = accept(c, '-') ? { k: 'neg', arg: argument(c) } : argument(c);
    } else if (accept(c, '_')) base = argument(c, true);
    else break;
  }
  let args: Node[];
  if (isSign(peek(c), '(') || isSign(peek(c), '[')) {
    const open = take(c).v;
    const inner = c.parseList(c);
    expect(c, open === '(' ? ')' : ']');
    args = inner.k === 'list' ? [...inner.items] : [inner];
  } else if (isSign(peek(c), '{')) args = [argument(c)];
  else args = [implicitArgument(c)];
  const first = args[0];
  if (!first) throw new Unparsed('a function needs an argument');
  const inverse = power?.k === 'neg' && power.arg.k === 'num' && power.arg.value.num === 1n;
  const inverted = power?.k === 'num' && power.value.num === -1n && power.value.den === 1n;
  let node: Node;
  if ((inverse || inverted) && /^(sin|cos|tan|cot|sinh|cosh|tanh)$/.test(name)) {
    return call(name.endsWith('h') ? `ar${name}` : `arc${name}`, first);
  }
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
  while (c.startsPrimary(c) && items.length < 8) {
    const token = peek(c);
    if (items.length > 0 && token && (FUNCTIONS.has(token.v) || BIG.has(token.v) || isSign(token, '(', '[', '{')))
      break;
    if (token?.t === 'text') break;
    items.push(c.parseFactor(c));
  }
  if (items.length === 0) throw new Unparsed('a function needs an argument');
  return items.length === 1 && items[0] ? items[0] : { k: 'mul', items };
}

function enclosed(c: Cursor, close: string, make: (items: readonly Node[]) => Node): Node {
  const inner = c.parseList(c);
  if (!isCmd(take(c), close)) throw new Unparsed(`\\${close} is missing`);
  return make(inner.k === 'list' ? inner.items : [inner]);
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
        if (accept(c, '=')) from = c.parseSum(c);
        else if (isCmd(peek(c), 'to', 'rightarrow', 'in')) {
          c.at++;
          from = c.parseSum(c);
        } else from = lower;
        expect(c, '}');
      } else from = argument(c);
    } else if (accept(c, '^')) to = argument(c, true);
    else break;
  }
  const items: Node[] = [];
  while ((c.startsPrimary(c) || isCmd(peek(c), 'cdot')) && items.length < 40) {
    if (isCmd(peek(c), 'cdot')) c.at++;
    let item = c.parseFactor(c);
    if (accept(c, '/')) item = { k: 'div', top: item, bottom: c.parseFactor(c) };
    items.push(item);
  }
  if (items.length === 0) throw new Unparsed(`\\${op} needs a body`);
  return { k: 'big', op, variable, from, to, body: items.length === 1 && items[0] ? items[0] : { k: 'mul', items } };
}
