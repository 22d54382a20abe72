// The symbolic layer: the normal form of an expression, taken modulo a prime at seeded points. Polynomials,
// fractions of them, i, π, e and square roots of rationals are mapped by a ring homomorphism into the field
// of p² elements, p = 2^127 − 1, so equal forms give equal residues, and different ones differ but with a
// chance below 2^-100. Unlike an expanded normal form its size never grows: (a+b+c)^400 costs as much as
// (a+b)^2. Everything else (sin, nested roots, unknown functions) is an opaque letter named by its arguments.

import type { Node } from '../ast.ts';
import { exact, type ExactContext, expand, replaceSymbol, rootOf } from './exact.ts';
import { spend } from '../limits.ts';
import * as Q from '../rational.ts';

const P = (1n << 127n) - 1n;

export interface Residue {
  readonly re: bigint;
  readonly im: bigint;
}

export interface ResidueContext extends ExactContext {
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

const mod = (n: bigint): bigint => {
  const r = n % P;
  return r < 0n ? r + P : r;
};
const real = (n: bigint): Residue => ({ re: mod(n), im: 0n });
const plus = (a: Residue, b: Residue): Residue => ({ re: mod(a.re + b.re), im: mod(a.im + b.im) });
function times(a: Residue, b: Residue): Residue {
  if (a.im === 0n && b.im === 0n) return { re: mod(a.re * b.re), im: 0n };
  return { re: mod(a.re * b.re - a.im * b.im), im: mod(a.re * b.im + a.im * b.re) };
}

function powMod(base: bigint, exp: bigint): bigint {
  let result = 1n;
  let b = mod(base);
  for (let e = exp; e > 0n; e >>= 1n) {
    if (e & 1n) result = (result * b) % P;
    b = (b * b) % P;
  }
  return result;
}

/** Of the numbers that occur all the time. */
const smallInverses = new Map<bigint, bigint>([[1n, 1n]]);

function inverseMod(n: bigint): bigint {
  const known = smallInverses.get(n);
  if (known !== undefined) return known;
  let a = mod(n);
  let b = P;
  let x = 1n;
  let y = 0n;
  while (b !== 0n) {
    const q = a / b;
    const rest = a - q * b;
    a = b;
    b = rest;
    const next = x - q * y;
    x = y;
    y = next;
  }
  const found = mod(x);
  if (n < 1000n && n > 0n) smallInverses.set(n, found);
  return found;
}

function inverse(a: Residue): Residue | undefined {
  if (a.im === 0n) return a.re === 0n ? undefined : { re: inverseMod(a.re), im: 0n };
  const norm = mod(a.re * a.re + a.im * a.im);
  const inv = inverseMod(norm);
  return { re: mod(a.re * inv), im: mod(-a.im * inv) };
}

function raise(base: Residue, exp: bigint): Residue | undefined {
  if (exp < 0n) {
    const inv = inverse(base);
    return inv && raise(inv, -exp);
  }
  if (base.im === 0n) return { re: powMod(base.re, exp), im: 0n };
  let result: Residue = { re: 1n, im: 0n };
  let b = base;
  for (let e = exp; e > 0n; e >>= 1n) {
    if (e & 1n) result = times(result, b);
    b = times(b, b);
  }
  return result;
}

const fromRational = (q: Q.Rational): Residue => real(q.den === 1n ? q.num : mod(q.num) * inverseMod(q.den));

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
  return value % P;
}

const letter = (name: string, c: ResidueContext): Residue => ({ re: drawn(`${c.seed}:${name}`), im: 0n });

function opaque(name: string, args: readonly Node[], c: ResidueContext): Residue | undefined {
  c.opaque = true;
  const parts = args.map((arg) => residue(arg, c));
  if (parts.some((part) => part === undefined)) return undefined;
  return letter(`${name}(${parts.map((p) => `${p?.re},${p?.im}`).join(';')})`, c);
}

function compute(node: Node, c: ResidueContext): Residue | undefined {
  switch (node.k) {
    case 'num':
      return fromRational(node.value);
    case 'const':
      if (node.name === 'i') return { re: 0n, im: 1n };
      return node.name === 'inf' ? undefined : letter(`\\${node.name}`, c);
    case 'sym':
      return letter(node.name, c);
    case 'neg': {
      const value = residue(node.arg, c);
      return value && { re: mod(-value.re), im: mod(-value.im) };
    }
    case 'add':
    case 'mul': {
      let total: Residue = { re: node.k === 'add' ? 0n : 1n, im: 0n };
      for (const item of node.items) {
        const value = residue(item, c);
        if (!value) return undefined;
        total = node.k === 'add' ? plus(total, value) : times(total, value);
      }
      return total;
    }
    case 'div': {
      const top = residue(node.top, c);
      const bottom = top && residue(node.bottom, c);
      const inv = bottom && inverse(bottom);
      return top && inv && times(top, inv);
    }
    case 'percent': {
      const value = residue(node.arg, c);
      return value && times(value, real(inverseMod(100n)));
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
  if (exp && exp.den === 1n) {
    spend(c.budget, 4 + exp.num.toString().length * 8);
    if (exp.num === 0n && base.re === 0n && base.im === 0n) return undefined;
    return raise(base, exp.num);
  }
  if (exp && exp.den <= 64n) {
    const root = rootResidue(node.base, Number(exp.den), c);
    return root && raise(root, exp.num);
  }
  return opaque('pow', [node.base, node.exp], c);
}

function callResidue(node: Extract<Node, { k: 'call' }>, c: ResidueContext): Residue | undefined {
  const value = exact(node, c);
  if (value) return fromRational(value);
  const [first, second] = node.args;
  if (node.name === 'root' && first && second) {
    const degree = exact(second, c);
    if (degree?.den === 1n && degree.num > 1n && degree.num <= 64n) return rootResidue(first, Number(degree.num), c);
  }
  return opaque(node.name, node.args, c);
}

const primeRoots = new Map<bigint, Residue>();
const SMALL_PRIMES = sieve(1000);

function sieve(max: number): bigint[] {
  const found: bigint[] = [];
  for (let n = 2; n < max; n++) if (found.every((p) => n % Number(p) !== 0)) found.push(BigInt(n));
  return found;
}

/** √prime in the field: one of its two roots, always the same, so products of roots stay consistent. */
function primeRoot(prime: bigint): Residue {
  let root = primeRoots.get(prime);
  if (!root) {
    const candidate = powMod(prime, (P + 1n) / 4n);
    root =
      mod(candidate * candidate) === mod(prime)
        ? { re: candidate, im: 0n }
        : { re: 0n, im: powMod(P - mod(prime), (P + 1n) / 4n) };
    if (primeRoots.size < 10_000) primeRoots.set(prime, root);
  }
  return root;
}

function rootResidue(arg: Node, degree: number, c: ResidueContext): Residue | undefined {
  const value = exact(arg, c);
  if (value && value.num >= 0n) {
    const whole = rootOf(value, degree);
    if (whole) return fromRational(whole);
  }
  if (!value || degree !== 2) return opaque(`root${degree}`, [arg], c);
  // √(a/b) = √(ab)/b
  let rest = (value.num < 0n ? -value.num : value.num) * value.den;
  if (rest > 1n << 200n) return opaque('root2', [arg], c);
  let product: Residue = value.num < 0n ? { re: 0n, im: 1n } : { re: 1n, im: 0n };
  for (const prime of SMALL_PRIMES) {
    while (rest % (prime * prime) === 0n) {
      rest /= prime * prime;
      product = times(product, real(prime));
    }
    if (rest % prime === 0n) {
      rest /= prime;
      product = times(product, primeRoot(prime));
    }
    if (rest < prime * prime) break;
  }
  if (rest > 1n) {
    const square = rootOf({ num: rest, den: 1n }, 2);
    if (square) product = times(product, real(square.num));
    else if (rest < 1_000_000n) product = times(product, primeRoot(rest));
    else return opaque('root2', [arg], c);
  }
  return times(product, real(inverseMod(value.den)));
}

function bigResidue(node: Extract<Node, { k: 'big' }>, c: ResidueContext): Residue | undefined {
  const terms = expand(node, c);
  if (terms) {
    let total: Residue = { re: node.op === 'sum' ? 0n : 1n, im: 0n };
    for (const term of terms) {
      const value = residue(term, c);
      if (!value) return undefined;
      total = node.op === 'sum' ? plus(total, value) : times(total, value);
    }
    return total;
  }
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
