// Answers in words: choice letters, names, yes and no, "no solution", dates and times of day.

import { remembered } from './remembered.ts';

const WRAPPER =
  /\\(?:text|textbf|textit|textrm|textnormal|mathrm|mathbf|mbox|bf|rm|operatorname|boxed|emph|underline|mathsf|texttt|textsf|left|right|displaystyle)\b/g;

/** Words without their dress: no LaTeX wrappers, case, punctuation or double blanks. */
export const plainWords = remembered((text: string): string =>
  text
    .replace(WRAPPER, ' ')
    .replace(/\\[,;:! ]|\\q?quad|[{}$*"'`~]/g, ' ')
    .toLowerCase()
    .replace(/[.,;:!?()]+(?=\s|$)|(?<=^|\s)[.,;:!?()]+/g, ' ')
    .replace(/\s+/g, ' ')
    .trim()
    .replace(/^(the|an?) /, ''),
);

/** Reads mostly as words rather than as mathematics. */
export function isProse(text: string): boolean {
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

export interface Choice {
  readonly letter: string;
  /** What is written behind the letter, if anything. */
  readonly rest: string;
}

/** `C`, `(C)`, `C.`, `option C`, `(C) 14`, `\textbf{(C)}\ 14`. */
export const choiceOf = remembered((text: string): Choice | undefined => {
  if (!/[A-Ja-j]/.test(text)) return undefined;
  const plain = text
    .replace(WRAPPER, ' ')
    .replace(/\\[,;:! ]|\\q?quad|[{}$*~]/g, ' ')
    .replace(/\s+/g, ' ')
    .trim();
  const m =
    /^(?:(?:the )?(?:correct )?(?:option|choice|answer)(?: is)?:? ?)?(?:\(([A-Ja-j])\)|([A-J])(?=$|[.):]))[.):]?(.*)$/i.exec(
      plain,
    );
  const letter = m?.[1] ?? m?.[2];
  if (!letter || (m?.[2] && !/[A-J]/.test(m[2]))) return undefined;
  return { letter: letter.toUpperCase(), rest: (m?.[3] ?? '').trim() };
});

const NOTHING =
  /^(no (real )?(solutions?|answers?|roots?)|none|there (is|are) no (real )?(solutions?|roots?)|empty set|does not exist|dne)$/;
export const saysNothing = (text: string): boolean => NOTHING.test(plainWords(text));
export const saysEverything = (text: string): boolean => /^(all )?real numbers$|^all reals$/.test(plainWords(text));

const SYNONYMS: readonly (readonly string[])[] = [
  ['yes', 'true'],
  ['no', 'false'],
  ['dne', 'does not exist'],
  ['no solution', 'no solutions', 'there is no solution', 'there are no solutions', 'empty set', 'none'],
];
const CANONICAL = new Map(SYNONYMS.flatMap((group) => group.map((word) => [word, group[0] ?? word])));

export function sameWords(a: string, b: string): boolean {
  const [x, y] = [plainWords(a), plainWords(b)];
  if (x.includes(' and ') && y.includes(' and ')) return parts(x) === parts(y);
  return x !== '' && (CANONICAL.get(x) ?? x) === (CANONICAL.get(y) ?? y);
}

/** Names joined by "and" or commas, in one order. */
const parts = (plain: string): string =>
  plain
    .split(/,? and |, ?/)
    .sort()
    .join(' and ');

const NUMBER_WORDS = new Map(
  'zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen twenty'
    .split(' ')
    .map((word, n) => [word, String(n)]),
);
'thirty forty fifty sixty seventy eighty ninety'
  .split(' ')
  .forEach((word, k) => NUMBER_WORDS.set(word, String((k + 3) * 10)));

/** `twelve`, `twenty-one`: the digits, or undefined. */
export function numberWord(text: string): string | undefined {
  const plain = plainWords(text);
  const whole = NUMBER_WORDS.get(plain);
  if (whole) return whole;
  const [tens = '', ones = '', more] = plain.split(/[ -]/);
  const [t, o] = [Number(NUMBER_WORDS.get(tens)), Number(NUMBER_WORDS.get(ones))];
  return more === undefined && t >= 20 && t % 10 === 0 && o > 0 && o < 10 ? String(t + o) : undefined;
}

/** Minutes and seconds since midnight as a text; `marked` if it says am or pm. */
export function timeOf(
  text: string,
): { readonly clock: string; readonly seconds: number; readonly marked: boolean } | undefined {
  if (!/\d/.test(text) || !/:|m\b/i.test(text)) return undefined;
  const plain = plainTime(text).replace(/^(\d{1,2})(?= ?[ap]\.?m)/, '$1:00');
  const m = /^(\d{1,2}):(\d{2})(?::(\d{2}))? ?(?:([ap])\.?m\.?)?$/.exec(plain);
  if (!m) return undefined;
  let hours = Number(m[1]);
  const [minutes, seconds] = [Number(m[2]), Number(m[3] ?? 0)];
  if (hours > 24 || minutes > 59 || seconds > 59) return undefined;
  const clock = `${hours}:${minutes}:${seconds}`;
  if (m[4]) {
    if (hours < 1 || hours > 12) return undefined;
    hours = (hours % 12) + (m[4] === 'p' ? 12 : 0);
  }
  return { clock, seconds: hours * 3600 + minutes * 60 + seconds, marked: m[4] !== undefined };
}

const plainTime = (text: string): string =>
  text
    .replace(WRAPPER, ' ')
    .replace(/\\[,;:! ]|[{}$~]/g, ' ')
    .toLowerCase()
    .replace(/\s*:\s*/g, ':')
    .replace(/\s+/g, ' ')
    .trim();

const MONTHS = 'january february march april may june july august september october november december'.split(' ');

/** Year, month and day of a date that is written out; `3/4/2020` is two dates and therefore none. */
export function dateOf(text: string): string | undefined {
  if (!/\d.*[-/]|[a-z]{3}.*\d|\d.*[a-z]{3}/is.test(text)) return undefined;
  const plain = text
    .replace(WRAPPER, ' ')
    .replace(/\\[,;:! ]|[{}$~,]/g, ' ')
    .toLowerCase()
    .replace(/(\d)(st|nd|rd|th)\b/g, '$1')
    .replace(/\bof\b/g, ' ')
    .replace(/\s+/g, ' ')
    .trim()
    .replace(/\.$/, '');
  const iso = /^(\d{4})[-/](\d{1,2})[-/](\d{1,2})$/.exec(plain);
  if (iso) return `${Number(iso[1])}-${Number(iso[2])}-${Number(iso[3])}`;
  const month = (word: string | undefined): number =>
    MONTHS.findIndex((m) => word !== undefined && word.length >= 3 && m.startsWith(word.replace(/\.$/, '')));
  const a = /^([a-z]+\.?) (\d{1,2})(?: (\d{4}))?$/.exec(plain);
  if (a && month(a[1]) >= 0) return `${a[3] ? Number(a[3]) : ''}-${month(a[1]) + 1}-${Number(a[2])}`;
  const b = /^(\d{1,2}) ([a-z]+\.?)(?: (\d{4}))?$/.exec(plain);
  if (b && month(b[2]) >= 0) return `${b[3] ? Number(b[3]) : ''}-${month(b[2]) + 1}-${Number(b[1])}`;
  return undefined;
}
