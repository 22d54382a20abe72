// Answers in words: choice letters, names, yes and no, "no solution".

import { isRefusing } from './harmless-words.ts';
import { remembered } from '../base/remembered.ts';

const WRAPPER =
  /\\(?:text|textbf|textit|textrm|textnormal|mathrm|mathbf|mbox|bf|rm|operatorname|boxed|emph|underline|mathsf|texttt|textsf|left|right|displaystyle)\b/g;

/** A text without the commands, braces and signs that only set it. */
export const undressed = remembered((text: string): string =>
  text
    .replace(WRAPPER, ' ')
    .replace(/\\[,;:! ]|\\q?quad|[{}$*~]/g, ' ')
    .replace(/\s+/g, ' ')
    .trim(),
);

/** Its words alone: no case, punctuation or article either. */
export const plainWords = remembered((text: string): string =>
  undressed(text)
    .replace(/["'`]/g, ' ')
    .toLowerCase()
    .replace(/(?<![.,;:!?()])[.,;:!?()]+(?=\s|$)|(?<=^|\s)[.,;:!?()]+/g, ' ')
    .replace(/\s+/g, ' ')
    .trim()
    .replace(/^(the|an?) /, ''),
);

/** Reads mostly as words rather than as mathematics. */
export function isProse(text: string): boolean {
  // \operatorname{Re}(-i) is a function of -i, and no two words.
  if (/\\operatorname\s*\{[^{}]*\}\s*\\?[({]/.test(text)) return false;
  const plain = plainWords(text);
  return /^[\p{L}][\p{L}\s'’-]*$/u.test(plain) && /\p{L}{2}/u.test(plain);
}

const SMALL = /^(no|on|in|is|it|up|us|go|do|so)$/;

/** A word or a phrase, whose letters are not factors: `odd`, `no solution`; but not `ab` or `pi`. */
export function isWording(text: string): boolean {
  const plain = plainWords(text);
  return (
    isProse(text) &&
    (/\s/.test(plain) || plain.length >= 3 || SMALL.test(plain)) &&
    !/^(pi|inf|infinity|infty)$/.test(plain)
  );
}

/** "Yes, it is." says yes; "Yes, or no" and "Yes?" say neither. */
export function yesOrNo(text: string): 'yes' | 'no' | undefined {
  if (!/yes|true|no|false/i.test(text)) return undefined;
  const plain = undressed(text).toLowerCase();
  const [, word = '', more = ''] = /^(yes|true|no|false)(?=[,.;:!]|$)(.*)$/s.exec(plain) ?? [];
  if (word === '' || /\b(?:yes|true|false)\b|\?/.test(more)) return undefined;
  const said = word === 'yes' || word === 'true' ? 'yes' : 'no';
  // The reason behind "because" may deny things; behind a no so may the rest.
  const [rest = ''] = more.split(/\b(?:because|since|as)\b/);
  const denial = /^(?:not?|cannot|never|impossible|.*n[’']t)$/;
  const words = rest.match(/[\p{L}\p{N}’']+/gu) ?? [];
  return words.every((w) => !isRefusing(w) || (said === 'no' && denial.test(w))) ? said : undefined;
}

const NOTHING =
  /^(no (real )?(solutions?|answers?|roots?)|none|there (is|are) no (real )?(solutions?|roots?)|empty set|does not exist|dne)$/;
export const saysNothing = (text: string): boolean => NOTHING.test(plainWords(text));
export const saysEverything = (text: string): boolean =>
  /^(?:(?:all )?real numbers|all reals?)(?: x)?$/.test(plainWords(text));

export function sameWords(a: string, b: string): boolean {
  const [x, y] = [plainWords(a), plainWords(b)];
  if (x.includes(' and ') || y.includes(' and ')) return parts(a) === parts(b);
  return x !== '' && (x === y || (NOTHING.test(x) && NOTHING.test(y)));
}

/** Names joined by "and" or commas, in one order. */
const parts = (text: string): string =>
  text
    .split(/,\s*(?:and\b)?|\band\b/i)
    .map(plainWords)
    .sort()
    .join(' and ');

/** "The graph is a parabola.", "There are infinitely many." say what stands behind the verb, "The limit does not exist." all of it. */
export function says(answer: string, gold: string): boolean {
  const plain = plainWords(answer);
  const m = /^(.*?) ?\b(?:is|are|was|were)(?: an?| the)? (.+)$/.exec(plain);
  const [subject = '', predicate = ''] = m ? m.slice(1) : [];
  if (m && sameWords(gold, predicate.replace(/ (?:solutions?|of them|in total)$/, '')))
    return (
      !subject.split(' ').some(isRefusing) && !/\b(?:nobody|none|says?|said|claims?|thinks?|believes?)\b/.test(subject)
    );
  const verb = plainWords(gold);
  const rest = plain.slice(0, -verb.length).trim();
  const named = /^(?:does|do|is|has) |s$/.test(verb) && plain.endsWith(` ${verb}`) && rest.split(' ').length <= 4;
  return named && !rest.split(' ').some(isRefusing);
}

const SIGN =
  /^\s*\$?\s*(?:[<>=≤≥≠≈]|[<>]=|\\(?:leq?|geq?|lt|gt|neq?|approx|equiv|leqslant|geqslant)(?![A-Za-z]))\s*\$?\s*$/;

const SIGN_CHARS = 30;

/** "Which sign stands in the gap?" */
export const isRelationSign = (text: string): boolean => text.length <= SIGN_CHARS && SIGN.test(text);
