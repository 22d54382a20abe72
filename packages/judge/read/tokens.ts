// Cuts a final answer into tokens: numbers, letters, words, commands, texts and signs. Linear. What is spelling and not structure is settled
// here: spacing and styling, thousands separators and decimal commas, dollars that are money, and `\text{…}` that is a separator, a letter,
// a unit, or mathematics of its own.

import { LIMITS, TooBig, Unparsed } from '../base/limits.ts';
import { isCmd, isSign, type Token, type TokenType } from './cursor.ts';
import { isUnit, unitOf } from './unit-words.ts';
import { BOLD, FUNCTION_NAMES, FUNCTIONS, GREEK, IGNORED, isMatrix, TEXT_COMMANDS } from './vocabulary.ts';

/** What a comma parts at top level: `1,234` thousands, `1,22` the digits behind the point, or items alone. */
export type Commas = 'thousands' | 'decimals' | 'items';

const NUMBER = /\d*\.\d*\\(?:overline|bar)\{\d{1,40}\}|(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d{1,5}(?![\d.a-zA-Z]))?/y;
// `1{,}5` is a decimal comma: no three digits follow.
const FORCED_COMMA = /\d+\{,\}\d+(?!\d|\{)/y;
const FORCED_GROUP = /\d{1,3}(?:(?:\{,\}|,\\!|\\,|\\ |~|,\\,|\u2009|\u202f|')\s*\d{3})+(?!\d)(?:\.\d+)?/y;
const COMMA_GROUP = /[1-9]\d{0,2}(?:,\d{3})+(?![\d]|,\d)(?:\.\d+)?/y;
const BLANK_GROUP = /[1-9]\d{0,2}(?: \d{3})+(?!\d| \d)(?:\.\d+)?/y;
const DECIMAL_COMMA = /\d+,\d+/y;
const COMMAND = /[A-Za-z]+/y;
/** Letters of Latin and Cyrillic, with their accents, or Chinese signs: `apples`, `Äpfel`, `яблок`, `厘米`. */
const WORD = /[A-Za-zÀ-ÖØ-öø-žЀ-ӿ]+|\p{Script=Han}{1,8}/uy;
const OPEN_BRACE = / *\{/y;

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
  /** Open environments whose `&` part cells. */
  matrices: number;
  /** Dollars in pairs are delimiters; a single one is a currency. */
  readonly isMoney: boolean;
}

export function tokenize(text: string, commas: Commas): Token[] {
  if (text.length > LIMITS.candidateChars) throw new TooBig('the answer is too long');
  const isMoney = (text.match(/(?<!\\)\$/g) ?? []).length % 2 === 1;
  const open = { depth: 0, braces: [], environments: 0, matrices: 0 };
  const scan: Scan = { text, commas, tokens: [], at: 0, sp: false, ...open, isMoney };
  while (scan.at < text.length) {
    const c = text[scan.at] ?? '';
    if (c <= ' ' || c === '~' || c === '\u00a0') {
      scan.sp = true;
      scan.at++;
    } else if ((c >= '0' && c <= '9') || (c === '.' && /\d/.test(text[scan.at + 1] ?? ''))) readNumber(scan);
    else if (c === '\\') readBackslash(scan);
    else {
      const run = /[A-Za-z\u00c0-\uffff]/.test(c) ? match(scan, WORD) : undefined;
      if (run === undefined) readSign(scan, c);
      else readLetters(scan, run);
    }
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

function readLetters(scan: Scan, run: string): void {
  const { tokens } = scan;
  const last = tokens.at(-1);
  // "1 or W(x)" may be glued together.
  const word = /^(or|and)(?=[A-Z])/.exec(run)?.[0] ?? run;
  // "x is 5" says x = 5.
  const isNamed = (): boolean => last?.t === 'id' || /^[A-Z]+$/.test(last?.v ?? '') || GREEK.has(last?.v ?? '');
  if (/^(?:is|equals)$/i.test(word) && isNamed()) pushRead(scan, 'sign', word, '=');
  else if (word === 'x' && last?.t === 'num' && isTimes(scan)) pushRead(scan, 'sign', word, '*');
  else pushRead(scan, /^[A-Za-z]$/.test(word) ? 'id' : 'word', word);
}

/** `3.2 x 10^5` and `9 x $2 = $18` multiply. */
function isTimes({ text, at, sp }: Scan): boolean {
  const behind = text.slice(at + 1, at + 12);
  return /^\s*10\s*\^/.test(behind) || (sp && /^\s*\\?\$?\s*\.?\d/.test(behind) && text.includes('='));
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
  else if (TEXT_COMMANDS.has(name) && match(scan, OPEN_BRACE) && !isBoldLetter(name, text, scan.at))
    readText(scan, name);
  else if (name === 'left' || name === 'right') {
    if (text[scan.at] === '.') scan.at++;
  } else if (name === ' ' || name === '') {
    scan.sp = true;
  } else if (IGNORED.has(name)) {
    scan.sp = true;
    if (/^(?:[hv]space|[hv]?phantom|label|tag)$/.test(name) && text[scan.at] === '{')
      scan.at = braced(text, scan.at).end;
  } else if (name === '$') push(scan, 'text', '$');
  else if (!/^[()[\]]$/.test(name)) {
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
  const step = name === 'begin' ? 1 : -1;
  scan.environments += step;
  if (isMatrix(content)) scan.matrices += step;
  push(scan, name, content.replace(/\*$/, ''));
  if (name === 'end' || !/^(array|tabular)$/.test(content)) return;
  if (match(scan, OPEN_BRACE)) scan.at = braced(scan.text, scan.at).end;
}

function readText(scan: Scan, name: string): void {
  const { content, end } = braced(scan.text, scan.at);
  scan.at = end;
  const plain = content.trim();
  const isKnown = /^(?:operatorname|mathrm)$/.test(name) && (FUNCTIONS.has(plain) || FUNCTION_NAMES.has(plain));
  // An operator that nobody knows is no product.
  const isApplied =
    name === 'operatorname' && /^[a-z]{2,}$/.test(plain) && /^\s*[_(^]/.test(scan.text.slice(end, end + 4));
  if (isKnown || isApplied) push(scan, 'cmd', plain);
  else readPhrase(scan, content.replace(/\\[,;:! ]|~/g, ' ').trim());
}

function readPhrase(scan: Scan, text: string): void {
  const last = scan.tokens.at(-1);
  const lower = text.toLowerCase().replace(/[.,;]$/, '');
  // `\mathrm{m/s^{2}}`: upright behind a value, all of it is a unit.
  const unit = /^[A-Za-z][A-Za-z\s^{}\d*-]*[/^][A-Za-z\s/^{}\d*-]*$/.test(text) ? text.replace(/[{}]/g, '') : '';
  if (text === '') return;
  if (text === '\\$') push(scan, 'text', '$');
  else if (unit !== '' && last?.t === 'num' && isKnownUnit(unit)) push(scan, 'text', unit);
  else if (/^,?\s*(?:and|or|mod)$/.test(lower)) {
    scan.sp = true;
    push(scan, 'word', lower.replace(/^,?\s*/, ''));
  } else if (/^[A-Za-z]$/.test(text) && (isCmd(scan.tokens.at(-2), 'circ') || !isUnitHere(text, scan)))
    push(scan, 'id', text);
  else if (/\d|^[(\\$^{]|[=<>]/.test(text) || /\b(?:and|or)\b/.test(lower) || /^[,;:.]$/.test(text))
    scan.tokens.push(...tokenize(text, scan.commas).filter(({ t, v }) => t !== 'text' || !/[\\{}]/.test(v)));
  else push(scan, 'text', text);
}

/** `5\\text{ m}`: an upright letter behind a value is a unit and no factor. */
function isUnitHere(letter: string, { text, tokens, at }: Scan): boolean {
  const last = tokens.at(-1);
  const isValue = last?.t === 'num' || isSign(last, '}', ')') || isCmd(last, 'pi');
  return isUnit(letter) && isValue && !/^\s*[_(]/.test(text.slice(at, at + 4));
}

const isKnownUnit = (phrase: string): boolean => {
  const { dimension, unknown } = unitOf(phrase);
  return dimension !== '' && unknown.length === 0;
};

/** Signs that part or quote something, and say nothing of the value. */
function isSkipped({ text, tokens, at, matrices, isMoney }: Scan, c: string): boolean {
  const last = tokens.at(-1);
  if (c === '&') return matrices === 0;
  if (c === '$') return !isMoney;
  // `12' 30"`
  if (c === '"' || c === '`') return c === '`' || last?.t !== 'num' || !tokens.some((token) => isSign(token, "'"));
  // "40 sq. ft."
  const isShort = c === '.' && last?.t === 'word' && (isUnit(last.v) || last.v === 'sq');
  return isShort && /^\s*[A-Za-z]{2}/.test(text.slice(at + 1, at + 9));
}

function readSign(scan: Scan, c: string): void {
  const { tokens, braces } = scan;
  if (isSkipped(scan, c)) return void scan.at++;
  const two = c + (scan.text[scan.at + 1] ?? '');
  // `6!=720`
  const isFactorial = two === '!=' && !scan.sp && /^(?:[)}\]]$|\d)/.test(tokens.at(-1)?.v ?? '');
  if (two === '<=' || two === '>=' || (two === '!=' && !isFactorial) || two === '==' || two === '**')
    return pushRead(scan, 'sign', two, two === '**' ? '^' : two === '==' ? '=' : two);
  if (c === '{') braces.push(!isArgument(tokens));
  if (c === '(' || c === '[' || (c === '{' && braces.at(-1))) scan.depth++;
  if (c === ')' || c === ']' || (c === '}' && braces.pop())) scan.depth = Math.max(0, scan.depth - 1);
  pushRead(scan, c === '$' ? 'text' : 'sign', c);
}

/** `\mathbf{A}` is a letter that may be a matrix or a vector; other bold is text. */
const isBoldLetter = (name: string, text: string, at: number): boolean =>
  BOLD.has(name) && /^\s*\{\s*[A-Za-z]\s*\}/.test(text.slice(at, at + 12));

/** A brace after a command, a power, an index or another brace is an argument and not a set. */
function isArgument(tokens: readonly Token[]): boolean {
  const last = tokens.at(-1);
  return last !== undefined && (last.t === 'cmd' || '^_}]'.includes(last.v));
}

function readCommand(text: string, at: number): string {
  COMMAND.lastIndex = at;
  const name = COMMAND.exec(text)?.[0] ?? text[at] ?? '';
  // A letter glued to a blank: `\quadx`.
  return /^q?quad(?=[a-zA-Z])/.exec(name)?.[0] ?? name;
}

function braced(text: string, at: number): { content: string; end: number } {
  let open = at;
  while (text[open] === ' ') open++;
  if (text[open] !== '{') throw new Unparsed('a brace is missing');
  let depth = 0;
  for (let i = open; i < text.length; i++) {
    if (text[i] === '\\') i++;
    else if (text[i] === '{') depth++;
    else if (text[i] === '}' && --depth === 0) return { content: text.slice(open + 1, i), end: i + 1 };
  }
  throw new Unparsed('a brace is not closed');
}
