// Reads a final answer into a tree: lists of relations of sums of products. Recursive descent without
// backtracking, so linear in length; the leaves are in parse-primary.ts. Throws Unparsed or TooBig, nothing else.

import { add, call, int, type Join, mul, neg, type Node, num, type Of, type Relop, times } from '../base/ast.ts';
import { accept, acceptCmd, type Cursor, expect, isCmd, isSign, nested, peek, shallow, take } from './cursor.ts';
import { type Commas, tokenize } from './tokens.ts';
import { LIMITS, TooBig, Unparsed } from '../base/limits.ts';
import { parseCommand } from './parse-command.ts';
import { congruence, isPlainNumber, isWord, leads, parseWords, relop, vectorProduct } from './parse-words.ts';
import { mixedNumber, parsePostfix, startsPrimary } from './parse-primary.ts';
import * as Q from '../base/rational.ts';
import { familyIn } from './running.ts';
import { inward, respell } from './spelling.ts';
import { leadsTo } from './harmless-words.ts';

import { unitOf, unitPhrase } from './unit-words.ts';

export function parseAnswer(text: string, commas: Commas = 'thousands'): Node {
  const all = tokenize(inward(respell(text)), commas);
  const family = familyIn(all);
  return family ? { k: 'family', body: parseTokens(family.tokens), over: family.over } : parseTokens(all);
}

function parseTokens(tokens: Cursor['tokens']): Node {
  const rules = { parseList, parseRelation, parseSum, parseProduct, parseFactor, parsePostfix, parseCommand };
  const cursor: Cursor = { tokens, at: 0, depth: 0, bars: 0, ...rules };
  let led = '';
  while (leads(cursor) && cursor.at < tokens.length - 1) {
    led += ` ${take(cursor).v.toLowerCase()}`;
    if (accept(cursor, ':')) led += ' :';
  }
  if (accept(cursor, '=', ':')) led += ' =';
  else if (!leadsTo(led)) throw new Unparsed('words that change the value');
  acceptCmd(cursor, ...IMPLIES);
  const node = parseList(cursor);
  if (/\beither\b/.test(led) && !(node.k === 'list' && node.join === 'or')) throw new Unparsed('either, and no or');
  while (peek(cursor)?.t === 'newline') cursor.at++;
  // One sign may end the sentence; `2…` and `5?` say something else.
  accept(cursor, '.', ',', ';');
  if (cursor.at < tokens.length) throw new Unparsed(`unexpected ${peek(cursor)?.v ?? ''}`);
  return shallow(node);
}

function parseList(c: Cursor): Node {
  return nested(c, () => {
    const groups: Node[][] = [[]];
    let join: Join = ',';
    let total = 0;
    while (startsItem(c)) {
      groups.at(-1)!.push(parseRelation(c));
      if (++total > LIMITS.items) throw new TooBig('too many items');
      const before = c.at;
      for (;;) {
        const token = peek(c);
        const isLogic = isCmd(token, 'land', 'wedge', 'lor', 'vee');
        if (isLogic && groups.at(-1)?.at(-1)?.k !== 'rel') throw new Unparsed('an operation of logic');
        if (isSign(token, ';')) groups.push([]);
        else if (isWord(token, 'and') || isCmd(token, 'land', 'wedge', 'And')) join = 'and';
        else if (isWord(token, 'or') || isCmd(token, 'lor', 'vee')) join = 'or';
        else if (token?.t !== 'newline' && !isSign(token, ',')) break;
        c.at++;
      }
      if (c.at === before) break;
    }
    const lists = groups
      .filter((group) => group.length > 0)
      .map((items): Node => (items.length === 1 ? items[0]! : { k: 'list', items, join }));
    return lists.length === 1 ? lists[0]! : { k: 'list', items: lists, join };
  });
}

function startsItem(c: Cursor): boolean {
  const token = peek(c);
  return (
    token !== undefined && (startsPrimary(c) || isSign(token, '+', '-') || isCmd(token, 'pm', 'mp', 'lnot', 'neg'))
  );
}

const IMPLIES = ['implies', 'Rightarrow', 'Longrightarrow', 'iff', 'Leftrightarrow'] as const;

function parseRelation(c: Cursor): Node {
  const items: Node[] = [parseSetExpression(c)];
  const ops: Relop[] = [];
  for (;;) {
    // The conclusion is the answer; from a value nothing follows.
    if (ops.length > 0 && acceptCmd(c, ...IMPLIES)) return nested(c, () => parseRelation(c));
    const op = relop(peek(c));
    if (!op) break;
    c.at++;
    const item = parseSetExpression(c);
    items.push(op === '==mod' ? congruence(item) : item);
    ops.push(op);
  }
  return items.length === 1 && items[0] ? items[0] : { k: 'rel', items, ops };
}

const SET_OPERATORS = {
  cup: ['cup', 'bigcup'],
  cap: ['cap', 'bigcap'],
  setminus: ['setminus', 'backslash', 'smallsetminus'],
} as const;

function parseSetExpression(c: Cursor): Node {
  let left = parseRatio(c);
  for (;;) {
    const op = (['cup', 'cap', 'setminus'] as const).find((name) => acceptCmd(c, ...SET_OPERATORS[name]));
    if (!op) return left;
    left = { k: 'setop', op, left, right: parseRatio(c) };
  }
}

function parseRatio(c: Cursor): Node {
  const items = [parseSum(c)];
  while (accept(c, ':')) items.push(parseSum(c));
  return items.length === 1 ? items[0]! : { k: 'ratio', items };
}

function parseSum(c: Cursor): Node {
  return nested(c, () => {
    let items = plusMinus(c) ? [int(0)] : [parseSigned(c)];
    for (;;) {
      const sign = plusMinus(c);
      const modulo = moduloAhead(c);
      if (sign) {
        c.at++;
        items = [{ k: 'pm', left: add(items), right: parseProduct(c), sign }];
      } else if (modulo) {
        c.at += modulo.length;
        items = [call(modulo.name, add(items), signedFactor(c))];
        if (modulo.length === 2) expect(c, ')');
      } else if (accept(c, '+')) items.push(parseSigned(c));
      else if (accept(c, '-')) items.push(neg(parseSigned(c)));
      else return add(items);
    }
  });
}

const plusMinus = (c: Cursor): 1 | -1 | undefined => (isCmd(peek(c), 'pm') ? 1 : isCmd(peek(c), 'mp') ? -1 : undefined);

/** A remainder is of the whole sum before it: `7 + 5 mod 3`, `-1 \pmod{5}`, `4 (mod 5)`. */
function moduloAhead(c: Cursor): { readonly name: 'mod' | 'pmod'; readonly length: 1 | 2 } | undefined {
  const isMod = (ahead: number): boolean => isCmd(peek(c, ahead), 'mod', 'bmod') || isWord(peek(c, ahead), 'mod');
  if (isMod(0)) return { name: 'mod', length: 1 };
  if (isCmd(peek(c), 'pmod', 'pod')) return { name: 'pmod', length: 1 };
  return isSign(peek(c), '(') && isMod(1) ? { name: 'pmod', length: 2 } : undefined;
}

const parseSigned = (c: Cursor): Node => signed(c, parseProduct);
const signedFactor = (c: Cursor): Node => nested(c, () => signed(c, parseFactor));

function signed(c: Cursor, rule: (c: Cursor) => Node): Node {
  let negative = false;
  while (isSign(peek(c), '+', '-')) if (take(c).v === '-') negative = !negative;
  const node = rule(c);
  return negative ? neg(node) : node;
}

function parseProduct(c: Cursor): Node {
  let left = parseFactor(c);
  let unit: string | undefined;
  for (;;) {
    const token = peek(c);
    if (accept(c, '*') || acceptCmd(c, 'cdot', 'times', 'ast', 'cdotp')) {
      const right = signedFactor(c);
      left = vectorProduct(left, right, token) ?? times(left, right);
    } else if (accept(c, '/') || acceptCmd(c, 'div', 'slash')) {
      left = { k: 'div', top: left, bottom: signedFactor(c) };
    } else if (moduloAhead(c)) {
      return left;
    } else if (left.k === 'unit' && startsSmallerUnit(c, left.unit)) {
      left = inSmallerUnit(c, left);
    } else if (token?.t === 'text' || token?.t === 'word') {
      const after = parseWords(c, left);
      if (!after) return left;
      left = after;
    } else if (startsUnit(c) && isPlainNumber(left) && (unit = unitPhrase(c, true)) !== undefined) {
      left = { k: 'unit', arg: left, unit, strong: false };
    } else if (startsPrimary(c)) {
      // `5 6` are two numbers and no product.
      if (token?.t === 'num' && peek(c, -1)?.t === 'num' && !isSign(peek(c, -2), '^', '_'))
        throw new Unparsed('two numbers side by side');
      left = times(left, parseFactor(c));
    } else return left;
  }
}

const startsUnit = (c: Cursor): boolean => peek(c)?.t === 'id' || isCmd(peek(c), 'frac', 'dfrac', 'tfrac');

const betweenUnits = (c: Cursor): number => (isWord(peek(c), 'and') || isSign(peek(c), ',') ? 1 : 0);

/** Is what follows a part of the same quantity, in a smaller unit? `5 m, 3 cm` are two lengths. */
function startsSmallerUnit(c: Cursor, unit: string): boolean {
  const gap = betweenUnits(c);
  const [number, word] = [peek(c, gap), peek(c, gap + 1)];
  if (number?.t !== 'num' || !word || !['text', 'word', 'id'].includes(word.t)) return false;
  const [big, small] = [unitOf(unit), unitOf(word.v)];
  if (big.dimension === '' || big.dimension !== small.dimension) return false;
  return Q.compare(small.factor, big.factor) < 0 && (gap === 0 || big.dimension === 'time^1' || isWord(peek(c), 'and'));
}

function inSmallerUnit(c: Cursor, left: Of<'unit'>): Node {
  c.at += betweenUnits(c);
  const right = parseProduct(c);
  if (right.k !== 'unit') throw new Unparsed('a unit is missing');
  const ratio = Q.div(unitOf(left.unit).factor, unitOf(right.unit).factor);
  return { ...right, arg: add([mul([left.arg, num(ratio)]), right.arg]), strong: true };
}

/** One factor with its powers; a whole number and a proper fraction behind it are one mixed number. */
const parseFactor = (c: Cursor): Node => parsePostfix(c, mixedNumber(c));
