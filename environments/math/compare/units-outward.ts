// A unit belongs to a whole value: `-(5 m)`, `3 m + 4 m` and `$5 million` carry theirs outwards. One that cannot be
// carried out stays as a letter of its own, so that no unit is lost inside an expression.

import { parseAnswer } from '../read/parse.ts';
import { add, mapChildren, mul, type Node, neg, type Of, some } from '../ast.ts';

const EXPRESSION = /^(?:add|mul|neg|div|pow|call|apply|deg|percent|big|pm)$/;

export function unitsOutward(node: Node): Node {
  return some(node, (n) => n.k === 'unit') ? outward(node) : node;
}

function outward(node: Node): Node {
  const own = EXPRESSION.test(node.k) ? mapChildren(node, (n) => (n.k === 'unit' && behindLetter(n)) || n) : node;
  const inner = mapChildren(own, outward);
  return EXPRESSION.test(inner.k) ? (carried(inner) ?? mapChildren(inner, asLetter)) : inner;
}

const asLetter = (node: Node): Node =>
  node.k === 'unit'
    ? (asProduct(node.arg, node.strong ? undefined : node.unit) ??
      mul([node.arg, { k: 'sym', name: `unit ${node.unit.toLowerCase()}` }]))
    : node;

/** Behind a letter `mg` is no milligram: \mu mg. */
function behindLetter({ arg, unit }: Of<'unit'>): Node | undefined {
  if (arg.k !== 'sym' || !/^[a-z]{2}$/.test(unit)) return undefined;
  return mul([arg, ...[...unit].map((name): Node => ({ k: 'sym', name }))]);
}

/** `5 m`, `3 m^2` read as products of letters. */
export function asProduct(value: Node, unit: string | undefined): Node | undefined {
  if (!unit || !/^[A-Za-z](?:\s(?:[A-Za-z]|\^\d|[/*]))*$/.test(unit)) return undefined;
  return mul([value, parseAnswer(unit, { grouping: false, decimalComma: false })]);
}

const isZero = (node: Node): boolean => node.k === 'num' && node.value.num === 0n;

function carried(node: Node): Node | undefined {
  if (node.k === 'neg' && node.arg.k === 'unit') return { ...node.arg, arg: neg(node.arg.arg) };
  if (node.k === 'div' && node.top.k === 'unit' && node.bottom.k !== 'unit')
    return { ...node.top, arg: { ...node, top: node.top.arg } };
  if (node.k === 'pm' && node.right.k === 'unit' && (isZero(node.left) || node.left.k === 'unit')) {
    const { left, right } = node;
    if (left.k === 'unit' && left.unit !== right.unit) return undefined;
    return { ...right, arg: { ...node, left: left.k === 'unit' ? left.arg : left, right: right.arg } };
  }
  if (node.k !== 'mul' && node.k !== 'add') return undefined;
  const units = node.items.filter((n): n is Of<'unit'> => n.k === 'unit');
  const [first] = units;
  if (!first) return undefined;
  const bare = node.items.map((n) => (n.k === 'unit' ? n.arg : n));
  if (node.k === 'mul') return units.length === 1 ? { ...first, arg: mul(bare) } : undefined;
  const alike = node.items.every((n) => isZero(n) || (n.k === 'unit' && n.unit === first.unit));
  // `18 + 2\pi \text{ cm}` measures the sum.
  const last = first.strong && units.length === 1 && node.items.at(-1) === first;
  return alike || last ? { ...first, arg: add(bare) } : undefined;
}
