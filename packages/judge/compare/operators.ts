// Products of matrices and vectors keep their order. Which letters stand for them shows on either side, so both are read
// together: bold ones; and all letters, where these are such capitals alone and nothing is divided. AB is not shown to be BA.

import { call, children, mapChildren, mul, type Node, some } from '../base/ast.ts';

export function withOperators(gold: Node, answer: Node): readonly [Node, Node] {
  const matrices = matricesIn([gold, answer]);
  if (matrices.size === 0) return [gold, answer];
  const rewritten = (node: Node): Node => {
    const inner = mapChildren(node, rewritten);
    if (inner.k !== 'mul') return inner;
    const ordered = inner.items.filter((item) => isMatrix(item, matrices));
    if (ordered.length < 2) return inner;
    return mul([...inner.items.filter((item) => !ordered.includes(item)), call('ordered', ...ordered)]);
  };
  return [rewritten(gold), rewritten(answer)];
}

const MAY_BE_MATRIX = /^[ABCDMNPQSTUVXY]$/;

function matricesIn(sides: readonly Node[]): ReadonlySet<string> {
  const [all, bold] = [new Set<string>(), new Set<string>()];
  let isDivided = false;
  for (const side of sides)
    some(side, (node) => {
      if (node.k === 'sym') all.add(node.name);
      if (node.k === 'call' && node.name === 'bold' && node.args[0]?.k === 'sym') bold.add(node.args[0].name);
      isDivided ||= node.k === 'div';
      return false;
    });
  return !isDivided && [...all].every((name) => MAY_BE_MATRIX.test(name)) ? all : bold;
}

/** A determinant, a quotient or a function's value is a number. */
function isMatrix(node: Node, matrices: ReadonlySet<string>): boolean {
  if (node.k === 'sym') return matrices.has(node.name);
  if (node.k === 'div' || node.k === 'apply') return false;
  if (node.k === 'call' && !/^(?:bold|index|ordered)$/.test(node.name)) return false;
  return children(node).some((child) => isMatrix(child, matrices));
}
