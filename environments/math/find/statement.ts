// A closed form of statement: does the sentence around a value state it? Each word has a part in the grammar below, or the
// sentence states nothing. Known are the words of the question and the solution, and the tables of statement-words.ts. Linear.

import { isRefusing, withoutHedges } from '../read/harmless-words.ts';
import {
  DEDUCING,
  IGNORING,
  isCommon,
  isDenying,
  isDeterminer,
  isFault,
  isLead,
  isLink,
  isMeta,
  namesAnswer,
  PREMISE,
  CONDITION,
  PLACES,
  SUPPOSED,
} from '../read/statement-words.ts';
import { modulusBehind } from './around-box.ts';
import { withoutBound } from './asked.ts';
import { calculationIn } from './calculation.ts';
import { isAbout, isClosedWorld } from './closed.ts';
import { leftOf, NOUN, rightOf, STRIKES, STRUCK, wordsOf } from './sentence.ts';
import { OTHER_SUBJECT } from './explanation.ts';
import { namesOtherUnit } from '../compare/asked-unit.ts';
import { claimsAnother } from './boxed-claim.ts';
import { isUnclaimed } from './claims.ts';
import { isGiven, isObject, isSubject } from './clause.ts';
import type { Known } from './known.ts';
import { stopped } from './obstacle.ts';
import { isCalculated, isComputed, isOpen, type Word } from './open.ts';
import { leaves } from './rest.ts';

//   sentence  = opening* (premise separator)* clause VALUE (behind: see rest.ts)
//   opening   = "Step 3:", "Wait,", "not 5 but", a list of which the value is the last item
//   premise   = ("since" | "we" | …) any words that find no fault       "Since a is odd,"
//             | ("for" | "when" | "if" | …) known words                 "For the week,"
//             | ("in" | "with" | …) closed words                         "In total,"
//   clause    = lead*                                                   "Hence we get"
//             | lead* "answer" lead*                                    "so the final answer to the problem is"
//             | subject link object
//   subject   = (determiner | closed | name)* noun? zone?               "the number", "Janet", "the frog" (only with a doing verb)
//   zone      = preposition any words that find no fault                "of knights that cannot meet"
//   link      = "is" | "=" | verb of having, finding or doing
//   object    = (closed | counted)*                                     "a total of", "him"
// Directly before a box a clause may also hold any words, unless one of a closed class objects (isOpen).

const read = (text: string): readonly Word[] =>
  wordsOf(text).map((written) => ({ written, word: written.toLowerCase().replace('’', "'") }));

/** Is the value at `start` to `end` what its sentence states? `marked`: in a box. */
export function isStated(text: string, start: number, end: number, known: Known, marked: boolean): boolean {
  const value = text.slice(start, end);
  const { words: written, inside } = leftOf(text, start);
  const said = written.replace(ROUNDS, (all, exact: string) => (isNear(exact, value) ? '=' : all));
  if (STRUCK.test(said) || STRIKES.test(value)) return stopped('struck out');
  const calculated = marked || inside ? undefined : calculationIn(said);
  const words = calculated ? `${said.slice(0, calculated.start)} =` : said;
  const before = text.slice(Math.max(0, start - 200), start);
  if (SUPPOSES.test(before)) return stopped('a supposition', before);
  if (EXAMPLE.test(text.slice(Math.max(0, start - 12), start))) return stopped('an example');
  if (marked && isUnclaimed(words, rightOf(text, end, inside), known))
    return stopped('a box that is not claimed', words);
  if (marked && known.asked && claimsAnother(words, rightOf(text, end, inside), known.question ?? ''))
    return stopped('another quantity in a box', words);
  if (known.asked && namesOtherUnit(words, known.question ?? '')) return stopped('another unit', words);
  const number = /^(?:\\f?boxed\s*\{)?[-−$\s]*\d|^\(\d+\)?$/.test(value);
  const left = /\d[.,]\d/.test(value) ? withoutHedges(words) : words;
  const computed = !marked && known.asked === true && (calculated !== undefined || isComputed(text, start));
  const open = marked || (computed && (calculated !== undefined || known.gives?.(value) !== true));
  const right = rightOf(text, end + (marked ? modulusBehind(text, { start, end }) : 0), inside);
  return (
    leads(left, known, { marked, open, calculated: isCalculated(before), number, value }) &&
    leaves(right, known, {
      object: /\p{L}{2}|⟦/u.test(words),
      stated: read(words).some(({ word }) => isLink(word) || !isLead(word)),
      named: wordsOf(marked ? (words.split(SEPARATOR).at(-1) ?? '') : words).some((word) =>
        namesAnswer(word.toLowerCase()),
      ),
      before: text.slice(0, start),
      value,
      marked,
      open,
    }) &&
    (marked || !known.asked || isAbout(clauseAround(words, right), known.question ?? '', value, open))
  );
}

/** Do the words before `start` lead to what follows? `strict`: nothing but words that name an answer. */
export function isLedTo(text: string, start: number, known: Known, strict = false): boolean {
  const { words } = leftOf(text, start);
  if (STRUCK.test(words)) return false;
  if (strict) return read(words).every(({ word }) => isStrict(word, known));
  return leads(words, known, { marked: true, open: true, calculated: false, number: false, value: '' });
}

/** "= 16.67%, which rounds up to": of a calculation. */
const ROUNDS =
  /=\s*[$€£]?(\d[\d,]*\.\d+)[.…]*\s?%?(?:\s\p{L}+)?,?\s+which (?:rounds|is rounded|we round)(?: (?:up|down|off))? to\s*$/u;
const isNear = (one: string, other: string): boolean =>
  Math.abs(Number(one.replaceAll(',', '')) - Number(/\d[\d,]*(?:\.\d+)?/.exec(other)?.[0].replaceAll(',', ''))) < 1;
/** "Suppose Seattle had 32; then …" */
const SUPPOSES = /(?:^|[.!?\n]\s*)(?:suppose|supposing|assume|assuming|if|say)\b[^.!?\n]*;\s*then\b[^.!?\n]*$/i;
const EXAMPLE = /\b(?:e\.\s?g|cf|viz)\.?,?\s*[$]?$/i;

/** Openings of a sentence that say nothing of its value. */
const OPENINGS: readonly (readonly [RegExp, string])[] = [
  [/[*_"“”`]/g, ' '],
  [/^(?:\s*(?:no\s*[,!—]|(?:oops|wait|yes|ok|okay|actually|correction|hmm+)\s*[,:!—]))+/i, ' '],
  [/(?:(?<=[\d⟦].{0,20})\bno|\b(?:oops|wait|correction))\s*[:!—]\s*$/i, ' '],
  [/^\s*(?:step\s*\d+|\d+[.)]|\(\w\)|[-•#>]+)\s*[:.)]?\s*(?=\p{Lu}|⟦)/iu, ' '],
  [/\bnot\s+(?:just\s+|only\s+)?(?:⟦|[\d.,]+),?\s+but\b/i, ' '],
  [/\b(?:for|giv\w+|yield\w*|leav\w+|to|get\w*) (?:us )?(?:an?|the|our) (?:final )?answer(?: of)?\b/gi, ', it is '],
  [/^\s*(?:solution|(?:final )?answer|result|conclusion|explanation)\s*:\s*(?=\p{Lu}\p{Ll}*\s)/iu, ' '],
  [/\bit would be\b/i, 'it is'],
  [
    /^\s*(?:add|subtract|multiply|divide|square|factor|simplify|solve|substitute|plug|take)\b[^:]{0,60}:(?=\s*⟦?)/i,
    ' ',
  ],
  // "That is a quarter more: 50"
  [/^\s*(?:that|this|it) is (?:a |an )?(?:\p{L}+ )?(?:more|less|fewer)\s*:\s*$/iu, ' '],
  [/\b(it|that|there|here|what|he|she)['’]s\b/gi, '$1 is'],
  [/(\p{L})['’]s\s*$/u, '$1 is'],
  [/\bnot (?:hard|difficult) to\b|\bno other (?:option|choice|possibility|value|solution|answer)\b/i, ' '],
  [
    /(?:,\s*|^\s*|\s(?=for an? (?:\p{L}+ )?total of\s*=?\s*$))for an? (?:\p{L}+ ){0,3}(?:total|sum|area|volume|length|cost|amount|count|value|number) of\b/iu,
    ', it is ',
  ],
  // A condition on a letter.
  [/\b(?:using|since|with|given|as|because|and) (?:that )?[a-z] ?[<>≤≥] ?[-−]?\d+(?:\.\d+)?\b/gi, ' '],
  [/\b(?:impossible|cannot|not possible|can't)(?: to)? (?:do|get) (?:any )?better than\b/i, ' is '],
  [
    /(?:(?:⟦|(?<![\d./]|[<>≤≥]\s?)[-−]?\d[\d./]{0,30})(?:\s?,\s{0,6}(?:(?:and|or)\s{1,6})?|\s{1,3}(?:and|or)\s{1,6})){1,20}$/,
    ' ',
  ],
];
/** "Then subtract the rejected kids from the total to find the number who got in: 260 - 112 =" */
const HEADING =
  /^\W*(?:(?:then|next|now|finally|first|lastly|so|we|you|can|have to|need to),?\s+)*(?:add|subtract|multiply|divide)\b[^:]{0,300}:(?=\s*=\s*$)/i;
/** "Adding 2 to 18": the value is an operand. */
const OPERAND = /\b(?:add|subtract|multipl|divid|append)(?:\p{L}*ing)?\b(?:\s+\S+){0,3}\s+(?:to|by|from|with)\s*$/iu;
/** Only of a solution set anything may be said. */
const isAnswerOf = (word: string): boolean => namesAnswer(word) && word !== 'solution';
/** "The square of the answer": of a part of it. */
const PART_OF = /(?<!\bvalue )\bof (?:the|this|my|our) (?:final )?(?:answer|solution|result)\b/i;
const SEPARATOR =
  /,?\s+which (?:is|equals|reduces to|simplifies to|evaluates to)(?=[⟦=\s]*$)|,?\s+which (?:corresponds to|matches|is)\s+(?=(?:the )?(?:correct )?(?:option|choice|answer)\b)|,\s+(?!that\b|which\b|whether\b)|:\s+(?=(?:so |thus )?(?:the|our)\b)|—|\s-\s|\b(?:so(?! that)|then|thus|therefore|hence|implying)\b(?: that)?|(?<!\bnot? )\b(?:shows?|means?|implies|implying|concludes?|deduce|see|find|follows|verified|know) that\b|⇒|→|(?:\d|⟦)\s+(?=\p{Lu}\p{Ll}+(?:\s\p{L}+)?\s*:)/u;

/** "where y is 9" says what y is; "up to 9" is a bound. */
const SUBORDINATE =
  /\b(?:where|when|if|while|whereas)\s+\S+\s+(?:is|=|equals)\s*$|(?<!\b(?:add|sum|come)(?:s|ing|ming)?\s)\bup to\s*[⟦$]?\s*$/i;

/** "If it were so, it would be …": a condition of the question's own words supposes nothing. */
function isSupposed(said: string, known: Known): boolean {
  const condition = /\bif\b([^,]*)/i.exec(said)?.[1];
  if (condition === undefined || !/\b(?:would|were)\b/i.test(said)) return false;
  return /\b(?:were|had|instead)\b/i.test(condition) || !read(condition).every(({ word }) => isCommon(word, known));
}

/** The clause that holds the value, with the adjuncts before it: "On Monday, …". "Ben has 21 stamps and Maria has 63": the last one. */
function clauseAround(left: string, right: string): string {
  const parts = left.split(SEPARATOR);
  let last = parts.pop() ?? '';
  // "Toulouse, Charleston, and Seattle have", "the multiple of 12 and 20 is", "gcd(84, 126) ="
  let listed = /^\s*(?:and|or)\b/.test(last) || /^[^(]*\)/.test(last);
  while (listed && parts.length > 0 && !isClause(parts.at(-1) ?? '')) {
    const before = parts.pop() ?? '';
    last = `${before}, ${last}`;
    listed = before.trim().split(/\s+/).length <= 3 && !before.includes('(');
  }
  const own = last.split(/, which\b|(?<=[\d⟦][^.]{0,60})\b(?=(?:and|while|whereas|but)\b)/);
  while (own.length > 1 && /^and\b/.test(own.at(-1) ?? '') && isClause(own.at(-1) ?? '') && !isClause(own.at(-2) ?? ''))
    own.push(own.splice(-2).join(''));
  const adjuncts =
    own.length > 1
      ? []
      : parts.filter(
          (part) =>
            (ADJUNCT.test(part) || /\b(?:ago|later|from now)\b/i.test(part)) &&
            part.length < 60 &&
            !read(part).some(({ word }) => isLink(word)),
        );
  const behind =
    right.split(
      /[,;:(]|\band\b(?=.*(?:\d|⟦)| (?:the|its|his|her|their|he|she|it|they|we|so)\b)|\b(?:while|whereas|but|so|because|since|where|which|as|hence)\b/,
    )[0] ?? '';
  return `${adjuncts.join(' ')}; ${own.at(-1)} ${NOUN} ${behind}`;
}
const isClause = (said: string): boolean => read(said).some(({ word }) => isLink(word));
const ADJUNCT =
  /^\W*(?:(?:so|then|thus|hence|therefore|and),? )?(?:in|on|at|by|after|before|during|over|for|with|without|from|working|together|both|alone|including|loaded|altogether|originally|now)\b/i;

interface Value {
  readonly marked: boolean;
  /** In a box, or computed before: the words around it are an open class. */
  readonly open: boolean;
  /** Does it end a calculation? */
  readonly calculated: boolean;
  readonly number: boolean;
  readonly value: string;
}

function leads(left: string, known: Known, { marked, open, calculated, number, value }: Value): boolean {
  const bare = withoutBound(left, known.question ?? '').replace(HEADING, (heading) =>
    read(heading).some(({ word }) => isFault(word) && !known(word)) ? heading : ' ',
  );
  const said = OPENINGS.reduce((text, [form, by]) => text.replace(form, by), bare);
  if (isSupposed(said, known)) return stopped('a supposition', said);
  if (OPERAND.test(said)) return stopped('an operand', said);
  if (SUBORDINATE.test(said)) return stopped('a clause or a bound', said);
  const supposed = SUPPOSED.exec(said)
    ?.slice(1)
    .find((word) => word !== undefined)
    ?.toLowerCase();
  if (supposed !== undefined && !known(supposed)) return stopped('another problem', supposed);
  const premises = said.split(SEPARATOR);
  const words = read(premises.pop() ?? '');
  const odd = premises.find((premise) => !isPremise(premise, known, open, calculated));
  if (odd !== undefined) return stopped('a premise', odd);
  const lower = words.map(({ word }) => word);
  if (lower.length === 0) return true;
  if (lower.lastIndexOf('≠') > lower.lastIndexOf('=')) return stopped('a relation', '≠');
  if (lower.includes('either') && !/\b(?:or|and)\b/.test(`${left} ${value}`)) return stopped('words before', 'either');
  if (lower.some((word) => word.endsWith("'s") && namesAnswer(word.slice(0, -2))))
    return stopped('a part of the answer', said);
  if (
    lower.some(
      (word, k) =>
        namesAnswer(word) &&
        (word !== 'final' || !isNamed(lower[k + 1])) &&
        !(open && known.asked && known(word) && word !== 'answer'),
    )
  )
    return (
      isAnswerClause(lower, known, number) ||
      ((marked || known.asked) &&
        value !== '' &&
        !PART_OF.test(said) &&
        !lower.some(isAnswerOf) &&
        isOpen(words, known, premises.length === 0)) ||
      stopped('words beside "answer"', words.map(({ word }) => word).join(' '))
    );
  const linked = lower.findLastIndex(isLink);
  // A verb of the question's own: "Yuki jogs 26".
  const link =
    linked < 0 && known.asked ? lower.findLastIndex((word) => /(?:s|ed)$/.test(word) && known(word)) : linked;
  if (isObject(words.slice(link + 1), lower[link], known, number) && isSubject(words, link, known, marked)) return true;
  return (
    // Without a box closed.ts accounts for each word.
    ((open || (isClosedWorld(known.question ?? '') && !(number && LABELLED.test(lower.at(-1) ?? '')))) &&
      isOpen(words, known, premises.length === 0)) ||
    stopped('words before the value', lower.join(' '))
  );
}

/** "See equation 12." */
const LABELLED = /^(?:equation|line|option|choice|where)$/;

/** A part of the sentence before the clause that holds the value. */
function isPremise(premise: string, known: Known, open: boolean, calculated: boolean): boolean {
  if (/\b(?:not|never|cannot|false|wrong|suppose|assume)\s*$/i.test(premise)) return false;
  const words = read(premise);
  if (
    words.some(({ word }) => isFault(word) && !DEDUCING.has(word) && !known(word)) &&
    !OTHER_SUBJECT.test(premise.trim())
  )
    return false;
  const first = words.findIndex(({ word }) => !/^(?:so|and|but|now|then|also|[⟦:=])$/.test(word));
  const opening = words[first]?.word ?? '';
  if (
    !(open && (calculated || /^(?:for|when)$/.test(opening))) &&
    CONDITION.has(opening) &&
    !(opening === 'only' && isDeterminer(words[first + 1]?.word ?? ''))
  )
    return words.slice(first + 1).every(({ word }) => isGiven(word, known));
  if (opening === 'if' && words.some(({ word }) => /^(?:were|instead|had)$/.test(word) && !known(word))) return false;
  if (IGNORING.has(opening) || IGNORING.has(words[first + 1]?.word ?? '')) return false;
  if (!open && PLACES.has(opening))
    return words
      .slice(first)
      .every(({ word, written }) => /^\p{Lu}|^=$/u.test(written) || isCommon(word, known) || PREMISE.has(word));
  return true;
}

/** "so the final answer to this problem is" */
const isAnswerClause = (words: readonly string[], known: Known, number: boolean): boolean =>
  !/^(?:has|have|had)$/.test(words.at(-1) ?? '') &&
  words.every((word) => isStrict(word, known)) &&
  !(number && isMeta(words.at(-1) ?? ''));

/** "the final temperature" is no answer by name. */
const isNamed = (next: string | undefined): boolean => next !== undefined && /^\p{L}/u.test(next) && !isLink(next);

const isStrict = (word: string, known: Known): boolean =>
  /^(?:[⟦:=]|\d+|[a-zα-ω])$/u.test(word) ||
  isLead(word) ||
  (known(word) && !isDenying(word) && !isRefusing(word) && !isMeta(word));
