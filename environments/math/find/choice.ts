// A choice letter in running text, for solutions that are one: "(B)", "B. …" at the start, or the letter of a sentence that
// holds nothing but the words that name a choice.

import { leaves } from './rest.ts';
import { rightOf } from './sentence.ts';
import { NOTHING } from './known.ts';
import { isLedTo } from './statement.ts';
import { afterwards, OPENS } from './afterwards.ts';
import { ownText } from './extract.ts';
import type { Extraction } from './phrases.ts';

const CHOICE_CHARS = 160;
/** Two letters joined, or two lines that begin with one, name none. */
const SEVERAL =
  /(?<![A-Za-z])\(?[A-J]\)?\s*(?:or|and|,|\/|&)\s*(?:[a-z]+ )?\(?[A-J]\)?(?![A-Za-z])|(?:^|\n)\s*\(?[A-J][).:][^\n]*\n\s*\(?[A-J][).:]/;
/** "Options A and C fail": said of letters that are none of the answer. */
const ELIMINATED =
  /(?:\b(?:options?|choices?|both)\s+)?((?:\(?[A-J]\)?,?\s+(?:and\s+)?){1,4})(?:fail|are (?:all |both )?(?:wrong|incorrect|false|impossible|eliminated|ruled out)|can be (?:eliminated|ruled out)|do not work)\b/g;
/** "(C) contradicts the hypothesis" is a sentence about C. */
const PREDICATE =
  /^\s*(?:[a-z]+s\s+(?:the|a|an|our|all|this|that|with)\b|[a-z]+ed\b|(?:is|was|can|cannot|does|would|could|fails?|may|might)\b)/;

export function extractChoice(source: string): Extraction | undefined {
  const whole = ownText(source).slice(-CHOICE_CHARS);
  const eliminated = [...whole.matchAll(ELIMINATED)].map((m) => m[1]).join(' ');
  const text = eliminated === '' ? whole : whole.replace(ELIMINATED, ' ');
  if (SEVERAL.test(text)) return undefined;
  const opening = /^\s*\**\(?([A-J])\)?[.):]\**(?=\s|$)(?!\s*$)\s*/.exec(text);
  if (opening?.[1] && !PREDICATE.test(text.slice(opening[0].trimEnd().length)))
    return OPENS.test(text.slice(opening[0].length)) || afterwards(text, opening[0].length, opening[1]).withdrawn
      ? undefined
      : { text: opening[1], by: 'choice' };
  let last: { readonly letter: string; readonly end: number } | undefined;
  for (const m of text.matchAll(
    /(?<![A-Za-z0-9$\\_^{=+*/-])(?<![=+*/<>^]\s)(?:\*\*)?\(?([A-J])\)?(?:\*\*)?(?=[.,:;!?\s]|$)(?! [a-z]+ [a-z]+ (?:is|are|was)\b)/g,
  )) {
    const end = m.index + m[0].length;
    // "A" and "I" are words as well.
    if ((m[1] === 'A' || m[1] === 'I') && /^ [a-z]/.test(text.slice(end))) continue;
    const right = rightOf(text, end, false);
    const stated =
      isLedTo(text, m.index, NOTHING, true) &&
      leaves(right, NOTHING, {
        open: false,
        ...{ object: false, stated: false, named: true, marked: false },
        before: '',
        value: '',
      });
    last = stated && m[1] !== undefined ? { letter: m[1], end } : undefined;
  }
  if (!last || afterwards(text, last.end, last.letter).withdrawn) return undefined;
  return eliminated.includes(last.letter) ? undefined : { text: last.letter, by: 'choice' };
}
