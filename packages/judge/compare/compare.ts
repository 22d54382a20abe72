// Compares two answers by their kinds: values, lists and sets in any order, tuples in theirs, intervals and
// inequalities as sets of numbers, equations, matrices, ratios. Nothing is right because it is close: every
// kind ends in leaf.ts.

import { children, ELEMENT, mapChildren, type Node, type Of, some } from '../base/ast.ts';
import { type Comparison, letters } from '../value/comparison.ts';
import { compareLeaves, isSame, type LeafOptions, type Sameness } from './leaf.ts';
import { realsOf, sameReals } from './real-sets.ts';
import { withOperators } from './operators.ts';
import {
  compareRatios,
  compareRelations,
  holds,
  isAssignment,
  isEquation,
  isName,
  lastLink,
  valuesOfEquation,
} from './relation.ts';
import { alignNames, isAboutSeveral, isOtherwiseNamed, isAboutOtherMember } from './assignments.ts';
import { shape, unitsOutward } from './shape.ts';
import { isValueless } from '../value/domains.ts';
import { sameWords } from '../read/words.ts';

/** `no-value`: the answer holds a constant such as 7/0. */
export function compareAnswers(gold: Node, answer: Node, c: Comparison, options: LeafOptions): Sameness | 'no-value' {
  const [first, second] = withOperators(gold, answer);
  const [g, a] = [shapedGold(outwardGold(first)), shape(unitsOutward(second))];
  if (isValueless(a, c)) return 'no-value';
  return compare(g, options.rename ? renamed(a, g) : a, c, options);
}

/** A solution is read once and judges many answers. */
function once(make: (node: Node) => Node): (node: Node) => Node {
  const known = new WeakMap<Node, Node>();
  return (node) => known.get(node) ?? (known.set(node, make(node)), known.get(node)!);
}
const [outwardGold, shapedGold] = [once(unitsOutward), once(shape)];

/** The answer's letters replaced by the solution's, in the order in which they appear. */
function renamed(answer: Node, gold: Node): Node {
  const [from, to] = [allLetters(answer), allLetters(gold)];
  if (from.length !== to.length) return answer;
  const replace = (node: Node): Node =>
    node.k === 'sym' ? { k: 'sym', name: to[from.indexOf(node.name)] ?? node.name } : mapChildren(node, replace);
  return replace(answer);
}

function allLetters(node: Node): string[] {
  const own = node.k === 'sym' ? [node.name] : [];
  return [...new Set([...own, ...children(node).flatMap(allLetters)])];
}

function compare(gold: Node, answer: Node, c: Comparison, o: LeafOptions): Sameness {
  const again = (x: Node, y: Node): Sameness => compare(x, y, c, o);
  if (isAboutOtherMember(gold, answer)) return 'different';
  if (isAboutSeveral(gold) || isAboutSeveral(answer)) {
    const alike = gold.k === 'list' && answer.k === 'list' && (gold.join === 'or') === (answer.join === 'or');
    return alike ? compareCollections(gold, answer, again) : 'different';
  }
  const [g, a] = [unwrapMembership(gold), unwrapMembership(answer)];
  if (isOtherwiseNamed(g, a) || isOtherwiseNamed(a, g)) return 'different';
  if (g.k === 'list' || a.k === 'list') {
    const [x, y] = alignNames(g, a);
    if (x !== g || y !== a) return again(x, y);
  }
  if (g.k === 'rel' || a.k === 'rel') {
    const word = withRelation(g, a, c, o);
    if (word !== undefined) return word;
  }
  if (g.k === 'tuple' && a.k === 'tuple') return compareTuples(g, a, again);
  // P(3, −1) is the point (3, −1).
  const [point, bare] = [pointNamed(g), pointNamed(a)];
  if (point && a.k === 'tuple') return again(point, a);
  if (bare && g.k === 'tuple') return again(g, bare);
  if (g.k === 'matrix' || a.k === 'matrix') return compareMatrices(g, a, again);
  if (holdsRegion(g) !== holdsRegion(a)) return 'different';
  if (isRegion(g) || isRegion(a)) {
    const word = compareRegions(g, a, c, o);
    if (word !== undefined) return word;
  }
  if (isCollection(g) || isCollection(a)) return compareCollections(g, a, again);
  if (g.k === 'ratio' || a.k === 'ratio') return compareRatios(g, a, again, inOrder);
  if (g.k === 'text' || a.k === 'text') return compareTexts(g, a);
  if (g.k === 'tuple' || a.k === 'tuple') return 'different';
  if (g.k === 'named' || a.k === 'named')
    return g.k === a.k && g.k === 'named' && a.k === 'named' && g.name === a.name ? 'exact' : 'different';
  if (g.k === 'setop' && a.k === 'setop')
    return g.op === a.op ? (sameSides(g, a, again) ?? sameSides(g, turned(a), again) ?? 'different') : 'different';
  return compareLeaves(g, a, c, o);
}

function pointNamed(node: Node): Node | undefined {
  if (node.k !== 'apply' || node.args.length < 2 || !/^[A-EH-Z]$/.test(node.name)) return undefined;
  return { k: 'tuple', items: node.args, open: '(', close: ')' };
}

/** `x ∈ S` says S. */
function unwrapMembership(node: Node): Node {
  if (node.k !== 'rel' || node.ops.length !== 1 || node.ops[0] !== 'in') return node;
  const [name, whole] = node.items;
  return name && isName(name) && !some(name, (n) => n.k === 'text') ? (whole ?? node) : node;
}

const both = (a: Sameness, b: Sameness): Sameness => (!isSame(a) ? a : !isSame(b) ? b : a === 'exact' ? b : a);

const turned = (node: Of<'setop'>): Of<'setop'> =>
  node.op === 'setminus' ? node : { ...node, left: node.right, right: node.left };

function sameSides(g: Of<'setop'>, a: Of<'setop'>, again: (g: Node, a: Node) => Sameness): Sameness | undefined {
  const word = both(again(g.left, a.left), again(g.right, a.right));
  return word === 'different' ? undefined : word;
}

function withRelation(g: Node, a: Node, c: Comparison, o: LeafOptions): Sameness | undefined {
  const again = (x: Node, y: Node): Sameness => compare(x, y, c, o);
  if (g.k === 'rel' && a.k === 'rel') {
    const word = compareRelations(g, a, c, again);
    if (isSame(word) && isEquation(a) && a.items.length > g.items.length && !holds(a, again, c)) return 'different';
    if (isSame(word) || isEquation(g) || isEquation(a)) return word;
    return compareRegions(g, a, c, o) ?? word;
  }
  if (a.k === 'rel' && isEquation(a)) {
    const words = holds(a, again, c) ? valuesOfEquation(a).map((value) => again(g, value)) : [];
    return words.find(isSame) ?? words[0] ?? 'different';
  }
  if (g.k === 'rel' && isEquation(g)) {
    if (g.items.length === 2 && !isAssignment(g)) return 'different';
    return again(lastLink(g), a);
  }
  return undefined;
}

/** Shapes that can only mean a set of numbers. `(a, b)` can be a point as well. */
function isRegionLike(node: Node): boolean {
  if (node.k === 'tuple') return node.items.length === 2;
  return node.k === 'setop' || node.k === 'named' || node.k === 'set' || node.k === 'rel';
}

const isCollection = (node: Node): node is Of<'list'> | Of<'set'> => node.k === 'list' || node.k === 'set';

/** A set that has an interval for its element is no interval. */
const holdsRegion = (node: Node): boolean =>
  node.k === 'set' &&
  node.explicit &&
  node.items.length === 1 &&
  node.items[0]?.k === 'tuple' &&
  isRegion(node.items[0]);

/** Can only be a set of numbers: not a point, not a list. */
function isRegion(node: Node): boolean {
  if (node.k === 'tuple') return node.items.length === 2 && (node.open === '[' || node.close === ']');
  if (node.k === 'list')
    return node.items.length > 0 && node.items.every((item) => item.k === 'rel' && !isEquation(item));
  return (
    node.k === 'setop' ||
    node.k === 'named' ||
    node.k === 'rel' ||
    (node.k === 'add' && node.items.some((n) => isRegionLike(n)))
  );
}

function compareRegions(g: Node, a: Node, c: Comparison, o: LeafOptions): Sameness | undefined {
  // Conditions joined by "and" say something else than those joined by "or".
  if (g.k === 'list' && a.k === 'list' && g.join !== a.join && g.join !== ',' && a.join !== ',') return 'different';
  const samePoint = (x: Node, y: Node): Sameness => compareLeaves(x, y, c, o);
  // x > 2 says nothing of y.
  const [unknown, other] = [unknownOf(g), unknownOf(a)];
  if (unknown !== undefined && other !== undefined && unknown !== other) return 'different';
  const line = { c, same: samePoint };
  const [x, y] = [realsOf(g, line), realsOf(a, line)];
  if (x && y) {
    const equal = sameReals(x, y, line);
    return equal === undefined ? 'unknown' : equal ? 'exact' : 'different';
  }
  const setLike = (n: Node): boolean => isRegion(n) || n.k === 'tuple';
  const conditions = (n: Node): boolean => n.k === 'rel' || (n.k === 'list' && isRegion(n));
  if (setLike(g) && setLike(a) && (conditions(g) || conditions(a))) return 'unknown';
  if (isCollection(g) !== isCollection(a)) return 'different';
  if (!(setLike(g) && setLike(a))) return isCollection(g) ? undefined : 'different';
  if (g.k === a.k && g.k !== 'rel') return undefined;
  // A set that cannot be solved here against another spelling: letters in it, or a higher degree.
  return g.k === 'rel' || a.k === 'rel' || letters(g).size > 0 || letters(a).size > 0 ? 'unknown' : 'different';
}

/** The one letter that an inequality, or several of them, is about; none for a set that is built of its own letter. */
function unknownOf(node: Node): string | undefined {
  if (node.k === 'list' && node.items.length > 0 && node.items.every((item) => item.k === 'rel')) {
    const names = new Set(node.items.map(unknownOf));
    return names.size === 1 ? [...names][0] : undefined;
  }
  if (node.k !== 'rel' || node.ops.includes('in')) return undefined;
  const names = [...letters(node)];
  return names.length === 1 && names[0] !== ELEMENT ? names[0] : undefined;
}

function compareTuples(g: Of<'tuple'>, a: Of<'tuple'>, again: (g: Node, a: Node) => Sameness): Sameness {
  if (g.items.length !== a.items.length) return 'different';
  const round = (bracket: string): string => (bracket === '<' ? '(' : bracket === '>' ? ')' : bracket);
  const mixed = g.items.length === 2 || (round(g.open) === '(') !== (round(g.close) === ')');
  if (mixed && (round(g.open) !== round(a.open) || round(g.close) !== round(a.close))) return 'different';
  return inOrder(g.items, a.items, again);
}

function inOrder(g: readonly Node[], a: readonly Node[], again: (g: Node, a: Node) => Sameness): Sameness {
  if (g.length !== a.length) return 'different';
  let all: Sameness = 'exact';
  for (let k = 0; k < g.length; k++) {
    const [x, y] = [g[k], a[k]];
    const word = x && y ? again(x, y) : 'different';
    if (word === 'different') return word;
    if (all !== 'unknown' && word !== 'exact') all = word;
  }
  return all;
}

function compareCollections(g: Node, a: Node, compareItems: (g: Node, a: Node) => Sameness): Sameness {
  // {1} is 1 where it is the whole answer; inside another set it is no 1.
  const again = (x: Node, y: Node): Sameness => (isBraced(x) === isBraced(y) ? compareItems(x, y) : 'different');
  // A tuple against a list or plain braces: the order written counts. Against \{ \}: a set is no tuple.
  if (g.k === 'tuple' || a.k === 'tuple') {
    const [tuple, other] = g.k === 'tuple' ? [g, a] : [a, g];
    if (other.k === 'set' && other.explicit) return 'different';
    // "2 or 3" are two answers.
    if (other.k === 'list' && other.join !== ',') return 'different';
    if (tuple.k === 'tuple' && isCollection(other) && other.items.every((item) => item.k !== 'tuple')) {
      return g === tuple ? inOrder(tuple.items, other.items, again) : inOrder(other.items, tuple.items, again);
    }
  }
  // {x} may be the broken part of x, and is no x.
  if (isCollection(g) !== isCollection(a) && [g, a].some((n) => n.k === 'set' && n.explicit && letters(n).size > 0))
    return 'different';
  // A set, what "or" joins, and points have each item once; a list of numbers has 3, 3, 4.
  const isPoints = (n: Node): boolean => n.k === 'list' && n.items.every((item) => item.k === 'tuple');
  const isSet = [g, a].some((n) => n.k === 'set' || isPoints(n) || (n.k === 'list' && n.join === 'or'));
  const [x, y] = [g, a].map((n) => {
    const items = isCollection(n) ? n.items : [n];
    return isSet ? distinct(items, again) : items;
  }) as [Node[], Node[]];
  if (x.length !== y.length) return 'different';
  const left = [...y];
  let all: Sameness = 'exact';
  let unknown = false;
  for (const item of x) {
    let found = -1;
    for (let k = 0; k < left.length && found < 0; k++) {
      const other = left[k];
      const word = other ? again(item, other) : 'different';
      if (word === 'unknown') unknown = true;
      if (isSame(word)) {
        found = k;
        if (word !== 'exact') all = word;
      }
    }
    if (found < 0) return unknown ? 'unknown' : 'different';
    left.splice(found, 1);
  }
  return all;
}

const isBraced = (node: Node): boolean => node.k === 'set' && node.explicit;

function distinct(items: readonly Node[], again: (g: Node, a: Node) => Sameness): Node[] {
  const kept: Node[] = [];
  for (const item of items) if (!kept.some((other) => isSame(again(other, item)))) kept.push(item);
  return kept;
}

function compareMatrices(g: Node, a: Node, again: (g: Node, a: Node) => Sameness): Sameness {
  const [x, y] = [rowsOf(g), rowsOf(a)];
  if (x && y) {
    if (x.length !== y.length || x[0]?.length !== y[0]?.length) return 'different';
    return inOrder(x.flat(), y.flat(), again);
  }
  // A vector may be written as a tuple.
  const [matrix, other] = x ? [x, a] : [y, g];
  if (!matrix || other.k !== 'tuple' || (matrix.length !== 1 && matrix[0]?.length !== 1)) return 'different';
  return x ? inOrder(matrix.flat(), other.items, again) : inOrder(other.items, matrix.flat(), again);
}

/** The rows of a matrix, also of one that is written `[[1, 2], [3, 4]]`. */
function rowsOf(node: Node): readonly (readonly Node[])[] | undefined {
  if (node.k === 'matrix') return node.rows;
  if (node.k !== 'tuple' || node.open !== '[' || node.close !== ']') return undefined;
  const rows = node.items.map((row) => (row.k === 'tuple' && row.open === '[' && row.close === ']' ? row.items : []));
  return rows.length > 0 && rows.every((row) => row.length > 0 && row.length === rows[0]?.length) ? rows : undefined;
}

function compareTexts(g: Node, a: Node): Sameness {
  const text = (node: Node): string | undefined =>
    node.k === 'text' ? node.text : node.k === 'sym' || node.k === 'const' ? node.name : undefined;
  const [x, y] = [text(g), text(a)];
  return x !== undefined && y !== undefined && sameWords(x, y) ? 'text' : 'different';
}
