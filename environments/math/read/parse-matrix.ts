// Matrix and alignment environments: rows of cells. A determinant is a function of its matrix; an alignment
// is a list of its lines.

import { call, type Node } from '../ast.ts';
import { accept, isSign, peek, type Cursor } from './cursor.ts';
import { LIMITS, TooBig, Unparsed } from '../limits.ts';

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
