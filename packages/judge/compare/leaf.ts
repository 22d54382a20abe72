// Compares two single values: units and currency, degrees, percentages, rounding. The worth of a
// value itself is settled by equal.ts.

import { mapChildren, mul, type Node, num, some } from '../base/ast.ts';
import type { Comparison } from '../value/comparison.ts';
import { precise } from '../value/numeric.ts';
import { equalExpressions } from '../value/equal.ts';
import { exact } from '../value/exact.ts';
import * as Q from '../base/rational.ts';
import { askedUnit, isOtherKind } from '../read/asked.ts';
import { isHarmlessPhrase, sameLabels, unitOf } from '../read/unit-words.ts';
import type { Sameness } from './sameness.ts';
import { asProduct } from './shape.ts';

export interface LeafOptions {
  /** Decimal places at which a decimal stands for an exact value. */
  readonly decimals: number;
  /** The user named the places: then two decimals are rounded as well. */
  readonly decimalsGiven: boolean;
  /** Letters may be renamed. */
  readonly rename: boolean;
  /** The text of the question, or nothing. */
  readonly question: string;
  /** The choices that the question lists, or none. */
  readonly choices: readonly string[];
}

interface Peeled {
  readonly node: Node;
  readonly unit: string | undefined;
  readonly strong: boolean;
  readonly degrees: boolean;
  readonly radians: boolean;
}

const PLAIN = { unit: undefined, strong: false, degrees: false, radians: false } as const;

function peel(node: Node): Peeled {
  if (node.k === 'unit') {
    const inner = peel(node.arg);
    // An angle's unit is no length: it changes what the number means only between degrees and radians.
    if (/^deg(?:rees?)?\.?$/i.test(node.unit)) return { ...inner, degrees: true };
    if (/^rad(?:ians?)?\.?$/i.test(node.unit)) return { ...inner, radians: true };
    return { ...inner, unit: inner.unit ? `${inner.unit} ${node.unit}` : node.unit, strong: node.strong };
  }
  if (node.k === 'neg') {
    const inner = peel(node.arg);
    return { ...inner, node: { k: 'neg', arg: inner.node } };
  }
  if (node.k === 'deg') return { ...PLAIN, node: node.arg, degrees: true };
  return { ...PLAIN, node };
}

export function compareLeaves(gold: Node, answer: Node, c: Comparison, options: LeafOptions): Sameness {
  const g = peel(gold);
  const a = peel(answer);
  if (g.unit !== undefined && a.unit !== undefined) {
    const [x, y] = [unitOf(g.unit), unitOf(a.unit)];
    if (!sameLabels(g.unit, x === y ? g.unit : a.unit, options.question)) return 'different';
    if (x.dimension !== '' && y.dimension !== '' && !Q.equal(x.factor, y.factor))
      return compareValues(scaled(g.node, x.factor), scaled(a.node, y.factor), c, options);
  } else if (g.unit !== undefined && !g.strong) {
    // A plain letter behind the solution's number is a factor: only a unit that is sure may be left out.
    const product = asProduct(g.node, g.unit);
    if (product) return compareValues(product, a.node, c, options);
  } else if (a.unit !== undefined && !a.strong) {
    const product = asProduct(a.node, a.unit);
    if (product && letterIn(g.node)) return compareValues(g.node, product, c, options);
  }
  if (a.unit !== undefined && g.unit === undefined) {
    const [own, wanted] = [unitOf(a.unit), askedUnit(options.question)];
    if (!isHarmlessPhrase(a.unit, options.question) || isOtherKind(own, wanted)) return 'different';
    // The solution's number is in the unit that the question asks for.
    if (wanted?.dimension === own.dimension && !Q.equal(wanted.factor, own.factor))
      return compareValues(scaled(g.node, wanted.factor), scaled(a.node, own.factor), c, options);
  }
  if (g.radians !== a.radians && !g.degrees && !a.degrees && !mayBeRadians(g, a, options.question)) return 'different';
  if (a.degrees && !g.degrees && IN_RADIANS.test(options.question) && !hasPi(g.node)) return 'different';
  if (g.degrees !== a.degrees && g.unit === undefined && a.unit === undefined) {
    const [degrees, other] = g.degrees ? [g.node, a.node] : [a.node, g.node];
    const radians = g.radians || a.radians;
    const plain =
      radians || hasPi(degrees) ? 'different' : compareValues(stripDegrees(g.node), stripDegrees(a.node), c, options);
    if (plain !== 'different' && plain !== 'unknown') return plain;
    // 180° is π.
    if (!radians && !hasPi(other) && !isArc(other)) return plain;
    return compareValues(mul([degrees, { k: 'const', name: 'pi' }]), mul([other, num(Q.rational(180n))]), c, options);
  }
  return compareValues(stripDegrees(g.node), stripDegrees(a.node), c, options);
}

const hasPi = (node: Node): boolean => some(node, (n) => n.k === 'const' && n.name === 'pi');
/** `\\arctan 1` is an angle. */
const isArc = (node: Node): boolean => node.k === 'call' && /^arc(?:sin|cos|tan|cot|sec|csc)$/.test(node.name);
const IN_RADIANS = /\bin radians\b/i;

/** A number without π is taken for radians only where the question speaks of them. */
const mayBeRadians = (g: Peeled, a: Peeled, question: string): boolean =>
  /\bradians?\b/i.test(question) || (hasPi(g.node) && hasPi(a.node));

const scaled = (node: Node, factor: Q.Rational): Node => mul([node, num(factor)]);
const letterIn = (node: Node): boolean => some(node, (n) => n.k === 'sym');

/** Nodes as they were stripped once: an item of a list is compared with every other. */
const stripped = new WeakMap<Node, Node>();
const hasUnit = (node: Node): boolean => some(node, ({ k }) => k === 'deg' || k === 'unit');

function stripDegrees(node: Node): Node {
  if (!hasUnit(node)) return node;
  let known = stripped.get(node);
  if (!known) stripped.set(node, (known = withoutDegrees(node)));
  return known;
}

const withoutDegrees = (node: Node): Node =>
  node.k === 'deg' || node.k === 'unit' ? stripDegrees(node.arg) : mapChildren(node, stripDegrees);

function compareValues(gold: Node, answer: Node, c: Comparison, options: LeafOptions): Sameness {
  const infinite = [infinity(gold), infinity(answer)];
  if (infinite[0] !== 0 || infinite[1] !== 0) return infinite[0] === infinite[1] ? 'exact' : 'different';
  if (gold.k === 'base' && answer.k === 'base')
    return gold.base === answer.base && gold.digits === answer.digits ? 'exact' : 'different';
  const based = (node: Node): boolean => some(node, (n) => n.k === 'base');
  if (based(gold) !== based(answer)) return 'different';
  const word = equalExpressions(gold, answer, c);
  if (word !== 'different' && word !== 'unknown') return word;
  return rounded(gold, answer, c, options) ? 'rounded' : word;
}

export function infinity(node: Node): number {
  if (node.k === 'neg') return -infinity(node.arg);
  return node.k === 'const' && node.name === 'inf' ? 1 : 0;
}

const MIN_PLACES = 4;

/** Two decimals compare exactly; a decimal may stand for an exact value that it rounds. */
function rounded(gold: Node, answer: Node, c: Comparison, options: LeafOptions): boolean {
  const g = literal(gold);
  const a = literal(answer);
  if (!g?.decimal && !a?.decimal) return false;
  if (g?.decimal && a?.decimal) {
    if (!options.decimalsGiven) return false;
    return Q.equal(round(g.value, options.decimals), round(a.value, options.decimals));
  }
  const [decimal, other] = g?.decimal ? [g.value, answer] : [a!.value, gold];
  const places = placesOf(decimal);
  // 940.5 is no rounding of 940.500000001: a rounded value almost never ends so early.
  if (!options.decimalsGiven && places < MIN_PLACES) return false;
  const exactValue = exact(other, c);
  if (exactValue) {
    // A value that can be written in so many places has to be.
    if (!options.decimalsGiven && placesOf(exactValue) <= options.decimals) return false;
    const alike = Q.equal(round(decimal, options.decimals), round(exactValue, options.decimals));
    return alike && (options.decimalsGiven || near(Q.sub(decimal, exactValue), exactValue, places));
  }
  const target = precise(other, c);
  if (!target || Q.compare(Q.abs(target), Q.rational(10n ** 12n)) > 0) return false;
  const half = Q.rational(500_001n, 1_000_000n * 10n ** BigInt(options.decimals));
  const off = Q.abs(Q.sub(round(decimal, options.decimals), target));
  // The target is a double, and knows no more places.
  const known = Math.min(places, 13);
  return Q.compare(off, half) <= 0 && (options.decimalsGiven || near(Q.sub(decimal, target), target, known));
}

/** Decimal places that a fraction needs; more than a thousand count as endless. */
function placesOf(value: Q.Rational): number {
  let places = 0;
  let rest = value.den;
  for (; rest % 10n === 0n && places < 1000; places++) rest /= 10n;
  for (; rest % 2n === 0n && places < 1000; places++) rest /= 2n;
  for (; rest % 5n === 0n && places < 1000; places++) rest /= 5n;
  return rest === 1n ? places : Infinity;
}

/**
 * Within one part in ten thousand, which keeps small numbers apart that share their first decimals with zero;
 * and rounded to its last place, but for what a double loses.
 */
function near(off: Q.Rational, of: Q.Rational, places: number): boolean {
  const size = Q.abs(of);
  const distance = Q.abs(off);
  if (Q.compare(Q.mul(distance, Q.rational(10_000n)), size) > 0) return false;
  const half = Q.rational(1n, 2n * 10n ** BigInt(Math.min(places, 300)));
  if (Q.compare(distance, half) <= 0) return true;
  // The last digits of a double, which writes no more than 17.
  const whole = (size.num / size.den).toString().replace(/^0$/, '').length;
  return places + whole >= 13 && places + whole <= 17 && Q.compare(distance, Q.div(size, Q.rational(10n ** 14n))) <= 0;
}

function round(value: Q.Rational, places: number): Q.Rational {
  const scale = 10n ** BigInt(places);
  const doubled = 2n * Q.abs(value).num * scale + value.den;
  const whole = doubled / (2n * value.den);
  return Q.rational(value.num < 0n ? -whole : whole, scale);
}

/** A number as written: a literal, its negative, its percentage. */
function literal(node: Node): { readonly value: Q.Rational; readonly decimal: boolean } | undefined {
  if (node.k === 'num') return node;
  if (node.k === 'neg') {
    const inner = literal(node.arg);
    return inner && { value: Q.neg(inner.value), decimal: inner.decimal };
  }
  if (node.k === 'percent') {
    const inner = literal(node.arg);
    // 33⅓ % is an exact third, and no decimal.
    const share = inner && Q.div(inner.value, Q.rational(100n));
    return share && { value: share, decimal: inner.decimal || placesOf(share) < Infinity };
  }
  return undefined;
}
