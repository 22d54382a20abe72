// Cuts a final answer into tokens: numbers, letters, words, commands, texts and signs; and the parser's place in them. Linear;
// spacing and styling are dropped here. Thousands separators and decimal commas are settled here, because they are spelling
// and not structure.

import { isShallow, type Node } from '../ast.ts';
import { LIMITS, TooBig, Unparsed } from '../limits.ts';
import { BOLD, FUNCTION_NAMES, FUNCTIONS, IGNORED, TEXT_COMMANDS } from './vocabulary.ts';

type TokenType = 'num' | 'id' | 'word' | 'cmd' | 'text' | 'sign' | 'newline' | 'begin' | 'end';

export interface Token {
  readonly t: TokenType;
  readonly v: string;
  /** A blank stood before it. */
  readonly sp: boolean;
}

export interface Reading {
  /** Reads `1,234` at top level as one number. */
  readonly grouping: boolean;
  /** Reads `1,22` as the decimal 1.22. */
  readonly decimalComma: boolean;
}

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

export function tokenize(source: string, reading: Reading): Token[] {
  if (source.length > LIMITS.candidateChars) throw new TooBig('the answer is too long');
  const text = source;
  const tokens: Token[] = [];
  let at = 0;
  let sp = false;
  let depth = 0;
  const braces: boolean[] = [];
  const isForeign = /[À-ÖØ-öø-žЀ-ӿ\p{Script=Han}]/u.test(text);
  let environments = 0;
  const push = (t: TokenType, v: string): void => {
    tokens.push({ t, v, sp });
    if (tokens.length > LIMITS.tokens) throw new TooBig('too many tokens');
    sp = false;
  };
  const match = (pattern: RegExp): string | undefined => {
    pattern.lastIndex = at;
    return pattern.exec(text)?.[0];
  };
  const number = (raw: string): void => {
    at += raw.length;
    if (raw.length > LIMITS.digits) throw new TooBig('too many digits');
    push('num', raw);
  };
  while (at < text.length) {
    const c = text[at] ?? '';
    if (c <= ' ' || c === '~' || c === '\u00a0') {
      sp = true;
      at++;
    } else if ((c >= '0' && c <= '9') || (c === '.' && /\d/.test(text[at + 1] ?? ''))) {
      const forced = match(FORCED_GROUP);
      const grouped =
        forced ?? (depth === 0 && reading.grouping ? (match(COMMA_GROUP) ?? match(BLANK_GROUP)) : undefined);
      const comma =
        (grouped ? undefined : match(FORCED_COMMA)) ??
        (!grouped && reading.decimalComma && depth === 0 ? match(DECIMAL_COMMA) : undefined);
      if (grouped) {
        at += grouped.length;
        push('num', grouped.replace(/\{,\}|\\!|\\,|\\ |[~,\s'\u2009\u202f]/g, ''));
      } else if (comma) {
        at += comma.length;
        push('num', comma.replace(/\{?,\}?/, '.'));
      } else {
        number(match(NUMBER) ?? c);
      }
    } else if (isForeign && match(FOREIGN_WORD) !== undefined) {
      const word = match(FOREIGN_WORD) ?? c;
      at += word.length;
      push('word', word);
    } else if (/[A-Za-z]/.test(c)) {
      const run = match(WORD) ?? c;
      // "1 or W(x)" may be glued together.
      const word = /^(or|and)(?=[A-Z])/.exec(run)?.[0] ?? run;
      at += word.length;
      push(word.length === 1 ? 'id' : 'word', word);
    } else if (c === '\\') {
      const name = readCommand(text, at + 1);
      if (name === '\\') {
        const next = text[at + 2] ?? '';
        // A doubled backslash before a letter is an escaped command, unless rows are being separated.
        if (environments === 0 && /[A-Za-z{}]/.test(next)) at += 1;
        else {
          at += 2;
          push('newline', '\\\\');
        }
        continue;
      }
      at += 1 + name.length;
      if (name === 'begin' || name === 'end') {
        const env = braced(text, at);
        at = env.end;
        environments += name === 'begin' ? 1 : -1;
        push(name, env.content.replace(/\*$/, ''));
        if (name === 'begin' && /^(array|tabular)$/.test(env.content)) {
          while (text[at] === ' ') at++;
          if (text[at] === '{') at = braced(text, at).end;
        }
      } else if (TEXT_COMMANDS.has(name) && text[skipBlanks(text, at)] === '{' && !isBoldLetter(name, text, at)) {
        const body = braced(text, skipBlanks(text, at));
        at = body.end;
        const plain = body.content.trim();
        if (/^(?:operatorname|mathrm)$/.test(name) && (FUNCTIONS.has(plain) || FUNCTION_NAMES.has(plain)))
          push('cmd', plain);
        // An operator that nobody knows is no product.
        else if (name === 'operatorname' && /^[a-z]{2,}$/.test(plain) && /^\s*[_(^]/.test(text.slice(at, at + 4)))
          push('cmd', plain);
        else if (name === 'operatorname' && /^[A-Z][a-z]{1,3}$/.test(plain)) push('word', plain);
        else push('text', body.content);
      } else if (name === 'left' || name === 'right') {
        if (text[at] === '.') at++;
      } else if (name === ' ' || name === '') {
        sp = true;
      } else if (IGNORED.has(name)) {
        sp = true;
        if (/^(?:[hv]space|[hv]?phantom|label|tag)$/.test(name) && text[at] === '{') at = braced(text, at).end;
      } else {
        push('cmd', name);
        if (name === '{') depth++;
        if (name === '}') depth--;
      }
    } else {
      at++;
      const two = c + (text[at] ?? '');
      // `6!=720`
      const factorial = two === '!=' && !sp && (tokens.at(-1)?.t === 'num' || isSignOf(tokens.at(-1)));
      if (two === '<=' || two === '>=' || (two === '!=' && !factorial) || two === '==' || two === '**') {
        at++;
        push('sign', two === '**' ? '^' : two === '==' ? '=' : two);
        continue;
      }
      if (c === '{') braces.push(!isArgument(tokens));
      if (c === '(' || c === '[' || (c === '{' && braces.at(-1))) depth++;
      if (c === ')' || c === ']' || (c === '}' && braces.pop())) depth = Math.max(0, depth - 1);
      push('sign', c);
    }
  }
  return tokens;
}

const isSignOf = (token: Token | undefined): boolean => token?.t === 'sign' && /^[)}\]]$/.test(token.v);

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
  readonly parseFactor: (cursor: Cursor) => Node;
  readonly parsePostfix: (cursor: Cursor) => Node;
  readonly parseCommand: (cursor: Cursor, token: Token) => Node;
  readonly startsPrimary: (cursor: Cursor) => boolean;
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
