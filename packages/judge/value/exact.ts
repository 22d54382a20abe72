// Exact values: evaluates an expression to a fraction of big integers, or says that it has none. Every
// operation is bounded before it is done, so no input makes it slow.

import { children, mapChildren, type Node } from '../base/ast.ts';
import { type Budget, LIMITS, spend, TooBig } from '../base/limits.ts';
import * as Q from '../base/rational.ts';
import type { Comparison } from './comparison.ts';

/** Undefined: the value is not rational, or not known. Throws TooBig beyond the limits. */
export function exact(node: Node, c: Comparison): Q.Rational | undefined {
  if (node.k === 'num') return node.value;
  const known = c.memo.get(node);
  if (known !== undefined) return known ?? undefined;
  spend(c.budget, 1);
  const value = compute(node, c);
  if (value) spend(c.budget, bound(value));
  c.memo.set(node, value ?? null);
  return value;
}

/** Refuses numbers beyond the limit of bits; returns a cost for the budget. */
function bound(value: Q.Rational): number {
  const size = bits(value.num) + bits(value.den);
  if (size > LIMITS.bits) throw new TooBig('a number has too many digits');
  return 3 * (size >> 9) ** 2;
}

export function bits(n: bigint): number {
  const positive = n < 0n ? -n : n;
  if (positive < 1n << 53n) return Math.ceil(Math.log2(Number(positive) + 1));
  return positive.toString(16).length * 4;
}

function compute(node: Node, c: Comparison): Q.Rational | undefined {
  switch (node.k) {
    case 'neg': {
      const value = exact(node.arg, c);
      return value && Q.neg(value);
    }
    case 'percent': {
      const value = exact(node.arg, c);
      return value && Q.div(value, Q.rational(100n));
    }
    case 'add':
    case 'mul': {
      let sum: Q.Rational | undefined = node.k === 'add' ? Q.ZERO : Q.ONE;
      for (const item of node.items) {
        const value = exact(item, c);
        if (!value) return undefined;
        sum = node.k === 'add' ? Q.add(sum, value) : Q.mul(sum, value);
        spend(c.budget, bound(sum));
      }
      return sum;
    }
    case 'div': {
      const top = exact(node.top, c);
      const bottom = top && exact(node.bottom, c);
      return top && bottom && !Q.isZero(bottom) ? Q.div(top, bottom) : undefined;
    }
    case 'pow': {
      const base = exact(node.base, c);
      const exp = base && exact(node.exp, c);
      return base && exp && power(base, exp);
    }
    case 'call':
      return callValue(node.name, node.args, c);
    case 'apply':
      return counted(node.name, node.args, c);
    default:
      return undefined;
  }
}

export function power(base: Q.Rational, exp: Q.Rational): Q.Rational | undefined {
  if (exp.den !== 1n) {
    if (exp.den > 64n || base.num < 0n) return undefined;
    const root = rootOf(base, Number(exp.den));
    return root && power(root, Q.rational(exp.num));
  }
  if (base.den === 1n && (base.num === 1n || (base.num === 0n && exp.num > 0n))) return base;
  if (base.den === 1n && base.num === -1n) return exp.num % 2n === 0n ? Q.ONE : base;
  if (base.num === 0n) return undefined;
  const times = exp.num < 0n ? -exp.num : exp.num;
  if (times > BigInt(LIMITS.bits)) throw new TooBig('a power is too big');
  if (Number(times) * Math.max(bits(base.num), bits(base.den)) > LIMITS.bits) throw new TooBig('a power is too big');
  const value = { num: base.num ** times, den: base.den ** times };
  return exp.num < 0n ? Q.inv(value) : value;
}

/** The exact root of a non-negative fraction, if it has one. */
export function rootOf(value: Q.Rational, degree: number): Q.Rational | undefined {
  const top = integerRoot(value.num, degree);
  const bottom = top === undefined ? undefined : integerRoot(value.den, degree);
  return top === undefined || bottom === undefined ? undefined : Q.rational(top, bottom);
}

function integerRoot(n: bigint, degree: number): bigint | undefined {
  if (n < 0n) return undefined;
  if (n < 2n) return n;
  const k = BigInt(degree);
  const size = bits(n);
  if (size > 4000) return undefined;
  let x = 1n << BigInt(Math.ceil(size / degree) + 1);
  for (let i = 0; i < 200; i++) {
    const next = ((k - 1n) * x + n / x ** (k - 1n)) / k;
    if (next >= x) break;
    x = next;
  }
  return x ** k === n ? x : undefined;
}

function callValue(name: string, args: readonly Node[], c: Comparison): Q.Rational | undefined {
  const [first, second] = args;
  const a = first && exact(first, c);
  if (!a) return undefined;
  if (name === 'abs') return Q.abs(a);
  if (name === 'floor') return Q.rational(floorDiv(a));
  if (name === 'ceil') return Q.neg(Q.rational(floorDiv(Q.neg(a))));
  if (name === 'factorial') return factorial(a, c.budget);
  if (name === 're') return a;
  if (name === 'im') return Q.ZERO;
  if (name === 'root' && second) {
    const degree = exact(second, c);
    if (!degree || degree.den !== 1n || degree.num < 1n || degree.num > 64n) return undefined;
    if (a.num < 0n) {
      if (degree.num % 2n === 0n) return undefined;
      const root = rootOf(Q.neg(a), Number(degree.num));
      return root && Q.neg(root);
    }
    return rootOf(a, Number(degree.num));
  }
  const values = args.map((arg) => exact(arg, c));
  if (values.some((v) => v === undefined)) return undefined;
  const all = values as Q.Rational[];
  if (name === 'max') return all.reduce((x, y) => (Q.compare(x, y) >= 0 ? x : y));
  if (name === 'min') return all.reduce((x, y) => (Q.compare(x, y) <= 0 ? x : y));
  const b = all[1];
  if (!b || a.den !== 1n || b.den !== 1n) return undefined;
  if (name === 'gcd') return Q.rational(all.reduce((g, v) => Q.gcd(g, v.num), 0n));
  if (name === 'lcm' && a.num !== 0n && b.num !== 0n)
    return Q.rational(Q.abs(Q.rational((a.num * b.num) / Q.gcd(a.num, b.num))).num);
  if (name === 'mod' && b.num > 0n) return Q.rational(((a.num % b.num) + b.num) % b.num);
  if (name === 'binom') return binomial(a.num, b.num);
  if (name === 'logbase') return logarithm(a.num, b.num);
  return undefined;
}

const floorDiv = (a: Q.Rational): bigint => {
  const q = a.num / a.den;
  return a.num < 0n && q * a.den !== a.num ? q - 1n : q;
};

function factorial(a: Q.Rational, budget: Budget): Q.Rational | undefined {
  if (a.den !== 1n || a.num < 0n) return undefined;
  if (a.num > BigInt(LIMITS.factorial)) throw new TooBig('a factorial is too big');
  spend(budget, Number(a.num));
  return Q.rational(productDown(a.num, a.num));
}

/** n(n − 1)(n − 2)… of so many factors; halved, because numbers of one size multiply fastest. */
function productDown(n: bigint, count: bigint): bigint {
  if (count === 0n) return 1n;
  if (count === 1n) return n;
  const half = count / 2n;
  return productDown(n, half) * productDown(n - half, count - half);
}

function binomial(n: bigint, k: bigint): Q.Rational | undefined {
  if (n < 0n) return undefined;
  if (k < 0n || k > n) return Q.ZERO;
  const small = k < n - k ? k : n - k;
  if (small > BigInt(LIMITS.factorial) || Number(small) * bits(n) > LIMITS.bits)
    throw new TooBig('a binomial is too big');
  let value = 1n;
  for (let i = 1n; i <= small; i++) value = (value * (n - small + i)) / i;
  return Q.rational(value);
}

/** The schools' C(10, 3) and P(10, 3). */
function counted(name: string, args: readonly Node[], c: Comparison): Q.Rational | undefined {
  const [n, k] = name === 'C' || name === 'P' ? args.map((arg) => exact(arg, c)) : [];
  if (args.length !== 2 || !n || !k || n.den !== 1n || k.den !== 1n || k.num < 0n || k.num > n.num) return undefined;
  const ways = binomial(n.num, k.num);
  const orders = name === 'P' ? factorial(k, c.budget) : Q.ONE;
  return ways && orders && Q.mul(ways, orders);
}

/** log of an exact power of the base. */
function logarithm(value: bigint, base: bigint): Q.Rational | undefined {
  if (base < 2n || value < 1n || bits(value) > 4000) return undefined;
  let n = 0n;
  let rest = value;
  while (rest % base === 0n) {
    rest /= base;
    n++;
  }
  return rest === 1n ? Q.rational(n) : undefined;
}

/** The terms of a finite sum or product with whole bounds, written out. */
export function expand(node: Extract<Node, { k: 'big' }>, c: Comparison): Node[] | undefined {
  if ((node.op !== 'sum' && node.op !== 'prod') || !node.variable || !node.from || !node.to) return undefined;
  const from = exact(node.from, c);
  const to = exact(node.to, c);
  if (!from || !to || from.den !== 1n || to.den !== 1n) return undefined;
  const count = to.num - from.num + 1n;
  if (count > BigInt(LIMITS.terms)) return undefined;
  const size = weigh(node.body);
  spend(c.budget, Number(count > 0n ? count : 0n) * size);
  const terms: Node[] = [];
  for (let n = from.num; n <= to.num; n++) terms.push(substitute(node.body, node.variable, n));
  return terms;
}

const weigh = (node: Node): number => children(node).reduce((sum, child) => sum + weigh(child), 1);

function substitute(node: Node, variable: string, value: bigint): Node {
  return replaceSymbol(node, variable, { k: 'num', value: { num: value, den: 1n }, decimal: false });
}

export function replaceSymbol(node: Node, name: string, by: Node): Node {
  if ((node.k === 'sym' || node.k === 'const') && node.name === name) return by;
  if (node.k === 'big' && node.variable === name) return node;
  if (node.k === 'apply' && node.name === name)
    return { k: 'mul', items: [by, ...node.args.map((a) => replaceSymbol(a, name, by))] };
  return mapChildren(node, (child) => replaceSymbol(child, name, by));
}
