// The contents of braces and environments: sets by their elements or by the condition that these meet, matrices as rows of
// cells, alignments as lists of their lines. A determinant is a function of its matrix.

import { call, ELEMENT, type Node } from '../base/ast.ts';
import { LIMITS, TooBig, Unparsed } from '../base/limits.ts';
import { accept, type Cursor, isCmd, isSign, peek, shallow, take } from './tokens.ts';
import { replaceSymbol } from '../value/exact.ts';
import { letters } from '../value/comparison.ts';

/** `\{1, 2\}` and `\{x \mid x > 1\}`; the latter is its condition. */
export function explicitSet(c: Cursor): Node {
  const outer = c.bars;
  c.bars = holdsSizes(c) ? 0 : 1;
  let inner = c.parseList(c);
  c.bars = outer;
  const bar = peek(c);
  if (isSign(bar, '|') || isCmd(bar, 'mid', 'vert')) {
    c.at++;
    const condition = c.parseList(c);
    const several = condition.k === 'list' && condition.items.every((item) => item.k === 'rel');
    if (condition.k !== 'rel' && !several) throw new Unparsed('a set by a condition');
    const own = inner.k === 'rel' && inner.ops[0] === 'in' && isReals(inner.items[1]) ? inner.items[0] : inner;
    inner = ofElement(shallow(condition), elementOf(own, condition));
  } else if (inner.k === 'rel' && inner.ops[0] === 'in' && inner.items[1]?.k === 'ratio') {
    // `\{x \in \mathbb{R} : x > 2\}`
    const [name, [, first, more]] = [inner.items[0], inner.items[1].items];
    if (name?.k !== 'sym' || !first || more || !isReals(inner.items[1].items[0]))
      throw new Unparsed('a set by a condition');
    if (!isCmd(take(c), '}', 'rbrace')) throw new Unparsed('a set is not closed');
    return ofElement(
      shallow({ ...inner, items: [first, ...inner.items.slice(2)], ops: inner.ops.slice(1) }),
      name.name,
    );
  } else if (inner.k === 'rel' && inner.items[0]?.k === 'ratio') {
    // `\{x : 2 < x\}`: the colon was read as a ratio.
    const [name, first, more] = inner.items[0].items;
    if (!name || !first || more) throw new Unparsed('a set by a condition');
    if (!isCmd(take(c), '}', 'rbrace')) throw new Unparsed('a set is not closed');
    const condition: Node = { ...inner, items: [first, ...inner.items.slice(1)] };
    return ofElement(shallow(condition), elementOf(name, condition));
  }
  if (!isCmd(take(c), '}', 'rbrace')) throw new Unparsed('a set is not closed');
  if ((inner.k === 'rel' || inner.k === 'list') && (isSign(bar, '|') || isCmd(bar, 'mid', 'vert'))) return inner;
  return { k: 'set', items: inner.k === 'list' ? inner.items : [inner], explicit: true };
}

const isReals = (node: Node | undefined): boolean => node?.k === 'named' && node.name === 'R';

/** The letter that the condition is about: of `2x` or of another letter it says something else. */
function elementOf(node: Node | undefined, condition: Node): string {
  if (node?.k !== 'sym' || !letters(condition).has(node.name)) throw new Unparsed('a set by a condition');
  return node.name;
}

/** Bars in pairs, up to the end of the set, are absolute values; a single one parts an element from its condition. */
function holdsSizes(c: Cursor): boolean {
  let bars = 0;
  for (let at = c.at; at < c.tokens.length; at++) {
    const token = c.tokens[at];
    if (isCmd(token, '}', 'rbrace')) break;
    if (isSign(token, '|')) bars++;
  }
  return bars > 0 && bars % 2 === 0;
}

const ofElement = (condition: Node, name: string): Node => replaceSymbol(condition, name, { k: 'sym', name: ELEMENT });

export const isMatrix = (environment: string): boolean =>
  /^[pbBvV]?(small)?matrix$|^array$|^tabular$/.test(environment);

export function parseEnvironment(c: Cursor, name: string): Node {
  const rows: Node[][] = [[]];
  let cells = 0;
  for (;;) {
    const token = peek(c);
    if (!token) throw new Unparsed(`\\begin{${name}} is not ended`);
    if (token.t === 'end') {
      c.at++;
      break;
    }
    if (token.t === 'newline') {
      c.at++;
      rows.push([]);
    } else if (accept(c, '&')) {
      continue;
    } else {
      const before = c.at;
      rows.at(-1)?.push(isMatrix(name) ? c.parseRelation(c) : c.parseList(c));
      if (++cells > LIMITS.items) throw new TooBig('too many cells');
      if (c.at === before) throw new Unparsed('an empty cell');
    }
  }
  const filled = rows.filter((row) => row.length > 0);
  if (isMatrix(name)) {
    const width = filled[0]?.length ?? 0;
    if (filled.some((row) => row.length !== width)) throw new Unparsed('rows of different length');
    const matrix: Node = { k: 'matrix', rows: filled };
    return name.startsWith('v') ? call('det', matrix) : matrix;
  }
  if (name === 'cases') throw new Unparsed('a definition by cases');
  const items = filled.flat();
  return items.length === 1 && items[0] && !isSign(peek(c), '&') ? items[0] : { k: 'list', items, join: ',' };
}
