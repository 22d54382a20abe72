// Finds the places at which an expression changes its formula: the zeros of the arguments of absolute values, of maxima
// and of even roots. Between them both sides are analytic, so agreement in each such cell shows equality; sample
// points are laid in every cell. Says when it cannot know all cells. Its work is counted in steps.

import { add, children, mapChildren, neg, type Node, some } from '../base/ast.ts';
import { type Comparison, letters } from './comparison.ts';
import { precise } from './numeric.ts';
import { exact, replaceSymbol } from './exact.ts';
import { fractionIn, type Polynomial, realRoots } from './polynomial.ts';
import { spend } from '../base/limits.ts';
import * as Q from '../base/rational.ts';
import { residue } from './residues.ts';

export type Point = Map<string, Q.Rational>;

/** The expressions whose sign picks the formula. */
export function guardsOf(nodes: readonly Node[], c: Comparison): Node[] {
  const found: Node[] = [];
  const positives = new Set<string>();
  const visit = (node: Node): void => {
    for (const child of children(node)) visit(child);
    const [first, second] = node.k === 'call' ? node.args : [];
    if (node.k === 'call' && first) {
      // The size of a complex number has no sign to turn.
      if (node.name === 'abs' && !some(first, isImaginary)) found.push(first);
      if ((node.name === 'max' || node.name === 'min') && node.args.length <= 4)
        node.args.forEach((x, i) => node.args.slice(i + 1).forEach((y) => found.push(add([x, neg(y)]))));
      if (node.name === 'root' && second) {
        const even = exact(second, c)?.num;
        const name = loneLetter(first, c);
        if (name !== undefined && even !== undefined && even % 2n === 0n) positives.add(name);
        else if (!some(first, isImaginary)) found.push(first);
      }
      if (/^(ln|log|logbase)$/.test(node.name) && first.k === 'sym') positives.add(first.name);
    }
    if (node.k === 'pow') {
      const exponent = exact(node.exp, c);
      if (exponent && exponent.den !== 1n) {
        if (node.base.k === 'sym') positives.add(node.base.name);
        else found.push(node.base);
      }
    }
  };
  nodes.forEach(visit);
  const guards = found
    .map((node) => withoutPower(node, c))
    .filter((node) => letters(node).size > 0 && !isPositive(node, positives, c));
  // Both sides often have the same ones, in other forms.
  return [...new Map(guards.map((node) => [formOf(node, c), node])).values()];
}

function formOf(node: Node, c: Comparison): string | Node {
  const form = residue(node, c);
  return form ? `${form.re},${form.im}` : node;
}

/** The h of h and of 2h: it has their sign. */
function loneLetter(node: Node, c: Comparison): string | undefined {
  const items = node.k === 'mul' ? node.items : [node];
  const [name, ...more] = items.filter((item) => (exact(item, c)?.num ?? 0n) <= 0n);
  return name?.k === 'sym' && more.length === 0 ? name.name : undefined;
}

const isImaginary = (n: Node): boolean => n.k === 'const' && n.name === 'i';

/** The cube root, the square and the size of u are zero where u is. */
function withoutPower(node: Node, c: Comparison): Node {
  if (node.k === 'pow' && (exact(node.exp, c)?.num ?? 0n) > 0n) return withoutPower(node.base, c);
  const [arg, degree] = node.k === 'call' && /^(?:root|abs)$/.test(node.name) ? node.args : [];
  return arg && (!degree || (degree.k === 'num' && degree.value.num % 2n === 1n)) ? withoutPower(arg, c) : node;
}

/** Greater than zero wherever it has a value, as far as its form shows, but for single points. */
function isPositive(node: Node, names: ReadonlySet<string>, c: Comparison): boolean {
  const again = (n: Node): boolean => isPositive(n, names, c);
  const value = exact(node, c);
  if (value) return value.num > 0n;
  switch (node.k) {
    case 'const':
      return node.name === 'pi' || node.name === 'e';
    case 'sym':
      return names.has(node.name);
    case 'add':
    case 'mul':
      return node.items.every(again);
    case 'div':
      return again(node.top) && again(node.bottom);
    case 'pow':
      return again(node.base);
    case 'call':
      return (
        node.name === 'cosh' ||
        ((node.name === 'root' || node.name === 'factorial') && node.args[0] !== undefined && again(node.args[0]))
      );
    default:
      return false;
  }
}

const MAX_POINTS = 160;
const MAX_GUARDS = 12;
/** Its cost, next to the value of a node. */
const STEPS_A_GUARD = 15;

/** Another plain value of the letters that come later, next to zero and to the values of their own cells. */
const PLAIN = Q.rational(-617n, 391n);

/** One point or more in every cell; `closed`: no cell can have been missed. */
export function cellPoints(
  guards: readonly Node[],
  c: Comparison,
): { readonly points: Point[]; readonly closed: boolean } {
  let closed = guards.length <= MAX_GUARDS;
  const few = guards.slice(0, MAX_GUARDS);
  const zeros = (guard: Node, name: string): readonly Q.Rational[] => {
    spend(c.budget, STEPS_A_GUARD);
    const fraction = fractionIn(rationalised(guard, c), name, c);
    if (!fraction) closed = false;
    return (fraction ? [fraction.top, fraction.bottom] : []).flatMap((polynomial) => {
      const found = polynomial.length > 1 ? zerosOf(polynomial, c) : [];
      if (!found) closed = false;
      return found ?? [];
    });
  };
  // The cells of a letter alone do not hang on the others, so such letters come first.
  const own = new Map<string, readonly Q.Rational[]>();
  for (const guard of few) {
    const [name, ...more] = letters(guard);
    if (name !== undefined && more.length === 0) own.set(name, [...(own.get(name) ?? []), ...zeros(guard, name)]);
  }
  const names = [...new Set([...own.keys(), ...guards.flatMap((guard) => [...letters(guard)])])];
  const walk = (rest: readonly string[], known: Point): Point[] => {
    const [name, ...later] = rest;
    if (name === undefined) return [known];
    const breaks = [...(own.get(name) ?? [])];
    const bases = [Q.ZERO, ...later.flatMap((letter) => [PLAIN, ...between(own.get(letter) ?? [])])];
    for (const guard of few.filter((one) => letters(one).size > 1 && letters(one).has(name)))
      for (const base of distinct(bases)) {
        let bound = guard;
        for (const [letter, value] of known) bound = put(bound, letter, value);
        later.forEach((letter, k) => (bound = put(bound, letter, Q.add(base, Q.rational(BigInt(k), 7n)))));
        breaks.push(...zeros(bound, name));
      }
    return distinct(between(breaks)).flatMap((value) => walk(later, new Map([...known, [name, value]])));
  };
  // With many letters the tree of cells is cut; then the cells may not be complete.
  if (names.length > 4) closed = false;
  const walked = names.slice(0, 4);
  const all = walk(walked, new Map());
  // The cells of the first letter are seen from few values of the second one.
  if (walked.length === 2) all.push(...walk(walked.toReversed(), new Map()));
  if (all.length > MAX_POINTS * 4) closed = false;
  const step = Math.max(1, all.length / MAX_POINTS);
  const points = Array.from(
    { length: Math.min(all.length, MAX_POINTS) },
    (_, k) => all[Math.floor(k * step)] ?? new Map(),
  );
  return { points, closed };
}

/** The real zeros, next to them where they are no fractions. */
function zerosOf(polynomial: Polynomial, c: Comparison): Q.Rational[] | undefined {
  const zeros = realRoots(polynomial, c)?.map((node) => exact(rationalised(node, c), c));
  return zeros?.every((zero) => zero !== undefined) ? zeros : undefined;
}

/** Constants that are no fractions by one next to them: break points need not be exact. */
function rationalised(node: Node, c: Comparison): Node {
  if (exact(node, c) || letters(node).size > 0)
    return node.k === 'num' ? node : mapChildren(node, (n) => rationalised(n, c));
  const value = precise(node, c);
  return value ? { k: 'num', value, decimal: false } : node;
}

const put = (node: Node, letter: string, value: Q.Rational): Node =>
  replaceSymbol(node, letter, { k: 'num', value, decimal: false });

function distinct(list: readonly Q.Rational[]): Q.Rational[] {
  const sorted = list.toSorted(Q.compare);
  return sorted.filter((q, k) => k === 0 || !Q.equal(q, sorted[k - 1] ?? Q.ZERO));
}

/** A value below, between and above the break points, and these themselves. */
function between(breaks: readonly Q.Rational[]): Q.Rational[] {
  const sorted = distinct(breaks);
  const [first, last] = [sorted[0] ?? Q.ZERO, sorted.at(-1) ?? Q.ZERO];
  const step = (q: Q.Rational): Q.Rational => Q.add(Q.rational(713n, 1000n), Q.mul(Q.abs(q), Q.rational(61n, 100n)));
  const inner = sorted
    .slice(1)
    .map((q, k) => Q.add(sorted[k] ?? q, Q.mul(Q.sub(q, sorted[k] ?? q), Q.rational(419n, 1000n))));
  return [Q.sub(first, step(first)), ...inner, Q.add(last, step(last)), ...sorted];
}
