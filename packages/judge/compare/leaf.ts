// Compares two single values: units and currency, degrees, percentages, rounding. The worth of a
// value itself is settled by equal.ts.

import { mapChildren, mul, type Node, num, some } from '../base/ast.ts';
import type { Comparison } from '../value/comparison.ts';
import { precise } from '../value/numeric.ts';
import { equalExpressions } from '../value/equal.ts';
import { exact } from '../value/exact.ts';
import * as Q from '../base/rational.ts';
import { askedUnit, isOtherKind } from '../read/asked.ts';
import { isHarmlessPhrase, sameLabels, type Unit, unitOf } from '../read/unit-words.ts';
import { isSame, type Sameness } from './sameness.ts';
import { asProduct, PER_DEGREE } from './shape.ts';

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

/** A number and its unit, '' where it has none; `strong`: one that is sure, and no letter that may be a factor. */
interface Quantity {
  readonly number: Node;
  readonly unit: string;
  readonly strong: boolean;
}

function quantityOf(node: Node): Quantity {
  if (node.k !== 'unit') return { number: node, unit: '', strong: false };
  const inner = quantityOf(node.arg);
  return { number: inner.number, unit: `${inner.unit} ${node.unit}`.trim(), strong: node.strong };
}

export function compareLeaves(gold: Node, answer: Node, c: Comparison, options: LeafOptions): Sameness {
  const [g, a] = [quantityOf(gold), quantityOf(answer)];
  const isAngle = [g, a].some(angleOf) && [g, a].every((q) => q.unit === '' || angleOf(q));
  const numbers = (isAngle ? asAngles : inOneUnit)(g, a, options.question);
  return numbers ? compareNumbers(withoutUnits(numbers[0]), withoutUnits(numbers[1]), c, options) : 'different';
}

type Numbers = readonly [Node, Node] | undefined;

/** The numbers that have to be equal; undefined where the units tell the quantities apart. */
function inOneUnit(g: Quantity, a: Quantity, question: string): Numbers {
  const [x, y] = [unitOf(g.unit), unitOf(a.unit)];
  if (g.unit !== '' && a.unit !== '') {
    // 25° is 25 °C.
    const isDegree = [g, a].some((q) => q.unit === 'degrees') && [g, a].every((q) => q.unit.startsWith('degree'));
    if (!isDegree && !sameLabels(g.unit, x === y ? g.unit : a.unit, question)) return undefined;
    return x.dimension === '' || y.dimension === '' ? [g.number, a.number] : [g.number, measured(a, y, x)];
  }
  // A plain letter behind the solution's number is a factor: only a unit that is sure may be left out.
  if (g.unit !== '') return [(g.strong ? undefined : asProduct(g.number, g.unit)) ?? g.number, a.number];
  if (a.unit === '') return [g.number, a.number];
  const product = !a.strong && some(g.number, (n) => n.k === 'sym') ? asProduct(a.number, a.unit) : undefined;
  if (product) return [g.number, product];
  const wanted = askedUnit(question);
  if (!isHarmlessPhrase(a.unit, question) || isOtherKind(y, wanted)) return undefined;
  // The solution's number is in the unit that the question asks for.
  return [g.number, wanted?.dimension === y.dimension ? measured(a, y, wanted) : a.number];
}

function measured({ number }: Quantity, own: Unit, other: Unit): Node {
  const ratio = Q.div(own.factor, other.factor);
  return Q.equal(ratio, Q.ONE) ? number : mul([number, num(ratio)]);
}

const angleOf = ({ unit }: Quantity): 'degrees' | 'radians' | undefined =>
  /^deg(?:rees?)?\.?$/i.test(unit) ? 'degrees' : /^rad(?:ians?)?\.?$/i.test(unit) ? 'radians' : undefined;

/** 90° is 90, and 180° is π: a number is in radians if it says so, holds π or an arc, or the question asks for radians. */
function asAngles(g: Quantity, a: Quantity, question: string): Numbers {
  const [degrees] = [g, a].filter((q) => angleOf(q) === 'degrees');
  const other = degrees === g || angleOf(g) === 'radians' ? a : g;
  const inRadians = angleOf(other) === 'radians' || some(other.number, isArc) || ASKS_RADIANS.test(question);
  if (angleOf(g) === angleOf(a) || (degrees && !inRadians)) return [g.number, a.number];
  if (!inRadians) return undefined;
  const [x, y] = [g, a].map((q) => (q === degrees ? mul([q.number, PER_DEGREE]) : q.number)) as [Node, Node];
  return [x, y];
}

const ASKS_RADIANS = /\b(?:in|many) radians\b/i;
const isArc = (node: Node): boolean =>
  (node.k === 'const' && node.name === 'pi') ||
  (node.k === 'call' && /^arc(?:sin|cos|tan|cot|sec|csc)$/.test(node.name));

/** Nodes as they were stripped once: an item of a list is compared with every other. */
const stripped = new WeakMap<Node, Node>();

function withoutUnits(node: Node): Node {
  if (!some(node, ({ k }) => k === 'unit')) return node;
  let known = stripped.get(node);
  if (!known)
    stripped.set(node, (known = node.k === 'unit' ? withoutUnits(node.arg) : mapChildren(node, withoutUnits)));
  return known;
}

function compareNumbers(gold: Node, answer: Node, c: Comparison, options: LeafOptions): Sameness {
  const infinite = [infinity(gold), infinity(answer)];
  if (infinite[0] !== 0 || infinite[1] !== 0) return infinite[0] === infinite[1] ? 'exact' : 'different';
  if (gold.k === 'base' && answer.k === 'base')
    return gold.base === answer.base && gold.digits === answer.digits ? 'exact' : 'different';
  const outcome = equalExpressions(gold, answer, c);
  if (isSame(outcome)) return outcome;
  return isRounded(gold, answer, c, options) ? 'rounded' : outcome;
}

export function infinity(node: Node): number {
  if (node.k === 'neg') return -infinity(node.arg);
  return node.k === 'const' && node.name === 'inf' ? 1 : 0;
}

const MIN_PLACES = 4;

/** Two decimals compare exactly; a decimal may stand for an exact value that it rounds. */
function isRounded(gold: Node, answer: Node, c: Comparison, { decimals, decimalsGiven }: LeafOptions): boolean {
  const [g, a] = [literal(gold), literal(answer)];
  const isAlike = (x: Q.Rational, y: Q.Rational): boolean => Q.equal(round(x, decimals), round(y, decimals));
  if (g?.decimal && a?.decimal) return decimalsGiven && isAlike(g.value, a.value);
  if (!g?.decimal && !a?.decimal) return false;
  const [decimal, other] = g?.decimal ? [g.value, answer] : [a!.value, gold];
  const places = placesOf(decimal);
  // 940.5 is no rounding of 940.500000001: a rounded value almost never ends so early.
  if (!decimalsGiven && places < MIN_PLACES) return false;
  const fraction = exact(other, c);
  const value = fraction ?? precise(other, c);
  // A value that can be written in so many places has to be.
  if (!value || (!decimalsGiven && placesOf(value) <= decimals)) return false;
  const off = Q.sub(decimal, value);
  return isAlike(decimal, value) && (decimalsGiven || near(off, value, places, fraction !== undefined));
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
function near(off: Q.Rational, of: Q.Rational, places: number, isExact: boolean): boolean {
  const size = Q.abs(of);
  const distance = Q.abs(off);
  if (Q.compare(Q.mul(distance, Q.rational(10_000n)), size) > 0) return false;
  const half = Q.rational(1n, 2n * 10n ** BigInt(Math.min(places, 300)));
  if (Q.compare(distance, half) <= 0) return true;
  // The last digits of a double, which writes no more than 17; of a value that is no fraction no more are known.
  const digits = places + (size.num / size.den).toString().replace(/^0$/, '').length;
  if (digits < 13 || (digits > 17 && isExact)) return false;
  return Q.compare(Q.mul(distance, Q.rational(10n ** (digits > 17 ? 15n : 14n))), size) <= 0;
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
