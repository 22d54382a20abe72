// The contents of braces and environments: sets by their elements or by the condition that these meet, matrices as rows of
// cells, alignments as lists of their lines. A determinant is a function of its matrix.

import { call, ELEMENT, type Node } from '../base/ast.ts';
import { LIMITS, TooBig, Unparsed } from '../base/limits.ts';
import { accept, type Cursor, isCmd, isSign, peek, shallow, take } from './cursor.ts';
import { relop } from './parse-words.ts';
import { isMatrix } from './vocabulary.ts';
import { replaceSymbol } from '../value/exact.ts';
import { letters } from '../value/comparison.ts';

/** `\{1, 2\}` and `\{x \mid x > 1\}`, `\{x \in \mathbb{R} : x > 1\}`; the latter are their condition. */
export function explicitSet(c: Cursor): Node {
  const outer = c.bars;
  const bar = conditionBar(c);
  if (bar !== undefined) c.tokens[bar] = { t: 'cmd', v: 'mid', sp: false };
  c.bars = 0;
  const inner = c.parseList(c);
  const condition = isCmd(peek(c), 'mid') && take(c) && c.parseList(c);
  c.bars = outer;
  if (!isCmd(take(c), '}', 'rbrace')) throw new Unparsed('a set is not closed');
  if (!condition) return { k: 'set', items: inner.k === 'list' ? inner.items : [inner], explicit: true };
  if (![condition].flatMap((n) => (n.k === 'list' ? n.items : n)).every((n) => n.k === 'rel'))
    throw new Unparsed('a set by a condition');
  const isReal = inner.k === 'rel' && inner.ops[0] === 'in' && isReals(inner.items[1]);
  return ofElement(shallow(condition), elementOf(isReal ? inner.items[0] : inner, condition));
}

/** What parts an element from its condition; bars in pairs are absolute values, and a colon before no relation is a ratio. */
function conditionBar(c: Cursor): number | undefined {
  const end = c.tokens.findIndex((token, at) => at >= c.at && isCmd(token, '}', 'rbrace'));
  const inside = c.tokens.slice(c.at, end);
  const isSingle = inside.filter((token) => isSign(token, '|')).length % 2 === 1;
  const bar = inside.findIndex((token) => isCmd(token, 'mid', 'vert') || (isSingle && isSign(token, '|')));
  const colon = inside.findIndex((token) => isSign(token, ':') || isCmd(token, 'colon'));
  if (bar >= 0) return c.at + bar;
  return colon >= 0 && inside.slice(colon).some((token) => relop(token)) ? c.at + colon : undefined;
}

const isReals = (node: Node | undefined): boolean => node?.k === 'named' && node.name === 'R';

/** The letter that the condition is about: of `2x` or of another letter it says something else. */
function elementOf(node: Node | undefined, condition: Node): string {
  if (node?.k !== 'sym' || !letters(condition).has(node.name)) throw new Unparsed('a set by a condition');
  return node.name;
}

const ofElement = (condition: Node, name: string): Node => replaceSymbol(condition, name, { k: 'sym', name: ELEMENT });

export function parseEnvironment(c: Cursor, name: string): Node {
  const rows: Node[][] = [[]];
  let cells = 0;
  while (peek(c)?.t !== 'end') {
    const before = c.at;
    if (peek(c)?.t === 'newline') {
      c.at++;
      rows.push([]);
    } else if (!accept(c, '&')) {
      rows.at(-1)!.push(isMatrix(name) ? c.parseRelation(c) : c.parseList(c));
      if (++cells > LIMITS.items) throw new TooBig('too many cells');
    }
    if (c.at === before) throw new Unparsed(`\\begin{${name}} is not ended`);
  }
  c.at++;
  const filled = rows.filter((row) => row.length > 0);
  if (isMatrix(name)) {
    const width = filled[0]?.length ?? 0;
    if (filled.some((row) => row.length !== width)) throw new Unparsed('rows of different length');
    const matrix: Node = { k: 'matrix', rows: filled };
    return name.startsWith('v') ? call('det', matrix) : matrix;
  }
  if (name === 'cases') throw new Unparsed('a definition by cases');
  const items = filled.flat();
  return items.length === 1 ? items[0]! : { k: 'list', items, join: ',' };
}
