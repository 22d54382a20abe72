// The letter, segment, angle, term or expression that a question asks for, and whether an equation names another that the question
// holds: y = 5 for x, CD = 5 for AB, a = 5 for |a - b|, a_19 = 81 for the 20th term, a length that is given. A name of the solver's own
// says nothing against it. Reads two short texts.

import { askedOf } from '../find/asked.ts';
import { namesContrary } from '../find/contrast.ts';
import { remembered } from '../remembered.ts';

const plain = (text: string): string =>
  text
    .replace(
      /\\(?:overline|mathrm|text|mathbf|left|right|displaystyle|operatorname)(?![A-Za-z])|[${}]|\\[()[\],;:! ]/g,
      ' ',
    )
    .replace(/(?:\bm\s*)?\\angle(?![A-Za-z])|\bangle\b/gi, '∠')
    .replace(/\s+/g, ' ')
    .replace(/∠ /g, '∠')
    .trim();

const NAME = String.raw`∠?[A-Z]{1,3}|[a-z]`;
const ASKED_NAME = new RegExp(
  String.raw`(?:\b(?:[Vv]alues? of|[Ff]ind|[Ss]olve[^.?!]{0,60}? for|[Dd]etermine|[Cc]ompute|[Cc]alculate|[Ww]hat is|[Ll]ength of|[Cc]oordinates of|[Pp]oint|[Mm]easure of|[Rr]adius|side|segment|chord|diagonal|integer|number|constant)\s+)(?:(?:the|segment|side|line|value of|length of|measure of|all|real|positive|integers?|numbers?|radius|constant)\s+)*(${NAME})(?![\w'^_({[])(?!\s*(?:[-+*/^_(=\\<>|!]|(?:,|and|or)\s+[A-Za-z](?![A-Za-z])))(?!(?<=\b[aA]) [\w(])`,
  'g',
);
/** A quantity made of such names. */
const COMPOSED =
  /\b(?:sum|product|number of|how many|difference|ratio|average|mean|total|squared?|area|volume|perimeter|probability|times|twice)\b/i;

const askedName = remembered((question: string): string => {
  const asked = plain(askedOf(question));
  if (COMPOSED.test(asked)) return '';
  const names = new Set([...asked.matchAll(ASKED_NAME)].map((m) => m[1] ?? ''));
  return names.size === 1 ? ([...names][0] ?? '') : '';
});

const sorted = (name: string): string => [...name].sort().join('');
/** ∠ABC is ∠CBA and ∠B, AB is BA. */
function isSame(asked: string, name: string): boolean {
  if (!asked.startsWith('∠') && !name.startsWith('∠')) return sorted(asked) === sorted(name);
  const [a, b] = [asked.replace('∠', ''), name.replace('∠', '')];
  const vertex = (letters: string): string => (letters.length === 3 ? (letters[1] ?? '') : letters);
  return vertex(a) === vertex(b) && (a.length !== 3 || b.length !== 3 || sorted(a) === sorted(b));
}

/** A question asks for a formula with a sign in it, for how many values a name has, or for a term by its place. */
interface Target {
  readonly formula: string;
  readonly counted: string;
  readonly place: string;
}
const FORMULA = String.raw`\$[^$]{1,120}\$|(?:[^A-Za-z\s.,?!;:]|\\[A-Za-z]+|(?<![A-Za-z])(?![aA]\s[A-Za-z])[A-Za-z](?![A-Za-z])| ){2,120}`;
const TARGET = new RegExp(
  String.raw`\b(?:find|compute|evaluate|determine|calculate|what is|value of)\s+(?:the (?:exact |numerical )?value of\s+)?(${FORMULA})`,
  'i',
);
const COUNTED = /\b(?:how many|number of)\b[^.?!]{0,60}?\b(?:values? of|integers?|numbers?)\s+([a-z])(?![\w(^'])/i;
const PLACE = /\b(\d+)(?:st|nd|rd|th)\s+(?:term|number|element)\b/i;
const targetOf = remembered((question: string): Target => {
  const asked = askedOf(question);
  const formula = (TARGET.exec(asked)?.[1] ?? '')
    .replaceAll('$', ' ')
    .replace(/\s+[([{][^)\]}]*$|[\s+*/^-]+$/, '')
    .trim();
  return {
    // A relation and a tuple ask for their letters.
    formula: /[=<>,]|\\[lg]e/.test(formula) || !/[-+*/^|({\\∩∪]/.test(formula) ? '' : formula,
    counted: COUNTED.exec(plain(asked))?.[1] ?? '',
    place: PLACE.exec(asked)?.[1] ?? '',
  };
});

const holdsName = (text: string, name: string): boolean =>
  new RegExp(String.raw`(?<![A-Za-z\\])${name.replace('_', '_\\{?')}(?![A-Za-z])(?!(?<=\b[aA]) [\w(])`).test(text);

/** A letter of the formula that is asked for, the letter that is counted, another term, a name to which the question gives a value. */
function isBesideTarget(name: string, question: string): boolean {
  if (!/^(?:∠?[A-Z]{1,3}|[a-z](?: ?_ ?\w+)?)$/.test(name)) return false;
  const { formula, counted, place } = targetOf(question);
  const [letter = '', index] = name.replaceAll(' ', '').split('_');
  if (place !== '' && index !== undefined && /^\d+$/.test(index) && index !== place) return !question.includes('_0');
  if (index !== undefined) return false;
  // The value of a function is often called y.
  if (letter === 'y' && /^[A-Za-z] ?\(/.test(formula)) return false;
  if (formula !== '' && plain(formula) !== letter && holdsName(plain(question), letter)) return true;
  return letter === counted || (!holdsName(plain(askedOf(question)), letter) && isGivenIn(question, letter));
}
const isGivenIn = (question: string, name: string): boolean =>
  new RegExp(String.raw`(?<![\w\\∠])${name} ?= ?[-−]?\d[\d.,]*(?![\w(\\*/^+\-])(?! ?[-+*/^(\\])`).test(plain(question));

/** `\det` and `\operatorname{tr}` as words; r is the radius of a circle. */
const inWords = (left: string, question: string): string =>
  left
    .replace(/^\s*r\s*$/, (r) =>
      CIRCLE.test(question) && !/(?<![A-Za-z\\])r(?![A-Za-z])|\bra\p{L}+/u.test(askedOf(question)) ? ' radius ' : r,
    )
    .replace(/(?<![A-Za-z])\\?(max|min)(?![A-Za-z])/g, ' $1imum ')
    .replace(/\\det(?![A-Za-z])/g, ' determinant ')
    .replace(/(?<![A-Za-z])[Tt]r(?![A-Za-z])/g, ' trace ')
    .replace(/\\(?:text|operatorname|mathrm)(?![A-Za-z])|[{}\\]/g, ' ');

const CIRCLE = /\b(?:circ|sphere|cylind|diameter)/i;

/** `marked`: the right side alone is in a box. */
export function namesAnother(equation: string, question: string, marked: boolean): boolean {
  if (question === '') return false;
  const links = equation.split('=').slice(0, -1);
  const isNamed = !/[-+*/^\d]|\\(?:[dt]?frac|times|cdot|sqrt)/.test(links[0] ?? '');
  if (isNamed && [links[0] ?? '', links.join(' ')].every((said) => namesContrary(inWords(said, question), question)))
    return true;
  const asked = askedName(question);
  const names = links.map(plain);
  const [name = ''] = names;
  if (!marked && isBesideTarget(name, question)) return true;
  // The coordinates of P are x and y.
  if (/^[A-Z]$/.test(asked) && /^[a-z]$/.test(name)) return false;
  if (asked === '' || !new RegExp(`^(?:${NAME})$`).test(name) || names.some((one) => isSame(asked, one))) return false;
  const [few, many] = [asked, name].map((one) => (one.startsWith('∠') ? 1 : one.length));
  if (few !== many || /∠.*[a-z]/.test(asked + name) || /^[a-z]∠/.test(asked + name)) return false;
  const points = new Set((plain(question).match(/(?<![A-Za-z\\])[A-Z]{1,4}(?![A-Za-z])/g) ?? []).join(''));
  const letters = name.replace('∠', '');
  const isHeld = /^[A-Z]/.test(letters)
    ? [...letters].every((letter) => points.has(letter))
    : new RegExp(String.raw`(?<![A-Za-z\\])${letters}(?![A-Za-z])`).test(plain(question));
  // A letter of the solver's own beside a box, and R for r.
  if (!isHeld && (marked || name.toLowerCase() === asked.toLowerCase())) return false;
  return true;
}
