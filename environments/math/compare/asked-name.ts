// The one letter, segment or angle that a question asks for, and whether an equation names another: y = 5 for x, CD = 5 for AB,
// \angle B = 30 for angle A. Says nothing where the question asks for more than a name. Reads two short texts.

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
  String.raw`(?:\b(?:[Vv]alues? of|[Ff]ind|[Ss]olve[^.?!]{0,60}? for|[Dd]etermine|[Cc]ompute|[Cc]alculate|[Ww]hat is|[Ll]ength of|[Mm]easure of|[Rr]adius|side|segment|chord|diagonal|integer|number|constant)\s+)(?:(?:the|segment|side|line|value of|length of|measure of|all|real|positive|integers?|numbers?|radius|constant)\s+)*(${NAME})(?![\w'^_({[])(?!\s*(?:[-+*/^_(=\\<>|!]|(?:,|and|or)\s+[A-Za-z](?![A-Za-z])))(?!(?<=\b[aA]) [\w(])`,
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

/** `\det` and `\operatorname{tr}` as words. */
const inWords = (left: string): string =>
  left
    .replace(/\\det(?![A-Za-z])/g, ' determinant ')
    .replace(/(?<![A-Za-z])[Tt]r(?![A-Za-z])/g, ' trace ')
    .replace(/\\(?:text|operatorname|mathrm)(?![A-Za-z])|[{}\\]/g, ' ');

/** `marked`: the right side alone is in a box. */
export function namesAnother(equation: string, question: string, marked: boolean): boolean {
  if (question === '') return false;
  const links = equation.split('=').slice(0, -1);
  const isNamed = !/[-+*/^\d]|\\(?:[dt]?frac|times|cdot|sqrt)/.test(links[0] ?? '');
  if (isNamed && [links[0] ?? '', links.join(' ')].every((said) => namesContrary(inWords(said), question))) return true;
  const asked = askedName(question);
  const names = links.map(plain);
  const [name = ''] = names;
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
