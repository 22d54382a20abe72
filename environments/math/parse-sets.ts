// Sets in braces: their elements, or the condition that their elements meet.

import { ELEMENT, type Node } from './ast.ts';
import { isCmd, isSign, peek, shallow, take, type Cursor } from './cursor.ts';
import { replaceSymbol } from './exact.ts';
import { Unparsed } from './limits.ts';

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
    if (condition.k !== 'rel') throw new Unparsed('a set by a condition');
    inner = inner.k === 'sym' ? ofElement(shallow(condition), inner.name) : condition;
  } else if (inner.k === 'rel' && inner.ops[0] === 'in' && inner.items[1]?.k === 'ratio') {
    // `\{x \in \mathbb{R} : x > 2\}`
    const [name, [, first, more]] = [inner.items[0], inner.items[1].items];
    if (name?.k !== 'sym' || !first || more) throw new Unparsed('a set by a condition');
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
    return name.k === 'sym' ? ofElement(shallow(condition), name.name) : condition;
  }
  if (!isCmd(take(c), '}', 'rbrace')) throw new Unparsed('a set is not closed');
  if (inner.k === 'rel' && (isSign(bar, '|') || isCmd(bar, 'mid', 'vert'))) return inner;
  return { k: 'set', items: inner.k === 'list' ? inner.items : [inner], explicit: true };
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
