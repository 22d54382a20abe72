// Comments behind the last statement of a text, which state no answer themselves: a check, another form of the value, how it was
// computed, a value that was set aside. A text that denies or doubts is none. Linear: the end of a text is read.

import { isDoubting, isNegation } from '../read/statement-words.ts';
import { isUnitWord } from '../read/unit-words.ts';
import { namesOther } from './contrast.ts';
import { OTHER_SUBJECT, speaksAgainst } from './explanation.ts';
import type { Known } from './known.ts';
import type { Extraction } from './phrases.ts';
import { wordsOf } from './sentence.ts';

type Beside = Pick<Extraction, 'also' | 'bare' | 'rounded'>;

/** The text up to its last statement, and the other forms of its value. */
export function withoutComments(source: string, known: Known): { readonly text: string; readonly beside: Beside } {
  const { text, beside } = withoutAsides(withoutCheck(source, known));
  if (!known.asked) return { text, beside };
  let shown = text;
  for (const form of COMMENTS)
    shown = shown.replace(form, (all, said: string, at: number) =>
      isHarmless(said, known, shown.slice(0, at)) ? '' : all,
    );
  return { text: shown, beside };
}

const COMMENTS = [
  // "70,000 (he sold at $200,000 after spending $130,000)", "x = 2. (Sum 5, product 6.)"
  /(?<=[\p{L}\d%°π²³$.!])\s*\(((?!(?:or|but|not|maybe|perhaps|if|mod|[A-J]\)|[-−\d./π√ ,∞]+\)))[^()\n]{1,200}(?:\([^()\n]{0,60}\)[^()\n]{0,60}){0,3})\)(?=[^\S\n]*\.?\s*$)/iu,
  // "x = 9; x = 2 is extraneous"
  /(?<=[\p{L}\d%°π²³$)])[;.]\s+((?:[^.;\n]|\.\d){1,80}\b(?:extraneous|rejected|discarded|excluded|invalid|inadmissible)\b(?:[^.;\n]|\.\d){0,120})(?=\.?\s*$)/iu,
  // "63 stamps, three times Ben's 21", "k = 8, with double root x = -4"
  /(?<=[\p{L}\d%°π²³$)])(?<!\b(?:therefore|thus|hence|so|then|finally)),\s+((?:whereas|while|with|(?:two|three|four|five|six|\d+) times|twice|half|compared|approximately|approx\.|roughly|about|up from|down from|versus|unlike)\b(?:[^.;\n]|\.\d){1,160})(?=\.?\s*$)/iu,
  // "$1,430: $1,300 for the brooch plus $130 for insurance"
  /(?<=\d):\s((?:[^.:;\n=]|\.\d){1,160}(?:\bplus\b|\+)(?:[^.:;\n=]|\.\d){1,100})(?=\.?\s*$)/iu,
];
const CONCLUDES =
  /\b(?:so|then|thus|hence|therefore|total|altogether|leav\p{L}+|answer|instead|actually|correct\p{L}*|sorry|oops|hmm+|wait|mistake\p{L}*)\b/iu;

function isHarmless(said: string, known: Known, before: string): boolean {
  if (CONCLUDES.test(said.replace(/\band so on\b/i, '')) || !/\d/.test(before)) return false;
  if (/^(?:whereas|while)\b/i.test(said) && !/\bwould\b/.test(said) && !namesOther(said, known.question ?? ''))
    return false;
  if (OTHER_SUBJECT.test(said) || SET_ASIDE.test(said)) return true;
  const words = wordsOf(said).map((word) => word.toLowerCase());
  return !words.some((word) => isNegation(word) || isDoubting(word)) && !speaksAgainst(`by ${said}`, known, before);
}
const SET_ASIDE = /^[A-Za-z]\s*=[^=]*\b(?:extraneous|rejected|discarded|excluded|invalid|inadmissible)\b/;

const CHECK =
  /(?:^|[.!]\s+|\n\s*)(?:check(?:ing)?|verif(?:y|ying|ication)|plugging (?:it |this |[a-z] = \S+ )?back in|to (?:double[- ]?)?(?:check|verify)|let(?:[’']s| us| me) (?:double[- ]?)?(?:check|verify))\b[^\n]*$/i;

/** A check behind the statement is none itself, unless it concludes something. */
function withoutCheck(text: string, known: Known): string {
  const check = CHECK.exec(text.slice(-1_000).trimEnd())?.[0];
  if (check === undefined || /\b(?:so|therefore|hence|thus|answer|but|actually)\b/i.test(check)) return text;
  const before = text.trimEnd().slice(0, -check.length);
  return /\d/.test(before) && !speaksAgainst(check.replace(/^[\s.!]+/, ''), known, before) ? `${before}.` : text;
}

const ASIDE =
  /(?<=[\d½⅓¼¾][°%π²³)]{0,3}(?:\s\p{L}{2,20}){0,2})\s\((or |≈ ?|about |approximately |i\.?e\.?,? |that is,? )?([^()\n]{1,60})\)(?!\s*[-–+*/×÷x=^(\d$])/gu;

/** "800 meters, or 0.8 kilometers", "x ≥ 3, or [3, ∞)": another form of the value. */
const AGAIN =
  /(?<=\d(?<unit> \p{L}{2,20})|[<>≤≥]\s?[-−]?[\d./]{1,20}), or (?:equivalently,? )?((?:\d[\d.,]* \p{L}{2,20}|[([][^\s()[\]]{1,30},\s?[^\s()[\]]{1,30}[)\]]))(?=\s*\.?\s*$)/u;
/** "1/11 ≈ 0.0909": the exact value rounded. */
const NEARLY = /(?<=[\d)}π])\s*(?:≈|\\approx)\s*(\d{0,9}\.\d{1,20}%?)(?=[^\S\n]*\.?\s*$)/u;

/** "75 minutes (1 hour 15 minutes)", "36π (≈ 113.1)": the same value once more. */
function withoutAsides(source: string): { readonly text: string; readonly beside: Beside } {
  const also: string[] = [];
  const nearly = NEARLY.exec(source)?.[1];
  const text = source.replace(NEARLY, '').replace(AGAIN, (all, unit: string | undefined, again: string) => {
    if (unit !== undefined && !(isUnitWord(unit.trim()) && isUnitWord(again.split(' ')[1] ?? ''))) return all;
    also.push(again);
    return '';
  });
  const line = text.lastIndexOf('\n', text.trimEnd().length - 1) + 1;
  const shown = text.replace(ASIDE, (all, lead: string | undefined, aside: string, at: number) => {
    if (at < line) return all;
    const words = aside.match(/\p{L}{2,}/gu) ?? [];
    if (
      !/^(?:\d|[$€£])[^,=]*$/.test(aside) ||
      !words.every((word) => isUnitWord(word) || /^(?:square|cubic|and|per|units?)$/.test(word))
    )
      return all;
    if (!/≈|about|approximately/.test(lead ?? '')) also.push(aside);
    return '';
  });
  return { text: shown, beside: { also, ...(nearly !== undefined && { bare: nearly, rounded: () => nearly }) } };
}
