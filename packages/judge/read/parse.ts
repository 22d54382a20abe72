// Reads a final answer into a tree: lists of relations of sums of products. Recursive descent without
// backtracking, so linear in length; the leaves are in parse-primary.ts. Throws Unparsed or TooBig, nothing else.

import { add, call, int, type Join, mul, neg, type Node, num, type Of, type Relop, times } from '../base/ast.ts';
import {
  accept,
  type Cursor,
  isCmd,
  isSign,
  nested,
  peek,
  type Reading,
  shallow,
  take,
  type Token,
  tokenize,
} from './tokens.ts';
import { LIMITS, TooBig, Unparsed } from '../base/limits.ts';
import { parseCommand } from './parse-command.ts';
import { congruence, vectorProduct } from './parse-names.ts';
import { isPlainNumber, isWord, leads, parseWords, relop } from './parse-words.ts';
import { mixedNumber, parsePostfix, startsPrimary } from './parse-primary.ts';
import * as Q from '../base/rational.ts';
import { familyIn } from './running.ts';
import { respell } from './spelling.ts';
import { leadsTo } from './harmless-words.ts';
import { inward, tidy } from './tidy-tokens.ts';

import { unitOf, unitRun } from './unit-words.ts';

export function parseAnswer(text: string, reading: Reading): Node {
  const all = tidy(tokenize(inward(respell(text)), reading), reading);
  const family = familyIn(all);
  return family ? { k: 'family', body: parseTokens(family.tokens), over: family.over } : parseTokens(all);
}

function parseTokens(tokens: Token[]): Node {
  const rules = { parseList, parseRelation, parseSum, parseFactor, parsePostfix, parseCommand, startsPrimary };
  const cursor: Cursor = { tokens, at: 0, depth: 0, bars: 0, ...rules };
  let led = '';
  while (leads(cursor) && cursor.at < tokens.length - 1) {
    led += ` ${take(cursor).v.toLowerCase()}`;
    if (accept(cursor, ':')) led += ' :';
  }
  if (/\bat (?:least|most)\b|\broots? of$|\b(?:square|cube|negative)\b/.test(led.trim())) throw new Unparsed('a bound');
  if (accept(cursor, '=', ':')) led += ' =';
  else if (!leadsTo(led, startsNumber(cursor))) throw new Unparsed('words that change the value');
  if (isCmd(peek(cursor), 'implies', 'Rightarrow')) cursor.at++;
  const node = parseList(cursor);
  if (/\beither\b/.test(led) && !(node.k === 'list' && node.join === 'or')) throw new Unparsed('either, and no or');
  while (peek(cursor)?.t === 'newline') cursor.at++;
  // One sign may end the sentence; `2…` and `5?` say something else.
  accept(cursor, '.', ',', ';');
  if (cursor.at < tokens.length) throw new Unparsed(`unexpected ${peek(cursor)?.v ?? ''}`);
  return shallow(node);
}

const startsNumber = (c: Cursor): boolean => {
  const at = isSign(peek(c), '-', '+', '(') ? 1 : 0;
  return (
    peek(c, at)?.t === 'num' || isCmd(peek(c, at), 'frac', 'dfrac', 'tfrac', 'sqrt', 'pi') || peek(c, at)?.v === '$'
  );
};

function parseList(c: Cursor): Node {
  return nested(c, () => {
    const groups: Node[][] = [[]];
    let semicolons = false;
    let commas = false;
    let join: Join = ',';
    let total = 0;
    let dangling = false;
    while (startsItem(c)) {
      groups.at(-1)?.push(parseRelation(c));
      if (++total > LIMITS.items) throw new TooBig('too many items');
      let separated = false;
      dangling = false;
      for (;;) {
        const token = peek(c);
        if (isWord(token, 'and', 'or')) dangling = true;
        if (isCmd(token, 'land', 'wedge', 'lor', 'vee') && groups.at(-1)?.at(-1)?.k !== 'rel')
          throw new Unparsed('an operation of logic');
        if (isSign(token, ',')) commas = true;
        else if (isWord(token, 'and') || isCmd(token, 'land', 'wedge', 'And')) join = 'and';
        else if (isWord(token, 'or') || isCmd(token, 'lor', 'vee')) join = 'or';
        else if (isSign(token, ';')) {
          if (!semicolons || (groups.at(-1)?.length ?? 0) > 0) groups.push([]);
          semicolons = true;
        } else if (token?.t !== 'newline') break;
        c.at++;
        separated = true;
      }
      if (!separated) break;
    }
    if (dangling && !startsItem(c)) throw new Unparsed('nothing behind "or"');
    const filled = groups.filter((group) => group.length > 0);
    const lists: Node[] = filled.map((items) =>
      items.length === 1 && items[0] ? items[0] : { k: 'list', items, join },
    );
    if (lists.length === 1 && lists[0]) return lists[0];
    if (semicolons && !commas)
      return { k: 'list', items: lists.flatMap((n) => (n.k === 'list' ? n.items : [n])), join };
    return { k: 'list', items: lists, join };
  });
}

function startsItem(c: Cursor): boolean {
  const token = peek(c);
  return (
    token !== undefined && (startsPrimary(c) || isSign(token, '+', '-') || isCmd(token, 'pm', 'mp', 'lnot', 'neg'))
  );
}

function parseRelation(c: Cursor): Node {
  const items: Node[] = [parseSetExpression(c)];
  const ops: Relop[] = [];
  for (;;) {
    let op = relop(peek(c));
    if (isCmd(peek(c), 'not') && relop(peek(c, 1))) {
      c.at++;
      op = relop(peek(c)) === 'in' ? 'notin' : '!=';
    }
    if (isCmd(peek(c), 'implies', 'Rightarrow', 'Longrightarrow', 'iff', 'Leftrightarrow')) {
      // The conclusion is the answer; from a value nothing follows.
      if (ops.length === 0) throw new Unparsed('a value implies nothing');
      c.at++;
      items.length = 0;
      ops.length = 0;
      items.push(parseSetExpression(c));
      continue;
    }
    if (!op) break;
    c.at++;
    // `<` and `>` can be followed by `=` as a sign of its own.
    if (accept(c, '=')) op = op === '<' ? '<=' : op === '>' ? '>=' : op;
    const item = parseSetExpression(c);
    items.push(op === '==mod' ? congruence(item) : item);
    ops.push(op);
  }
  return items.length === 1 && items[0] ? items[0] : { k: 'rel', items, ops };
}

function parseSetExpression(c: Cursor): Node {
  let left = parseRatio(c);
  for (;;) {
    const token = peek(c);
    if (isCmd(token, 'cup', 'bigcup')) {
      c.at++;
      left = { k: 'setop', op: 'cup', left, right: parseRatio(c) };
    } else if (isCmd(token, 'cap', 'bigcap')) {
      c.at++;
      left = { k: 'setop', op: 'cap', left, right: parseRatio(c) };
    } else if (isCmd(token, 'setminus', 'backslash', 'smallsetminus')) {
      c.at++;
      left = { k: 'setop', op: 'setminus', left, right: parseRatio(c) };
    } else return left;
  }
}

function parseRatio(c: Cursor): Node {
  const first = parseSum(c);
  if (!isSign(peek(c), ':') && !isCmd(peek(c), 'colon')) return first;
  const items = [first];
  while (isSign(peek(c), ':') || isCmd(peek(c), 'colon')) {
    c.at++;
    items.push(parseSum(c));
  }
  return { k: 'ratio', items };
}

function parseSum(c: Cursor): Node {
  return nested(c, () => {
    let left: Node;
    const sign = plusMinus(peek(c));
    if (sign) {
      c.at++;
      left = { k: 'pm', left: int(0), right: parseProduct(c), sign };
    } else left = parseSigned(c);
    let items = [left];
    for (;;) {
      const between = plusMinus(peek(c));
      if (between) {
        c.at++;
        items = [{ k: 'pm', left: add(items), right: parseProduct(c), sign: between }];
      } else if (accept(c, '+')) items.push(parseSigned(c));
      else if (accept(c, '-')) items.push(neg(parseSigned(c)));
      else return add(items);
    }
  });
}

function plusMinus(token: Token | undefined): 1 | -1 | undefined {
  return isCmd(token, 'pm') ? 1 : isCmd(token, 'mp') ? -1 : undefined;
}

function parseSigned(c: Cursor): Node {
  let negative = false;
  while (isSign(peek(c), '+', '-')) if (take(c).v === '-') negative = !negative;
  const product = parseProduct(c);
  return negative ? neg(product) : product;
}

function parseProduct(c: Cursor): Node {
  let left = parseFactor(c);
  let unit: string | undefined;
  for (;;) {
    const token = peek(c);
    if (isSign(token, '*') || isCmd(token, 'cdot', 'times', 'ast', 'cdotp')) {
      c.at++;
      const right = signedFactor(c);
      left = vectorProduct(left, right, token) ?? times(left, right);
    } else if (isSign(token, '/') || isCmd(token, 'div', 'slash')) {
      c.at++;
      left = { k: 'div', top: left, bottom: signedFactor(c) };
    } else if (isCmd(token, 'bmod', 'mod') || (token?.t === 'word' && token.v === 'mod')) {
      c.at++;
      left = call('mod', left, signedFactor(c));
    } else if (isSign(token, '(') && (isCmd(peek(c, 1), 'mod', 'bmod') || isWord(peek(c, 1), 'mod'))) {
      c.at += 2;
      left = call('pmod', left, parseFactor(c));
      if (!accept(c, ')')) throw new Unparsed('( is not closed');
    } else if (isCmd(token, 'pmod', 'pod')) {
      c.at++;
      left = call('pmod', left, parseFactor(c));
    } else if (left.k === 'unit' && startsSmallerUnit(c, left.unit)) {
      left = inSmallerUnit(c, left);
    } else if (token?.t === 'text' || token?.t === 'word') {
      const after = parseWords(c, left);
      if (!after) return left;
      left = after;
    } else if (startsUnit(token) && isPlainNumber(left) && (unit = unitRun(c)) !== undefined) {
      left = { k: 'unit', arg: left, unit, strong: false };
    } else if (startsPrimary(c)) {
      // `5 6` are two numbers and no product.
      if (token?.t === 'num' && peek(c, -1)?.t === 'num' && !isSign(peek(c, -2), '^', '_'))
        throw new Unparsed('two numbers side by side');
      left = times(left, parseFactor(c));
    } else return left;
  }
}

const startsUnit = (token: Token | undefined): boolean => token?.t === 'id' || isCmd(token, 'frac', 'dfrac', 'tfrac');

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

const signedFactor = (c: Cursor): Node =>
  nested(c, () => {
    let negative = false;
    while (isSign(peek(c), '+', '-')) if (take(c).v === '-') negative = !negative;
    const factor = parseFactor(c);
    return negative ? neg(factor) : factor;
  });

/** One factor with its powers; a whole number and a proper fraction behind it are one mixed number. */
function parseFactor(c: Cursor): Node {
  const mixed = mixedNumber(c);
  return parsePostfix(c, mixed);
}
