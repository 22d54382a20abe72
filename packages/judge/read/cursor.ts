// The tokens of a final answer, and the parser's place in them.

import { isShallow, type Node } from '../base/ast.ts';
import { LIMITS, TooBig, Unparsed } from '../base/limits.ts';

export type TokenType = 'num' | 'id' | 'word' | 'cmd' | 'text' | 'sign' | 'newline' | 'begin' | 'end';

export interface Token {
  readonly t: TokenType;
  readonly v: string;
  /** A blank stood before it. */
  readonly sp: boolean;
}

export interface Cursor {
  readonly tokens: Token[];
  at: number;
  depth: number;
  /** Open `|…|`: a bar then closes instead of opening. */
  bars: number;
  // The rules by name, so that the halves of the parser need not import each other.
  readonly parseList: (cursor: Cursor) => Node;
  readonly parseRelation: (cursor: Cursor) => Node;
  readonly parseSum: (cursor: Cursor) => Node;
  readonly parseProduct: (cursor: Cursor) => Node;
  readonly parseFactor: (cursor: Cursor) => Node;
  readonly parsePostfix: (cursor: Cursor) => Node;
  readonly parseCommand: (cursor: Cursor, token: Token) => Node;
}

export const peek = (c: Cursor, ahead = 0): Token | undefined => c.tokens[c.at + ahead];

export function isSign(token: Token | undefined, ...signs: string[]): boolean {
  return token?.t === 'sign' && signs.includes(token.v);
}

export function isCmd(token: Token | undefined, ...names: string[]): boolean {
  return token?.t === 'cmd' && names.includes(token.v);
}

export function take(c: Cursor): Token {
  const token = c.tokens[c.at];
  if (!token) throw new Unparsed('the answer ends too early');
  c.at++;
  return token;
}

export function accept(c: Cursor, ...signs: string[]): boolean {
  if (!isSign(peek(c), ...signs)) return false;
  c.at++;
  return true;
}

export function acceptCmd(c: Cursor, ...names: string[]): boolean {
  if (!isCmd(peek(c), ...names)) return false;
  c.at++;
  return true;
}

export function expect(c: Cursor, sign: string): void {
  if (!accept(c, sign)) throw new Unparsed(`${sign} is missing`);
}

/** `x!!!…`, `\sqrt\sqrt…`, `a ∪ b ∪ …` nest without a bracket, and so without a rule that counts. */
export function shallow<N extends Node>(node: N): N {
  if (!isShallow(node, LIMITS.treeDepth)) throw new TooBig('too deeply nested');
  return node;
}

/** Runs one nested rule; refuses nesting that no answer has. */
export function nested<T>(c: Cursor, rule: () => T): T {
  if (++c.depth > LIMITS.depth) throw new TooBig('too deeply nested');
  const result = rule();
  c.depth--;
  return result;
}
