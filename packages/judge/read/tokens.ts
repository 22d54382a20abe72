// Cuts a final answer into tokens: numbers, letters, words, commands, texts and signs; and the parser's place in them. Linear;
// spacing and styling are dropped here. Thousands separators and decimal commas are settled here, because they are spelling
// and not structure.

import { isShallow, type Node } from '../base/ast.ts';
import { LIMITS, TooBig, Unparsed } from '../base/limits.ts';
import { BOLD, FUNCTION_NAMES, FUNCTIONS, IGNORED, TEXT_COMMANDS } from './vocabulary.ts';

type TokenType = 'num' | 'id' | 'word' | 'cmd' | 'text' | 'sign' | 'newline' | 'begin' | 'end';

export interface Token {
  readonly t: TokenType;
  readonly v: string;
  /** A blank stood before it. */
  readonly sp: boolean;
}

/** What a comma parts at top level: `1,234` thousands, `1,22` the digits behind the point, or items alone. */
export type Commas = 'thousands' | 'decimals' | 'items';

const NUMBER = /(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d{1,5}(?![\d.a-zA-Z]))?/y;
// `1{,}5` is a decimal comma: no three digits follow.
const FORCED_COMMA = /\d+\{,\}\d+(?!\d|\{)/y;
const FORCED_GROUP = /\d{1,3}(?:(?:\{,\}|,\\!|\\,|\\ |~|,\\,|\u2009|\u202f|')\s*\d{3})+(?!\d)(?:\.\d+)?/y;
const COMMA_GROUP = /[1-9]\d{0,2}(?:,\d{3})+(?![\d]|,\d)(?:\.\d+)?/y;
const BLANK_GROUP = /[1-9]\d{0,2}(?: \d{3})+(?!\d| \d)(?:\.\d+)?/y;
const DECIMAL_COMMA = /\d+,\d+/y;
const WORD = /[A-Za-z]+/y;
/** A word of another alphabet, or with a letter of one: `Äpfel`, `яблок`, `厘米`. */
const FOREIGN_WORD = /(?=[A-Za-z]{0,20}[À-ÖØ-öø-žЀ-ӿ])[A-Za-zÀ-ÖØ-öø-žЀ-ӿ]{3,30}|\p{Script=Han}{1,8}/uy;

/** The text, and what was read of it. */
interface Scan {
  readonly text: string;
  readonly commas: Commas;
  readonly tokens: Token[];
  at: number;
  /** A blank was read since the last token. */
  sp: boolean;
  /** Open brackets, and braces that are no arguments. */
  depth: number;
  /** One for each open brace: it is counted in `depth`. */
  readonly braces: boolean[];
  environments: number;
}

export function tokenize(text: string, commas: Commas): Token[] {
  if (text.length > LIMITS.candidateChars) throw new TooBig('the answer is too long');
  const scan: Scan = { text, commas, tokens: [], at: 0, sp: false, depth: 0, braces: [], environments: 0 };
  const isForeign = /[À-ÖØ-öø-žЀ-ӿ\p{Script=Han}]/u.test(text);
  while (scan.at < text.length) {
    const c = text[scan.at] ?? '';
    if (c <= ' ' || c === '~' || c === '\u00a0') {
      scan.sp = true;
      scan.at++;
    } else if ((c >= '0' && c <= '9') || (c === '.' && /\d/.test(text[scan.at + 1] ?? ''))) readNumber(scan);
    else if (isForeign && match(scan, FOREIGN_WORD) !== undefined)
      pushRead(scan, 'word', match(scan, FOREIGN_WORD) ?? c);
    else if (/[A-Za-z]/.test(c)) {
      const run = match(scan, WORD) ?? c;
      // "1 or W(x)" may be glued together.
      const word = /^(or|and)(?=[A-Z])/.exec(run)?.[0] ?? run;
      pushRead(scan, word.length === 1 ? 'id' : 'word', word);
    } else if (c === '\\') readBackslash(scan);
    else readSign(scan, c);
  }
  return scan.tokens;
}

function push(scan: Scan, t: TokenType, v: string): void {
  scan.tokens.push({ t, v, sp: scan.sp });
  if (scan.tokens.length > LIMITS.tokens) throw new TooBig('too many tokens');
  scan.sp = false;
}

/** The token is `read` itself, or what it is spelled as. */
function pushRead(scan: Scan, t: TokenType, read: string, v = read): void {
  scan.at += read.length;
  push(scan, t, v);
}

function match({ text, at }: Scan, pattern: RegExp): string | undefined {
  pattern.lastIndex = at;
  return pattern.exec(text)?.[0];
}

function readNumber(scan: Scan): void {
  const isTop = scan.depth === 0;
  const grouped =
    match(scan, FORCED_GROUP) ??
    (isTop && scan.commas !== 'items' ? (match(scan, COMMA_GROUP) ?? match(scan, BLANK_GROUP)) : undefined);
  if (grouped !== undefined)
    return pushRead(scan, 'num', grouped, grouped.replace(/\{,\}|\\!|\\,|\\ |[~,\s'\u2009\u202f]/g, ''));
  const comma =
    match(scan, FORCED_COMMA) ?? (isTop && scan.commas === 'decimals' ? match(scan, DECIMAL_COMMA) : undefined);
  if (comma !== undefined) return pushRead(scan, 'num', comma, comma.replace(/\{?,\}?/, '.'));
  const digits = match(scan, NUMBER) ?? scan.text[scan.at]!;
  if (digits.length > LIMITS.digits) throw new TooBig('too many digits');
  pushRead(scan, 'num', digits);
}

function readBackslash(scan: Scan): void {
  const { text } = scan;
  const name = readCommand(text, scan.at + 1);
  if (name === '\\') {
    // A doubled backslash before a letter is an escaped command, unless rows are being separated.
    if (scan.environments === 0 && /[A-Za-z{}]/.test(text[scan.at + 2] ?? '')) scan.at += 1;
    else pushRead(scan, 'newline', '\\\\');
    return;
  }
  scan.at += 1 + name.length;
  if (name === 'begin' || name === 'end') readEnvironment(scan, name);
  else if (TEXT_COMMANDS.has(name) && text[skipBlanks(text, scan.at)] === '{' && !isBoldLetter(name, text, scan.at))
    readText(scan, name);
  else if (name === 'left' || name === 'right') {
    if (text[scan.at] === '.') scan.at++;
  } else if (name === ' ' || name === '') {
    scan.sp = true;
  } else if (IGNORED.has(name)) {
    scan.sp = true;
    if (/^(?:[hv]space|[hv]?phantom|label|tag)$/.test(name) && text[scan.at] === '{')
      scan.at = braced(text, scan.at).end;
  } else {
    // `5 \\Omega` are ohms.
    const isOhm = /^(?:Omega|ohm)$/.test(name) && scan.tokens.at(-1)?.t === 'num';
    push(scan, isOhm ? 'text' : 'cmd', isOhm ? 'Ω' : name);
    if (name === '{') scan.depth++;
    if (name === '}') scan.depth--;
  }
}

function readEnvironment(scan: Scan, name: 'begin' | 'end'): void {
  const { content, end } = braced(scan.text, scan.at);
  scan.at = end;
  scan.environments += name === 'begin' ? 1 : -1;
  push(scan, name, content.replace(/\*$/, ''));
  if (name === 'end' || !/^(array|tabular)$/.test(content)) return;
  scan.at = skipBlanks(scan.text, scan.at);
  if (scan.text[scan.at] === '{') scan.at = braced(scan.text, scan.at).end;
}

function readText(scan: Scan, name: string): void {
  const { content, end } = braced(scan.text, skipBlanks(scan.text, scan.at));
  scan.at = end;
  const plain = content.trim();
  const isKnown = /^(?:operatorname|mathrm)$/.test(name) && (FUNCTIONS.has(plain) || FUNCTION_NAMES.has(plain));
  // An operator that nobody knows is no product.
  const isApplied =
    name === 'operatorname' && /^[a-z]{2,}$/.test(plain) && /^\s*[_(^]/.test(scan.text.slice(end, end + 4));
  if (isKnown || isApplied) push(scan, 'cmd', plain);
  else push(scan, 'text', content);
}

function readSign(scan: Scan, c: string): void {
  const { tokens, braces } = scan;
  const two = c + (scan.text[scan.at + 1] ?? '');
  // `6!=720`
  const isFactorial = two === '!=' && !scan.sp && /^(?:[)}\]]$|\d)/.test(tokens.at(-1)?.v ?? '');
  if (two === '<=' || two === '>=' || (two === '!=' && !isFactorial) || two === '==' || two === '**')
    return pushRead(scan, 'sign', two, two === '**' ? '^' : two === '==' ? '=' : two);
  if (c === '{') braces.push(!isArgument(tokens));
  if (c === '(' || c === '[' || (c === '{' && braces.at(-1))) scan.depth++;
  if (c === ')' || c === ']' || (c === '}' && braces.pop())) scan.depth = Math.max(0, scan.depth - 1);
  pushRead(scan, 'sign', c);
}

/** `\\mathbf{A}` is a letter that may be a matrix or a vector; other bold is text. */
const isBoldLetter = (name: string, text: string, at: number): boolean =>
  BOLD.has(name) && /^\s*\{\s*[A-Za-z]\s*\}/.test(text.slice(at, at + 12));

/** A brace after a command, a power, an index or another brace is an argument and not a set. */
function isArgument(tokens: readonly Token[]): boolean {
  const last = tokens.at(-1);
  return last !== undefined && (last.t === 'cmd' || '^_}]'.includes(last.v));
}

function skipBlanks(text: string, at: number): number {
  let i = at;
  while (text[i] === ' ') i++;
  return i;
}

function readCommand(text: string, at: number): string {
  WORD.lastIndex = at;
  const name = WORD.exec(text)?.[0] ?? text[at] ?? '';
  // A letter glued to a blank: `\quadx`.
  return /^q?quad(?=[a-zA-Z])/.exec(name)?.[0] ?? name;
}

function braced(text: string, open: number): { content: string; end: number } {
  if (text[open] !== '{') throw new Unparsed('a brace is missing');
  let depth = 0;
  for (let i = open; i < text.length; i++) {
    if (text[i] === '\\') i++;
    else if (text[i] === '{') depth++;
    else if (text[i] === '}' && --depth === 0) return { content: text.slice(open + 1, i), end: i + 1 };
  }
  throw new Unparsed('a brace is not closed');
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
