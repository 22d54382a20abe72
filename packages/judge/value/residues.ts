// The symbolic layer: the normal form of an expression, taken modulo a prime at seeded points. Polynomials,
// fractions of them, i, π and e are mapped by a ring homomorphism into a field
// (field.ts), so equal forms give equal residues, and different ones differ but with a
// chance below 2^-100. Unlike an expanded normal form its size never grows: (a+b+c)^400 costs as much as
// (a+b)^2. Everything else (roots, sin, unknown functions) is an opaque letter named by its arguments.

import type { Node } from '../base/ast.ts';
import { inverse, negative, plus, raise, type Residue, residueOf, residueOfRational, times } from './field.ts';
import type { Comparison } from './comparison.ts';
import { exact, replaceSymbol, rootOf } from './exact.ts';
import { spend } from '../base/limits.ts';
import * as Q from '../base/rational.ts';

/** Undefined: no residue (infinity, division by zero, not an expression). */
export function residue(node: Node, c: Comparison): Residue | undefined {
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

const letter = (name: string, c: Comparison): Residue => residueOf(drawn(`${c.seed}:${name}`));

function opaque(name: string, args: readonly Node[], c: Comparison, anyOrder = false): Residue | undefined {
  const parts = args.map((arg) => residue(arg, c));
  if (parts.some((part) => part === undefined)) return undefined;
  const named = parts.map((p) => `${p?.re},${p?.im}`);
  return letter(`${name}(${(anyOrder ? named.toSorted() : named).join(';')})`, c);
}

function compute(node: Node, c: Comparison): Residue | undefined {
  switch (node.k) {
    case 'num':
      return residueOfRational(node.value);
    case 'const':
      if (node.name === 'i') return { re: 0n, im: 1n };
      return node.name === 'inf' ? undefined : letter(`\\${node.name}`, c);
    case 'sym':
      return letter(node.name, c);
    case 'neg': {
      const value = residue(node.arg, c);
      return value && negative(value);
    }
    case 'add':
    case 'mul': {
      let total = residueOf(node.k === 'add' ? 0n : 1n);
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
      return value && times(value, residueOfRational(Q.rational(1n, 100n)));
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

function power(node: Extract<Node, { k: 'pow' }>, c: Comparison): Residue | undefined {
  const exp = exact(node.exp, c);
  const base = residue(node.base, c);
  if (!base) return undefined;
  // A degree next to the prime's size would make unequal powers agree.
  if (exp && exp.den === 1n && exp.num < MAX_DEGREE && exp.num > -MAX_DEGREE) {
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

function callResidue(node: Extract<Node, { k: 'call' }>, c: Comparison): Residue | undefined {
  const value = exact(node, c);
  if (value) return residueOfRational(value);
  const [first, second] = node.args;
  if (node.name === 'root' && first && second) {
    const degree = exact(second, c);
    if (degree?.den === 1n && degree.num > 1n && degree.num <= 64n) return rootResidue(first, Number(degree.num), c);
  }
  // |u| is |−u|: named by one of the two, always the same.
  const inside = node.name === 'abs' && first ? residue(first, c) : undefined;
  const turned = inside && negative(inside);
  if (inside && turned && (turned.re < inside.re || (turned.re === inside.re && turned.im < inside.im))) {
    return letter(`abs(${turned.re},${turned.im})`, c);
  }
  return opaque(node.name, node.args, c, SYMMETRIC.has(node.name));
}

/** The order of their arguments does not count. */
const SYMMETRIC = new Set(['gcd', 'lcm', 'max', 'min', 'dot']);

const MAX_DEGREE = 1n << 31n;
function rootResidue(arg: Node, degree: number, c: Comparison): Residue | undefined {
  const value = exact(arg, c);
  const whole = value && value.num >= 0n ? rootOf(value, degree) : undefined;
  return whole ? residueOfRational(whole) : opaque(`root${degree}`, [arg], c);
}

function bigResidue(node: Extract<Node, { k: 'big' }>, c: Comparison): Residue | undefined {
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
