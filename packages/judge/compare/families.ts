// Families of solutions, `x = 2πk, k ∈ ℤ`: over all integers a family is a period and a start: kπ, −kπ and (k + 1)π are one, and so are kπ and the pair 2kπ, π + 2kπ. Not
// covered: families that do not run in even steps, but by their form.

import { add, int, mul, neg, type Node, type Of, RUNNING } from '../base/ast.ts';
import { isAssignment, lastLink } from './relation.ts';
import { type Comparison, letters } from '../value/comparison.ts';
import { constant } from '../value/numeric.ts';
import { replaceSymbol } from '../value/exact.ts';

const MAX_PARTS = 24;

/** What is compared of two families: their bodies; over the integers in one form where there is one. */
export function familiesOf(gold: Of<'family'>, answer: Of<'family'>, c: Comparison): readonly [Node, Node] | undefined {
  const bodies = [gold.body, answer.body] as const;
  const [g, a] = bodies.some((body) => letters(body).has('n')) ? bodies : [counting(bodies[0]), counting(bodies[1])];
  if (gold.over !== answer.over || !bodies.every((body) => letters(body).has(RUNNING))) return undefined;
  const [own, other] = [namesOf(gold.body), namesOf(answer.body)];
  if (own.length > 0 && other.length > 0 && own.join() !== other.join()) return undefined;
  // Several letters each run with the others.
  if (gold.over !== 'Z' || own.length > 1 || other.length > 1) return [g, a];
  const [x, y] = [linesOf(gold.body, c), linesOf(answer.body, c)];
  const period = x && y && periodOf([...x, ...y]);
  return period === undefined ? [g, a] : [inParts(x ?? [], period), inParts(y ?? [], period)];
}

/** n stands for whole numbers by convention. */
const counting = (node: Node): Node => replaceSymbol(node, RUNNING, { k: 'sym', name: 'n' });

/** The assigned name: the x of `x = kπ`. */
function namesOf(node: Node): string[] {
  const items = node.k === 'list' || node.k === 'set' ? node.items : [node];
  const names = items.map((item) => (item.k === 'rel' && item.items[0] ? [...letters(item.items[0])].join(' ') : ''));
  return [...new Set(names.filter((name) => name !== ''))].toSorted();
}

interface Line {
  readonly step: Node;
  readonly start: Node;
  readonly size: number;
  readonly from: number;
}

/** Each item as start + step·k, where it is that. */
function linesOf(node: Node, c: Comparison): Line[] | undefined {
  const items = node.k === 'list' || node.k === 'set' ? node.items : [node];
  const lines: Line[] = [];
  for (const item of items) {
    const body = isAssignment(item) ? lastLink(item) : item;
    const at = (n: number): Node => replaceSymbol(body, RUNNING, int(n));
    const [start, next] = [at(0), at(1)];
    const [from, to] = [constant(start, c), constant(next, c)];
    if (from === undefined || to === undefined || !isLine(body) || Math.abs(to - from) < 1e-9) return undefined;
    lines.push({ step: add([next, neg(start)]), start, size: to - from, from });
  }
  return lines;
}

/** The letter stands in no function, power or denominator: that the rest is a line then shows by its form. */
function isLine(node: Node): boolean {
  if (node.k === 'add') return node.items.every(isLine);
  if (node.k === 'neg') return isLine(node.arg);
  if (node.k === 'div') return isLine(node.top) && !letters(node.bottom).has(RUNNING);
  if (node.k === 'mul') {
    const running = node.items.filter((item) => letters(item).has(RUNNING));
    return running.length <= 1 && running.every(isLine);
  }
  return node.k === 'sym' ? node.name === RUNNING : !letters(node).has(RUNNING);
}

/** A common multiple of all steps, as so many of the first one's. */
function periodOf(lines: readonly Line[]): number | undefined {
  const first = Math.abs(lines[0]?.size ?? 0);
  for (let k = 1; k <= MAX_PARTS; k++)
    if (lines.every(({ size }) => isWhole((first * k) / Math.abs(size)))) return first * k;
  return undefined;
}

const isWhole = (n: number): boolean => Math.abs(n - Math.round(n)) < 1e-9 && Math.round(n) > 0;

/** Lines of one period, each with its start within it. The doubles only guide: what is compared holds exact numbers. */
function inParts(lines: readonly Line[], period: number): Of<'list'> {
  const items = lines.flatMap(({ step, start, size, from }): Node[] => {
    const parts = Math.min(MAX_PARTS, Math.round(period / Math.abs(size)));
    const whole = mul([int(size > 0 ? parts : -parts), step]);
    return Array.from({ length: parts }, (_, k) => {
      const begin = from + k * size;
      const turns = Math.floor(begin / period + 1e-9);
      return add([mul([whole, { k: 'sym', name: 'n' }]), start, mul([int(k), step]), mul([int(-turns), whole])]);
    });
  });
  // Lines of two families that fall together are one.
  return { k: 'list', items, join: 'or' };
}
