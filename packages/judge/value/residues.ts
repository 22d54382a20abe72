// The symbolic layer: the normal form of an expression, taken modulo a prime at seeded points. Polynomials,
// fractions of them, i, π, e and square roots of rationals are mapped by a ring homomorphism into two fields
// (field.ts), so equal forms give equal residues, and different ones differ but with a
// chance below 2^-100. Unlike an expanded normal form its size never grows: (a+b+c)^400 costs as much as
// (a+b)^2. Everything else (sin, nested roots, unknown functions) is an opaque letter named by its arguments.

import type { Node } from '../base/ast.ts';
import type { Field, Residue } from './field.ts';
import { exact, type ExactContext, replaceSymbol, rootOf } from './exact.ts';
import { spend } from '../base/limits.ts';
import * as Q from '../base/rational.ts';

export interface ResidueContext extends ExactContext {
  readonly field: Field;
  /** Which point the letters stand at. */
  readonly seed: number;
  /** Set when something opaque was met: then unequal residues prove nothing. */
  opaque: boolean;
  readonly residues: Map<Node, Residue>;
}

/** Undefined: no residue (infinity, division by zero, not an expression). */
export function residue(node: Node, c: ResidueContext): Residue | undefined {
  const known = c.residues.get(node);
  if (known) return known;
  spend(c.budget, 1);
  const value = compute(node, c);
  if (value) c.residues.set(node, value);
  return value;
}

/** A residue drawn from a name: same name, same residue, in every process. */
export function drawn(name: string): bigint {
  let [a, b] = [0x811c9dc5, 0x01000193];
  for (let i = 0; i < name.length; i++) {
    a = Math.imul(a ^ name.charCodeAt(i), 0x01000193);
    b = Math.imul(b + name.charCodeAt(i), 0x85ebca6b) ^ (b >>> 13);
  }
  let value = 0n;
  for (let i = 0; i < 4; i++) {
    a = Math.imul(a ^ (a >>> 15), 0x2c1b3c6d) + i;
    b = Math.imul(b ^ (b >>> 12), 0x297a2d39) ^ a;
    value = (value << 32n) | BigInt((a ^ (b << 7) ^ (b >>> 9)) >>> 0);
  }
  return value;
}

const letter = (name: string, c: ResidueContext): Residue => ({ re: c.field.mod(drawn(`${c.seed}:${name}`)), im: 0n });

function opaque(name: string, args: readonly Node[], c: ResidueContext, anyOrder = false): Residue | undefined {
  c.opaque = true;
  const parts = args.map((arg) => residue(arg, c));
  if (parts.some((part) => part === undefined)) return undefined;
  const named = parts.map((p) => `${p?.re},${p?.im}`);
  return letter(`${name}(${(anyOrder ? named.toSorted() : named).join(';')})`, c);
}

function compute(node: Node, c: ResidueContext): Residue | undefined {
  switch (node.k) {
    case 'num':
      return c.field.from(node.value);
    case 'const':
      if (node.name === 'i') return { re: 0n, im: 1n };
      return node.name === 'inf' ? undefined : letter(`\\${node.name}`, c);
    case 'sym':
      return letter(node.name, c);
    case 'neg': {
      const value = residue(node.arg, c);
      return value && { re: c.field.mod(-value.re), im: c.field.mod(-value.im) };
    }
    case 'add':
    case 'mul': {
      let total: Residue = { re: node.k === 'add' ? 0n : 1n, im: 0n };
      for (const item of node.items) {
        const value = residue(item, c);
        if (!value) return undefined;
        total = node.k === 'add' ? c.field.plus(total, value) : c.field.times(total, value);
      }
      return total;
    }
    case 'div': {
      const top = residue(node.top, c);
      const bottom = top && residue(node.bottom, c);
      const inv = bottom && c.field.inverse(bottom);
      return top && inv && c.field.times(top, inv);
    }
    case 'percent': {
      const value = residue(node.arg, c);
      return value && c.field.times(value, c.field.from(Q.rational(1n, 100n)));
    }
    case 'pow':
      return power(node, c);
    case 'call':
      return callResidue(node, c);
    case 'apply':
      return opaque(`apply:${node.name}`, node.args, c);
    case 'base': {
      const value = residue({ k: 'num', value: Q.rational(BigInt(node.digits)), decimal: false }, c);
      return value && letter(`base:${node.base}:${value.re}`, c);
    }
    case 'big':
      return bigResidue(node, c);
    case 'text':
      return letter(`text:${node.text}`, c);
    default:
      return undefined;
  }
}

function power(node: Extract<Node, { k: 'pow' }>, c: ResidueContext): Residue | undefined {
  const exp = exact(node.exp, c);
  const base = residue(node.base, c);
  if (!base) return undefined;
  // A degree next to the prime's size would make unequal powers agree.
  if (exp && exp.den === 1n && exp.num < MAX_DEGREE && exp.num > -MAX_DEGREE) {
    spend(c.budget, 4 + exp.num.toString().length * 8);
    if (exp.num === 0n && base.re === 0n && base.im === 0n) return undefined;
    return c.field.raise(base, exp.num);
  }
  if (exp && exp.den <= 64n) {
    const root = rootResidue(node.base, Number(exp.den), c);
    return root && c.field.raise(root, exp.num);
  }
  return opaque('pow', [node.base, node.exp], c);
}

function callResidue(node: Extract<Node, { k: 'call' }>, c: ResidueContext): Residue | undefined {
  const value = exact(node, c);
  if (value) return c.field.from(value);
  const [first, second] = node.args;
  if (node.name === 'root' && first && second) {
    const degree = exact(second, c);
    if (degree?.den === 1n && degree.num > 1n && degree.num <= 64n) return rootResidue(first, Number(degree.num), c);
  }
  // |u| is |−u|: named by one of the two, always the same.
  const inside = node.name === 'abs' && first ? residue(first, c) : undefined;
  const turned = inside && { re: c.field.mod(-inside.re), im: c.field.mod(-inside.im) };
  if (inside && turned && (turned.re < inside.re || (turned.re === inside.re && turned.im < inside.im))) {
    c.opaque = true;
    return letter(`abs(${turned.re},${turned.im})`, c);
  }
  return opaque(node.name, node.args, c, SYMMETRIC.has(node.name));
}

/** The order of their arguments does not count. */
const SYMMETRIC = new Set(['gcd', 'lcm', 'max', 'min', 'dot']);

const MAX_DEGREE = 1n << 31n;
const SMALL_PRIMES = sieve(1000);

function sieve(max: number): bigint[] {
  const found: bigint[] = [];
  for (let n = 2; n < max; n++) if (found.every((p) => n % Number(p) !== 0)) found.push(BigInt(n));
  return found;
}

function rootResidue(arg: Node, degree: number, c: ResidueContext): Residue | undefined {
  const value = exact(arg, c);
  if (value && value.num >= 0n) {
    const whole = rootOf(value, degree);
    if (whole) return c.field.from(whole);
  }
  if (!value || degree !== 2) return opaque(`root${degree}`, [arg], c);
  // √(a/b) = √(ab)/b
  let rest = (value.num < 0n ? -value.num : value.num) * value.den;
  if (rest > 1n << 200n) return opaque('root2', [arg], c);
  let product: Residue = value.num < 0n ? { re: 0n, im: 1n } : { re: 1n, im: 0n };
  for (const prime of SMALL_PRIMES) {
    while (rest % (prime * prime) === 0n) {
      rest /= prime * prime;
      product = c.field.times(product, c.field.from(Q.rational(prime)));
    }
    if (rest % prime === 0n) {
      rest /= prime;
      product = c.field.times(product, c.field.rootOfPrime(prime));
    }
    if (rest < prime * prime) break;
  }
  if (rest > 1n) {
    if (rest < 1_000_000n) product = c.field.times(product, c.field.rootOfPrime(rest));
    else return opaque('root2', [arg], c);
  }
  return c.field.times(product, c.field.from(Q.rational(1n, value.den)));
}

function bigResidue(node: Extract<Node, { k: 'big' }>, c: ResidueContext): Residue | undefined {
  const bound = replaceBound(node);
  const args = [bound.from, bound.to, bound.body].filter((n) => n !== undefined);
  // Bounds at infinity have no residue; they are named instead.
  const named = args.map((arg): Node => (isInfinite(arg) ? { k: 'sym', name: arg.k === 'neg' ? '-inf' : 'inf' } : arg));
  return opaque(`${node.op}:${args.length}`, named, c);
}

const isInfinite = (n: Node): boolean => (n.k === 'neg' ? isInfinite(n.arg) : n.k === 'const' && n.name === 'inf');

function replaceBound(node: Extract<Node, { k: 'big' }>): Extract<Node, { k: 'big' }> {
  if (!node.variable) return node;
  return { ...node, body: replaceSymbol(node.body, node.variable, { k: 'sym', name: '\\bound' }) };
}
