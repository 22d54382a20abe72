// Steps and alternating signs, resolved by cases. For a whole n = L·t + r, with r from 0 to L − 1, ⌊p(n)⌋ is a polynomial
// in t less a known fraction, (−1)^p(n) is a sign, cos(πp(n)) a constant, gcd(p(n), m) a number: each case is left
// with nothing that jumps. For a real x = L·t + s the cases are the jumps themselves and the gaps between them.
// Only letters that count by convention are whole. Anything else stays as it is, and sampling.ts does not show it.

import { add, call, children, int, mapChildren, mul, neg, type Node, num, some } from '../ast.ts';
import { type Comparison, type Equality, letters } from './comparison.ts';
import { exact, replaceSymbol } from './exact.ts';
import { fractionIn } from './polynomial.ts';
import * as Q from '../rational.ts';
import { COUNTING, MAY_COUNT } from './at-point.ts';
import { sampled } from './sampling.ts';

type Shown = (a: Node, b: Node, c: Comparison) => Equality | undefined;

const MAX_CASES = 400n;

/** Undefined when there is no step in letters. */
export function byResidueClass(a: Node, b: Node, c: Comparison, shown: Shown): Equality | undefined {
  const steps: Node[] = [];
  for (const node of [a, b]) collect(node, steps, c);
  if (steps.length === 0) return undefined;
  const names = [...new Set(steps.flatMap((node) => [...letters(node)]))];
  const periods = new Map<string, bigint>();
  for (const step of steps) {
    const own = periodOf(step, c) ?? 1n;
    for (const name of letters(step)) periods.set(name, lcm(periods.get(name) ?? 1n, own));
  }
  const natural = steps.filter((n) => !isFloor(n)).flatMap((n) => [...letters(n)]);
  const [real, ...more] = names.filter((name) => !COUNTING.test(name) && !natural.includes(name));
  if (more.length > 0 || (real !== undefined && names.length > 1)) return undefined;
  const cases = real === undefined ? wholeCases(periods) : realCases(real, periods.get(real) ?? 1n, steps, c);
  if (!cases) return undefined;
  let all: Equality = 'form';
  for (const one of cases) {
    const [x, y] = [resolve(a, one, c), resolve(b, one, c)];
    const word = shown(x, y, c) ?? sampled(x, y, c);
    if (word === 'different' && !some(x, isBar) && !some(y, isBar)) return word;
    if (word === 'different' || word === 'unknown') all = 'unknown';
    else if (word === 'sampled' && all !== 'unknown') all = word;
  }
  return all;
}

const isBar = (n: Node): boolean => n.k === 'call' && /^(abs|max|min|sgn|root)$/.test(n.name);
const isFloor = (n: Node): boolean => n.k === 'call' && n.name === 'floor';
const lcm = (a: bigint, b: bigint): bigint => (a / Q.gcd(a, b)) * b;

function collect(node: Node, into: Node[], c: Comparison): void {
  if (periodOf(node, c) !== undefined && letters(node).size > 0) into.push(node);
  for (const child of children(node)) collect(child, into, c);
}

/** After so many whole steps of its letters the node does the same again; undefined for what is no step. */
function periodOf(node: Node, c: Comparison): bigint | undefined {
  if (node.k === 'pow') {
    const own = denominator(node.exp, c);
    const value = node.base.k === 'const' && node.base.name === 'i' ? 4n : negative(node.base, c) ? 2n : undefined;
    return own && value && letters(node.exp).size > 0 && all(node.exp, MAY_COUNT) ? own * value : undefined;
  }
  if (node.k !== 'call' || !node.args[0]) return undefined;
  const [first, second] = node.args;
  if (node.name === 'floor') return denominator(first, c);
  if (node.name === 'gcd' && second) {
    const size = exact(second, c);
    const whole = size?.den === 1n && size.num !== 0n && all(first, MAY_COUNT);
    return whole && denominator(first, c) === 1n ? Q.abs(size).num : undefined;
  }
  const turns = /^(sin|cos|tan|cot|sec|csc)$/.test(node.name) ? overPi(first) : undefined;
  // cos(2πx) asks for no whole x: only a letter that counts anyway has cases.
  const own = turns && letters(turns).size > 0 && all(turns, COUNTING) ? denominator(turns, c) : undefined;
  return own && own * 2n;
}

const all = (node: Node, names: RegExp): boolean => [...letters(node)].every((name) => names.test(name));
const negative = (node: Node, c: Comparison): boolean => (exact(node, c)?.num ?? 0n) < 0n;

/** A common denominator of the coefficients of a polynomial in letters; undefined for anything else. */
function denominator(node: Node, c: Comparison): bigint | undefined {
  const value = exact(node, c);
  if (value) return value.den;
  switch (node.k) {
    case 'sym':
      return 1n;
    case 'neg':
      return denominator(node.arg, c);
    case 'add':
    case 'mul':
      return node.items.reduce<bigint | undefined>((all, item) => {
        const own = all && denominator(item, c);
        return all && own && (node.k === 'add' ? lcm(all, own) : bounded(all * own));
      }, 1n);
    case 'div': {
      const bottom = exact(node.bottom, c);
      const top = bottom && bottom.num !== 0n ? denominator(node.top, c) : undefined;
      return top && bottom && bounded(top * Q.abs(bottom).num);
    }
    case 'pow': {
      const exponent = exact(node.exp, c);
      const base =
        exponent?.den === 1n && exponent.num > 0n && exponent.num < 9n ? denominator(node.base, c) : undefined;
      return base && exponent && bounded(base ** exponent.num);
    }
    default:
      return undefined;
  }
}

const bounded = (n: bigint): bigint | undefined => (n <= MAX_CASES ? n : undefined);

/** u of π·u. */
function overPi(node: Node): Node | undefined {
  if (node.k === 'const') return node.name === 'pi' ? int(1) : undefined;
  if (node.k === 'neg') {
    const inner = overPi(node.arg);
    return inner && neg(inner);
  }
  if (node.k === 'div') {
    const top = overPi(node.top);
    return top && { ...node, top };
  }
  if (node.k === 'mul') {
    for (const [at, item] of node.items.entries()) {
      const inner = overPi(item);
      if (inner) return mul(node.items.with(at, inner));
    }
    return undefined;
  }
  if (node.k === 'add') {
    const parts = node.items.map(overPi);
    return parts.includes(undefined) ? undefined : add(parts as Node[]);
  }
  return undefined;
}

/** The expression for each letter, and a value of it that lies in this case. */
type Case = ReadonlyMap<string, { readonly by: Node; readonly spot: Q.Rational }>;

function wholeCases(periods: ReadonlyMap<string, bigint>): Case[] | undefined {
  if ([...periods.values()].reduce((product, own) => product * own, 1n) > MAX_CASES) return undefined;
  let cases: Case[] = [new Map()];
  for (const [name, period] of periods) {
    const t: Node = mul([num(Q.rational(period)), { k: 'sym', name }]);
    cases = cases.flatMap((one) =>
      Array.from({ length: Number(period) }, (_, r) => {
        const spot = Q.rational(BigInt(r));
        return new Map([...one, [name, { by: add([t, num(spot)]), spot }]]);
      }),
    );
  }
  return cases;
}

/** The places in [0, L) where a floor jumps, and the gaps between them. */
function realCases(name: string, period: bigint, steps: readonly Node[], c: Comparison): Case[] | undefined {
  if (period > MAX_CASES) return undefined;
  const end = Q.rational(period);
  const jumps: Q.Rational[] = [Q.ZERO];
  for (const step of steps) {
    const inner = isFloor(step) && step.k === 'call' ? step.args[0] : undefined;
    const line = inner && fractionIn(inner, name, c);
    if (line?.top.length !== 2 || line.bottom.length !== 1) return undefined;
    const scale = line.bottom[0] ?? Q.ONE;
    const [offset, slope] = [Q.div(line.top[0] ?? Q.ZERO, scale), Q.div(line.top[1] ?? Q.ONE, scale)];
    const [from, to] = [offset, Q.add(offset, Q.mul(slope, end))].toSorted(Q.compare);
    if (!from || !to || Q.compare(Q.sub(to, from), Q.rational(MAX_CASES)) > 0) return undefined;
    for (let k = from.num / from.den - 1n; k <= to.num / to.den + 1n; k++) {
      const at = Q.div(Q.sub(Q.rational(k), offset), slope);
      if (Q.compare(at, Q.ZERO) >= 0 && Q.compare(at, end) < 0) jumps.push(at);
    }
  }
  const sorted = jumps.toSorted(Q.compare).filter((q, k, all) => k === 0 || !Q.equal(q, all[k - 1] ?? Q.ZERO));
  if (sorted.length > Number(MAX_CASES)) return undefined;
  const t: Node = mul([num(end), { k: 'sym', name: `${name}\\t` }]);
  return sorted.flatMap((at, k): Case[] => {
    const middle = Q.div(Q.add(at, sorted[k + 1] ?? end), Q.rational(2n));
    return [
      new Map([[name, { by: add([t, num(at)]), spot: at }]]),
      new Map([[name, { by: add([t, { k: 'sym', name }]), spot: middle }]]),
    ];
  });
}

function resolve(node: Node, one: Case, c: Comparison): Node {
  const put = (n: Node, spots: boolean): Node => {
    let bound = n;
    for (const [name, { by, spot }] of one) bound = replaceSymbol(bound, name, spots ? num(spot) : by);
    return bound;
  };
  const at = (n: Node): Q.Rational | undefined => exact(put(n, true), c);
  const walk = (n: Node): Node => {
    if (n.k === 'sym') return put(n, false);
    if (periodOf(n, c) === undefined || letters(n).size === 0) return mapChildren(n, walk);
    if (n.k === 'pow') {
      const value = at(n.exp);
      if (value?.den !== 1n) return mapChildren(n, walk);
      if (n.base.k === 'const') return { k: 'pow', base: n.base, exp: num(Q.rational(((value.num % 4n) + 4n) % 4n)) };
      const size = mul([{ k: 'pow', base: neg(n.base), exp: walk(n.exp) }]);
      return value.num % 2n === 0n ? size : neg(size);
    }
    const first = n.k === 'call' ? n.args[0] : undefined;
    if (n.k !== 'call' || !first) return mapChildren(n, walk);
    if (n.name === 'floor') {
      const value = at(first);
      if (!value) return mapChildren(n, walk);
      // In t the rest is whole: what is cut off is the same for all of them.
      const down = exact(call('floor', num(value)), c) ?? value;
      const gap = [...one.values()].some(({ by }) => some(by, (m) => m.k === 'sym' && m.name.endsWith('\\t')));
      if (!gap) return add([walk(first), neg(num(Q.sub(value, down)))]);
      const line = add([first, neg(num(value))]);
      return add([growth(line, one), num(down)]);
    }
    const value = n.name === 'gcd' ? at(first) : at(overPi(first) ?? first);
    if (!value) return mapChildren(n, walk);
    if (n.name === 'gcd') return call('gcd', num(value), ...n.args.slice(1));
    return call(n.name, mul([num(value), { k: 'const', name: 'pi' }]));
  };
  return walk(node);
}

/** The growth of a line from t = 0: the place in its period stays where it is. */
function growth(line: Node, one: Case): Node {
  let bound = line;
  for (const [name, { by, spot }] of one) {
    const [t] = by.k === 'add' ? by.items : [];
    bound = replaceSymbol(bound, name, t ? add([t, num(spot)]) : num(spot));
  }
  return bound;
}
