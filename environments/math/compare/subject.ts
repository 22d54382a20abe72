// The quantity that an equation is about. `x = 5`, `f(2) = 5` and `m + n = 5` say what their left side is; `2x = 5`, `n^2 = 5` and `f(4) - 2 = 5`
// are about another quantity than x, n and f(4), and answer a question for that other quantity alone. Reads a short text.

import { askedOf } from '../find/asked.ts';
import { namesAnother } from './asked-name.ts';
import { children, type Node, some } from '../ast.ts';
import { LIMITS, TooBig, Unparsed } from '../limits.ts';
import { parseAnswer } from '../read/parse.ts';
import { remembered } from '../remembered.ts';
import { respell } from '../read/spelling.ts';

/** An equation of a text. `named`: words right before it say what it is, as in "Mary has $2x = 14$". */
export interface About {
  readonly equation: string;
  readonly named: boolean;
  /** Its right side alone is in a box, which is the model's own mark of its answer. */
  readonly boxed?: boolean;
}

/** The left side of an equation: all before its first sign of equality outside of braces and brackets. */
function leftSide(text: string): string | undefined {
  let depth = 0;
  for (let i = 0; i < text.length; i++) {
    const char = text[i] ?? '';
    if ('{(['.includes(char)) depth++;
    else if ('})]'.includes(char)) depth--;
    else if (char === '=' && depth <= 0)
      return /[<>!:]$|\\(?:not|n)$/.test(text.slice(0, i)) ? undefined : withSetminus(text.slice(0, i));
  }
  return undefined;
}

/** "B \ A" in plain text. */
const withSetminus = (left: string): string => left.replace(/(?<=[A-Z)]) ?\\ (?=[A-Z(])/g, ' \\setminus ');

/** Does this equation speak of a quantity that is computed from the one it names, and that the question does not ask for? */
export function isAboutAnother({ equation, named, boxed }: About, question: string): boolean {
  const left = equation.length > LIMITS.candidateChars ? undefined : leftSide(equation);
  if (left !== undefined && (isDerivedFrom(left, question) || namesAnother(equation, question, boxed === true)))
    return true;
  if (left === undefined || !/[A-Za-z]/.test(left.replace(/\\[A-Za-z]+/g, ' ')) || DERIVATIVE.test(respell(left)))
    return false;
  // 7C3 is a number.
  if (/^\W*\d+ ?C ?\d+\W*$/.test(left)) return false;
  const node = parsed(left);
  const kind = node && kindOf(node);
  if (node === undefined || kind === undefined) return false;
  // Beside a box only `2x`, `n^2` and `f(4) - 2` are taken to be on the way; `x^2 + 1/x^2` and `\tan A` may be asked in other words.
  if (boxed === true && (kind !== 'numbered' || namesIn(node) > 1 || OPERATION.test(askedOf(question)))) return false;
  if (kind === 'name' && (question === '' || !/^(?:call|apply|setop)$/.test(node.k))) return false;
  if (question === '') return kind === 'numbered' && !named;
  const asked = askedOf(question);
  if (asksFor(left, asked) || isIndexedAnew(left, question)) return false;
  // The article "a" is no letter.
  const of = (text: string): Set<string> => new Set(text.match(LETTERS));
  const holds = (names: ReadonlySet<string>): boolean =>
    some(node, (n) => (n.k === 'sym' || n.k === 'apply') && names.has(n.name));
  // A letter of the solver's own: `2x = 2 \\cdot 5 = 10` says what was computed, `2x = 10` does not.
  if (!holds(of(question))) return boxed !== true && kind === 'numbered' && !named && equation.split('=').length < 3;
  return kind === 'numbered' || holds(of(asked));
}
/** `h_P`, `f_{\\min}`: a name of the solver's own, where the question has no such index. */
function isIndexedAnew(left: string, question: string): boolean {
  const [, letter] =
    /^[\s{$]*([A-Za-z])\s*_\s*\{?\s*(?:\\?[A-Za-z]+|\\(?:text|mathrm)\s*\{[a-z]+\})[\s}$]*$/.exec(left) ?? [];
  return letter !== undefined && !new RegExp(String.raw`(?<![A-Za-z\\])${letter}\s*_`).test(question);
}
/** f'(2) where f(2) is asked for. */
function isDerivedFrom(left: string, question: string): boolean {
  if (!/'|\\prime/.test(left) || question === '') return false;
  const asked = askedOf(question);
  const own = left.replace(/\^\s*\{?\s*\\prime\s*\}?|'/g, '');
  return asksFor(own, asked) && !asksFor(left, asked) && !/'|prime|deriv|differ|slope|tangent|rate/i.test(asked);
}
/** Words that ask for such an expression: "Find the square of the distance". */
const OPERATION =
  /\b(?:squared?|cubed?|power|twice|thrice|doubled?|tripled?|half|reciprocal|factorial|negative|opposite|(?:\d+|two|three|four|five|ten) times)\b/i;

const namesIn = (node: Node): number =>
  (node.k === 'sym' || node.k === 'apply' ? 1 : 0) + children(node).reduce((sum, child) => sum + namesIn(child), 0);

const LETTERS = /(?<![A-Za-z\\])(?!(?:[aA]|I)\s\w)[A-Za-z](?![A-Za-z])/g;

/** Does the question hold this expression, and not as a part of another? */
export function asksFor(left: string, question: string): boolean {
  if (question === '' || left.length > 200 || !/[A-Za-z]/.test(left)) return false;
  const [text, own] = [squeezedQuestion(question), squeezed(left).trim()];
  for (let at = text.indexOf(own); at >= 0; at = text.indexOf(own, at + 1))
    if (!isPart(text.slice(0, at), own) && !/[\w+\-*/=^(]/.test(text[at + own.length] ?? ' ')) return true;
  return false;
}
/** A word before a command or a bracket is no factor: only the space between them was taken out. */
const isPart = (before: string, own: string): boolean =>
  /[\w+\-*/=^)]$/.test(before) && !(/^[\\(]/.test(own) && /(?:^|[^\\A-Za-z])[A-Za-z]{2,}$/.test(before.slice(-40)));

const DERIVATIVE =
  /\\(?:d?frac|tfrac)\s*\{\s*(?:d|\\partial|\\mathrm\s*\{?d\}?)|\\(?:int|lim|sum|prod|det|nabla)(?![A-Za-z])|'|[\]|)]\s*_/;
const squeezed = (text: string): string =>
  respell(text)
    .replace(/\\(?:left|right|cdot|times|,|;|!|:)(?![A-Za-z])|\\[dt](?=frac)|[${}*]/g, ' ')
    .replace(/\s+/g, ' ')
    .replace(/\\frac ?(\d) ?(\d)(?!\d)/g, '\\frac $1 $2')
    .replace(/ ?([-+*/=^_,()\\]) ?/g, '$1');

const squeezedQuestion = remembered(squeezed);

function parsed(text: string): Node | undefined {
  try {
    return parseAnswer(text.trim(), { grouping: true, decimalComma: false });
  } catch (error) {
    if (error instanceof Unparsed || error instanceof TooBig) return undefined;
    throw error;
  }
}

type Kind = 'name' | 'pure' | 'numbered';

/** `name`: a letter, a function of something, words. `pure`: made of names alone, as `m + n`. `numbered`: a number takes part. */
function kindOf(node: Node): Kind {
  switch (node.k) {
    case 'num':
    case 'percent':
    case 'deg':
    case 'pm':
      return 'numbered';
    case 'neg':
      return node.arg.k === 'sym' ? 'numbered' : joint([node.arg]);
    case 'pow':
      return isInverse(node) ? 'name' : joint([node.base, node.exp]);
    case 'call':
      if (node.name === 'root' || node.name.endsWith('factorial')) return 'numbered';
      return /^(?:a?(?:sin|cos|tan|cot|sec|csc)h?|arc\w+|ln|log|logbase|exp)$/.test(node.name) ? 'pure' : 'name';
    case 'mul':
      return node.items.every((n) => n.k === 'sym' && /^[A-Z]$/.test(n.name)) ? 'name' : joint(node.items);
    case 'add':
    case 'div':
      return joint(children(node));
    default:
      return 'name';
  }
}

const joint = (nodes: readonly Node[]): Kind => (nodes.some((n) => kindOf(n) === 'numbered') ? 'numbered' : 'pure');

/** A^{-1} is a matrix' own name. */
const isInverse = ({ base, exp }: { readonly base: Node; readonly exp: Node }): boolean =>
  exp.k === 'num' && exp.value.num === -1n && base.k === 'sym' && /^[A-Zf]$/.test(base.name);
