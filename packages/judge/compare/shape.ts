// Brings an answer into the shape in which it is compared: units are carried outwards (one that cannot be stays as a letter
// of its own, so that none is lost), ± becomes two values, degrees find their meaning, a letter before a bracket becomes a
// product or a function, single brackets fall away, a factor before a matrix is multiplied into it.

import { add, call, children, mapChildren, mul, neg, type Node, num, type Of, type Relop, some } from '../base/ast.ts';
import { rational } from '../base/rational.ts';
import { parseAnswer } from '../read/parse.ts';
import { FUNCTION_LETTERS } from '../read/vocabulary.ts';

const EXPRESSION = /^(?:add|mul|neg|div|pow|call|apply|deg|percent|big|pm)$/;

function unitsOutward(node: Node): Node {
  return some(node, (n) => n.k === 'unit') ? outward(node) : node;
}

function outward(node: Node): Node {
  const inner = mapChildren(node, outward);
  return EXPRESSION.test(inner.k) ? (carried(inner) ?? mapChildren(inner, asLetter)) : inner;
}

function asLetter(node: Node): Node {
  if (node.k !== 'unit') return node;
  // 180° − x is 180 − x.
  if (node.unit === 'degrees') return node.arg;
  const product = asProduct(node.arg, node.strong ? undefined : node.unit);
  return product ?? mul([node.arg, { k: 'sym', name: `unit ${node.unit.toLowerCase()}` }]);
}

/** `5 m`, `3 m^2` read as products of letters. */
export function asProduct(value: Node, unit: string | undefined): Node | undefined {
  if (!unit || !/^[A-Za-z](?:\s(?:[/*]\s)?[A-Za-z]|\s\^\d)*$/.test(unit)) return undefined;
  return mul([value, parseAnswer(unit)]);
}

const isZero = (node: Node): boolean => node.k === 'num' && node.value.num === 0n;

function carried(node: Node): Node | undefined {
  const [unit, more] = children(node).filter((n) => n.k === 'unit');
  if (!unit) return undefined;
  const measured: Node = { ...unit, arg: mapChildren(node, (n) => (n.k === 'unit' ? n.arg : n)) };
  if (node.k === 'neg' || node.k === 'mul' || (node.k === 'div' && node.top === unit))
    return more ? undefined : measured;
  if (node.k !== 'add') return undefined;
  const isAlike = node.items.every((n) => isZero(n) || (n.k === 'unit' && n.unit === unit.unit));
  // `18 + 2\pi \text{ cm}` measures the sum.
  const isLast = unit.strong && !more && node.items.at(-1) === unit;
  return isAlike || isLast ? measured : undefined;
}

export function shape(node: Node): Node {
  return simplify(splitPlusMinus(unitsOutward(settle(node, false))));
}

const TRIG = /^(sin|cos|tan|cot|sec|csc)$/;
const constant = (name: 'e' | 'i'): Node => ({ k: 'const', name });
export const PER_DEGREE: Node = {
  k: 'div',
  top: { k: 'const', name: 'pi' },
  bottom: { k: 'num', value: rational(180n), decimal: false },
};

/** Degrees inside a trigonometric function are angles; elsewhere they are a unit that may be left out. */
function settle(node: Node, inTrig: boolean): Node {
  if (node.k === 'deg') {
    const arg = settle(node.arg, inTrig);
    return inTrig ? mul([arg, PER_DEGREE]) : { k: 'unit', arg, unit: 'degrees', strong: true };
  }
  if (node.k === 'div' && isDerivative(node)) return call('\\derivative', node.top, node.bottom);
  // cis 60° is e^{iπ/3}.
  if (node.k === 'call' && node.name === 'cis' && node.args[0])
    return { k: 'pow', base: constant('e'), exp: mul([constant('i'), settle(node.args[0], true)]) };
  // p(x) = x² names a function.
  const [first, ...others] = node.k === 'rel' && node.ops[0] === '=' ? node.items : [];
  if (node.k === 'rel' && first?.k === 'apply' && first.args.length === 1 && first.args[0]!.k === 'sym')
    return { ...node, items: [first, ...others.map((item) => settle(item, inTrig))] };
  // P(1 + r)^n is P·(1 + r)^n, and n(n + 1)! is n·(n + 1)!: what stands behind the bracket is the bracket's.
  const hasBehind = node.k === 'pow' || (node.k === 'call' && node.name.endsWith('factorial'));
  const bracket = hasBehind ? children(node)[0]! : node;
  const factor = factorOf(bracket);
  if (factor && bracket.k === 'apply') {
    const whole = hasBehind ? mapChildren(node, (child) => (child === bracket ? factor : child)) : factor;
    return mul([{ k: 'sym', name: bracket.name }, settle(whole, inTrig)]);
  }
  const trig = inTrig || (node.k === 'call' && TRIG.test(node.name));
  return mapChildren(node, (child) => settle(child, trig));
}

/** dy/dx, ∂²f/∂x∂y: one quantity, and not y/x. */
function isDerivative({ top, bottom }: Of<'div'>): boolean {
  const isDifferential = (node: Node): boolean => {
    const first = node.k === 'mul' ? node.items[0]! : node;
    const base = first.k === 'pow' ? first.base : first;
    return base.k === 'sym' && /^(?:d|partial)$/.test(base.name);
  };
  return isDifferential(top) && isDifferential(bottom) && bottom.k === 'mul' && bottom.items.length % 2 === 0;
}

/** The bracket behind a letter that names no function. E(X) is an expectation. */
function factorOf(node: Node): Node | undefined {
  const [arg, more] = node.k === 'apply' && !FUNCTION_LETTERS.has(node.name) ? node.args : [];
  if (node.k !== 'apply' || !arg || more || arg.k === 'list') return undefined;
  return node.name === 'E' && some(arg, (n) => n.k === 'sym' && /^[W-Z]$/.test(n.name)) ? undefined : arg;
}

/** Every ± in a value has the same sign at the same time; ∓ the other one. */
function splitPlusMinus(node: Node): Node {
  if (!some(node, (n) => n.k === 'pm')) return node;
  if (node.k === 'list' || node.k === 'set') {
    const items = node.items.flatMap((item) => {
      const split = splitPlusMinus(item);
      return split.k === 'list' && item.k !== 'list' ? split.items : [split];
    });
    return { ...node, items };
  }
  if (node.k === 'setop') return { ...node, left: splitPlusMinus(node.left), right: splitPlusMinus(node.right) };
  return { k: 'list', items: [chooseSign(node, 1), chooseSign(node, -1)], join: ',' };
}

function chooseSign(node: Node, sign: 1 | -1): Node {
  if (node.k === 'pm') {
    const right = chooseSign(node.right, sign);
    const left = chooseSign(node.left, sign);
    return add([left, node.sign * sign > 0 ? right : neg(right)]);
  }
  return mapChildren(node, (child) => chooseSign(child, sign));
}

function simplify(node: Node): Node {
  const inner = mapChildren(node, simplify);
  const [only, more] = inner.k === 'tuple' || inner.k === 'set' ? inner.items : [];
  if (inner.k === 'tuple' && only && !more && (inner.open === '[' || only.k === 'matrix')) return only;
  if (inner.k === 'set' && only && !more && !inner.explicit) return only;
  if (inner.k === 'ratio') return quotients(inner);
  if (inner.k === 'rel') return assignments(inner) ?? rising(inner);
  if (inner.k === 'call') return inForm(inner);
  return matrixValue(inner) ?? inner;
}

/** Bold is a style; a remainder is the least of its class. */
function inForm(node: Of<'call'>): Node {
  const [first, second] = node.args;
  if (node.name === 'bold' && first) return first;
  if (node.name !== 'pmod' || first?.k !== 'num' || second?.k !== 'num') return node;
  const [u, m] = [first.value, second.value];
  if (u.den !== 1n || m.den !== 1n || m.num <= 0n) return node;
  return call('pmod', num(rational(((u.num % m.num) + m.num) % m.num)), second);
}

/** 3 : 5 is 3/5, and 2 : 4 : 6 is 2 and 3, times the first. */
function quotients(node: Of<'ratio'>): Node {
  const [first, second] = node.items as [Node, Node];
  if (node.items.length === 2) return isZero(second) ? node : { k: 'div', top: first, bottom: second };
  if (isZero(first)) return node;
  return { k: 'ratio', items: node.items.slice(1).map((top) => ({ k: 'div', top, bottom: first })) };
}

/** `(x, y) = (1, 2)` is `x = 1, y = 2`, in this order. */
function assignments({ items, ops }: Of<'rel'>): Node | undefined {
  const [names, values] = [items[0], items.at(-1)];
  if (names?.k !== 'tuple' || values?.k !== 'tuple' || ops.some((op) => op !== '=')) return undefined;
  if (names.items.length !== values.items.length) return undefined;
  const each = names.items.map((name, k): Node => ({ k: 'rel', items: [name, values.items[k]!], ops: ['='] }));
  return { k: 'list', items: each, join: '()' };
}

const TURNED: Readonly<Partial<Record<Relop, Relop>>> = { '>': '<', '>=': '<=' };

/** `a > b ≥ c` is `c ≤ b < a`. */
function rising(node: Of<'rel'>): Node {
  const ops = node.ops.map((op) => TURNED[op]).filter((op) => op !== undefined);
  return ops.length < node.ops.length ? node : { ...node, items: node.items.toReversed(), ops: ops.toReversed() };
}

/** A matrix times numbers, or over one, entry by entry. */
function matrixValue(node: Node): Node | undefined {
  const each = (matrix: Node, f: (cell: Node) => Node): Node | undefined =>
    matrix.k === 'matrix' ? { k: 'matrix', rows: matrix.rows.map((row) => row.map(f)) } : undefined;
  if (node.k === 'neg') return each(node.arg, neg);
  if (node.k === 'div') return each(node.top, (top) => ({ k: 'div', top, bottom: node.bottom }));
  if (node.k !== 'mul') return undefined;
  const [matrix, more] = node.items.filter((n) => n.k === 'matrix');
  if (!matrix || more) return undefined;
  const scalars = node.items.filter((n) => n !== matrix);
  return each(matrix, (cell) => mul([...scalars, cell]));
}
