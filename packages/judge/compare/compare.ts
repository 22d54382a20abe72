// Compares two answers by their shape: a value, ordered items, items in any order, a set of real numbers, a relation. Names are
// left out first where one side has none (names.ts). An answer may have several shapes, as (1, 2) is a point and an interval:
// the first one of the solution's that the answer has as well decides. Nothing is right because it is close: every shape
// ends in leaf.ts.

import { ELEMENT, mapChildren, type Node, type Of } from '../base/ast.ts';
import { sameWords } from '../read/words.ts';
import { type Comparison, letters } from '../value/comparison.ts';
import { isValueless } from '../value/domains.ts';
import { compareLeaves, type LeafOptions } from './leaf.ts';
import { isMembership, subjectsOf, valuesOf } from './names.ts';
import { withOperators } from './operators.ts';
import { realsOf, sameReals } from './real-sets.ts';
import { compareRelations, holds, isEquation } from './relation.ts';
import { type Compare, inOrder, isSame, type Sameness } from './sameness.ts';
import { shape } from './shape.ts';

/** `no-value`: the answer holds a constant such as 7/0. */
export function compareAnswers(gold: Node, answer: Node, c: Comparison, options: LeafOptions): Sameness | 'no-value' {
  const [first, second] = withOperators(gold, answer);
  const [g, a] = [shapedOnce(first), shape(second)];
  if (isValueless(a, c)) return 'no-value';
  return options.rename ? compare(renamed(g), renamed(a), c, options) : compare(g, a, c, options);
}

/** A solution is read once and judges many answers. */
const shaped = new WeakMap<Node, Node>();
function shapedOnce(gold: Node): Node {
  const known = shaped.get(gold) ?? shape(gold);
  shaped.set(gold, known);
  return known;
}

/** The letters named by the order in which they appear. */
function renamed(node: Node): Node {
  const names = new Map<string, string>();
  const rename = (n: Node): Node => {
    if (n.k !== 'sym') return mapChildren(n, rename);
    if (!names.has(n.name)) names.set(n.name, `letter ${names.size}`);
    return { ...n, name: names.get(n.name)! };
  };
  return rename(node);
}

function compare(gold: Node, answer: Node, c: Comparison, o: LeafOptions): Sameness {
  const again: Compare = (x, y) => compare(x, y, c, o);
  // x > 2 says nothing of y.
  const [subjects, others] = [subjectsOf(gold), subjectsOf(answer)];
  const isElement = subjects[0] === ELEMENT || others[0] === ELEMENT;
  if (subjects.length > 0 && others.length > 0 && !isElement && subjects.join() !== others.join()) return 'different';
  if (gold.k === 'rel' && answer.k === 'rel' && isMembership(gold) === isMembership(answer)) {
    const outcome = compareRelations(gold, answer, c, again);
    if (isSame(outcome)) return holds(answer, again, c) ? outcome : 'different';
    if (isEquation(gold) || isEquation(answer)) return outcome;
  }
  const [golds, answers] = [valuesOf(gold, answer), valuesOf(answer, gold)];
  if (golds || answers) {
    if (answer.k === 'rel' && !holds(answer, again, c)) return 'different';
    const outcomes = (golds ?? [gold]).flatMap((x) => (answers ?? [answer]).map((y) => again(x, y)));
    return outcomes.find(isSame) ?? outcomes[0] ?? 'different';
  }
  const possible = shapesOf(answer);
  const shapes = shapesOf(gold).filter((one) => possible.includes(one));
  for (const one of shapes) {
    const outcome = COMPARE[one](gold, answer, again, c, o);
    if (outcome) return outcome;
  }
  return shapes.length > 0 ? 'unknown' : 'different';
}

type Shape = 'value' | 'ordered' | 'unordered' | 'reals';

/** The shapes in which a node may be read; a relation has none of its own here but the set of numbers that meet it. */
function shapesOf(node: Node): readonly Shape[] {
  switch (node.k) {
    case 'tuple':
      return node.items.length === 2 ? ['ordered', 'reals'] : ['ordered'];
    case 'matrix':
    case 'ratio':
      return ['ordered'];
    case 'set':
      return node.explicit ? ['unordered', 'reals'] : ['unordered', 'ordered', 'reals'];
    case 'list': {
      const subjects = subjectsOf(node);
      if (subjects.length > 0) return subjects.length > 1 ? ['unordered'] : ['reals'];
      return ['unordered', 'ordered', 'reals'];
    }
    case 'rel':
      return isEquation(node) ? [] : ['reals'];
    case 'setop':
    case 'named':
      return ['reals', 'value'];
    case 'apply':
      // P(3, −1) is the point (3, −1).
      return node.args.length > 1 && /^[A-EH-Z]$/.test(node.name) ? ['value', 'ordered'] : ['value'];
    default:
      // {x} may be the broken part of x, and is no x.
      return letters(node).size > 0 ? ['value'] : ['value', 'unordered'];
  }
}

/** Two nodes in a shape that both have; undefined where it cannot tell. */
const COMPARE: Readonly<
  Record<Shape, (g: Node, a: Node, again: Compare, c: Comparison, o: LeafOptions) => Sameness | undefined>
> = {
  ordered: compareOrdered,
  unordered: compareUnordered,
  value: compareValues,
  reals: (g, a, _, c, o) => {
    const line = { c, same: (x: Node, y: Node) => compareLeaves(x, y, c, o) };
    const [x, y] = [realsOf(g, line), realsOf(a, line)];
    const equal = x && y && sameReals(x, y, line);
    return equal === undefined ? undefined : equal ? 'exact' : 'different';
  },
};

function compareOrdered(g: Node, a: Node, again: Compare): Sameness {
  const [x, y] = [orderOf(pointOf(g, again)), orderOf(pointOf(a, again))];
  if (!x || !y) return 'different';
  // A vector may be written as a tuple.
  const isVector = (form: string): boolean => /^1×|×1$/.test(form);
  const isTuple = (form: string): boolean => !/[×:]/.test(form);
  const alike = x.form === y.form || (isVector(x.form) && isTuple(y.form)) || (isTuple(x.form) && isVector(y.form));
  return alike ? inOrder(x.items, y.items, again) : 'different';
}

/** A point that is said twice is that point. */
function pointOf(node: Node, again: Compare): Node {
  const [point, more] = isPoints(node) ? distinct(node.items, again) : [];
  return point && !more ? point : node;
}

interface Order {
  readonly items: readonly Node[];
  /** What counts beside the items: the brackets of a pair, which may be an interval, or the rows of a matrix. */
  readonly form: string;
}

function orderOf(node: Node): Order | undefined {
  const brackets = (of: readonly Node[], open = '(', close = ')'): string =>
    of.length === 2 ? `${open}${close}`.replace('<', '(').replace('>', ')') : '';
  switch (node.k) {
    case 'ratio':
      return { items: node.items, form: ':' };
    case 'matrix':
      return { items: node.rows.flat(), form: `${node.rows.length}×${node.rows[0]?.length}` };
    case 'tuple': {
      const rows = node.items.map((row) => (isSquare(node) && isSquare(row) ? row.items : []));
      const [first] = rows;
      if (first && first.length > 0 && rows.every((row) => row.length === first.length))
        return { items: rows.flat(), form: `${rows.length}×${first.length}` };
      return { items: node.items, form: brackets(node.items, node.open, node.close) };
    }
    case 'apply':
      return { items: node.args, form: brackets(node.args) };
    case 'list':
    case 'set':
      // "2 or 3" are two answers, and so are two points.
      return isEither(node) || node.items.some((item) => item.k === 'tuple')
        ? undefined
        : { items: node.items, form: brackets(node.items) };
    default:
      return undefined;
  }
}

/** Also a matrix may be written so: `[[1, 2], [3, 4]]`. */
const isSquare = (node: Node): node is Of<'tuple'> => node.k === 'tuple' && node.open === '[' && node.close === ']';

function compareUnordered(g: Node, a: Node, again: Compare): Sameness {
  if (subjectsOf(g).length > 0 && isEither(g) !== isEither(a)) return 'different';
  // {1} is 1 where it is the whole answer; inside another set it is no 1.
  const isBraced = (node: Node): boolean => node.k === 'set' && node.explicit;
  const alike: Compare = (x, y) => (isBraced(x) === isBraced(y) ? again(x, y) : 'different');
  // A set, what "or" joins, and points have each item once; a list of numbers has 3, 3, 4.
  const isSet = [g, a].some((node) => node.k === 'set' || isPoints(node) || isEither(node));
  const [x, y] = [g, a].map((node) => {
    const items = node.k === 'list' || node.k === 'set' ? node.items : [node];
    return isSet ? distinct(items, alike) : [...items];
  }) as [Node[], Node[]];
  if (x.length !== y.length) return 'different';
  let all: Sameness = 'exact';
  for (const item of x) {
    let outcome: Sameness = 'different';
    for (let k = 0; k < y.length && !isSame(outcome); k++) {
      outcome = alike(item, y[k]!);
      if (isSame(outcome)) y.splice(k, 1);
    }
    if (!isSame(outcome)) return 'different';
    if (outcome !== 'exact') all = outcome;
  }
  return all;
}

const isPoints = (node: Node): node is Of<'list'> =>
  node.k === 'list' && node.items.every((item) => item.k === 'tuple');
const isEither = (node: Node): boolean => node.k === 'list' && node.join === 'or';

function distinct(items: readonly Node[], again: Compare): Node[] {
  const kept: Node[] = [];
  for (const item of items) if (!kept.some((other) => isSame(again(other, item)))) kept.push(item);
  return kept;
}

function compareValues(g: Node, a: Node, again: Compare, c: Comparison, o: LeafOptions): Sameness {
  if (g.k === 'text' || a.k === 'text') {
    const [x, y] = [g, a].map((n) => (n.k === 'text' ? n.text : n.k === 'sym' || n.k === 'const' ? n.name : undefined));
    return x !== undefined && y !== undefined && sameWords(x, y) ? 'text' : 'different';
  }
  if (g.k === 'named' || a.k === 'named')
    return g.k === 'named' && a.k === 'named' && g.name === a.name ? 'exact' : 'different';
  if (g.k !== 'setop' || a.k !== 'setop') return compareLeaves(g, a, c, o);
  if (g.op !== a.op) return 'different';
  const outcome = inOrder([g.left, g.right], [a.left, a.right], again);
  if (isSame(outcome) || g.op === 'setminus') return outcome;
  return inOrder([g.left, g.right], [a.right, a.left], again);
}
