// A closed form of statement: does the sentence around a value state it? Each word has a part in the grammar below, or the
// sentence states nothing. Known are the words of the question and the solution, and the tables of statement-words.ts. Linear.

import { isNoun, isRefusing, leadsTo, withoutHedges } from '../read/harmless-words.ts';
import {
  finds,
  DEDUCING,
  IGNORING,
  isAction,
  isCommon,
  isDenying,
  isDeterminer,
  isFault,
  isForeignNoun,
  isLead,
  isLink,
  isMeta,
  isNegation,
  isOther,
  isTransform,
  namesAnswer,
  NUMBER_WORD,
  opensZone,
  PREMISE,
  CONDITION,
  PLACES,
  QUANTITY,
  SUPPOSED,
} from '../read/statement-words.ts';
import { namesOther } from './asked.ts';
import { leftOf, NOUN, rightOf, STRIKES, STRUCK, wordsOf } from './sentence.ts';
import { OTHER_SUBJECT } from './explanation.ts';
import type { Known } from './known.ts';
import { stopped } from './obstacle.ts';
import { isOpen, type Word } from './open.ts';
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
  const { words, inside } = leftOf(text, start);
  if (STRUCK.test(words) || STRIKES.test(value)) return stopped('struck out');
  if (EXAMPLE.test(text.slice(Math.max(0, start - 12), start))) return stopped('an example');
  const number = /^(?:\\f?boxed\s*\{)?[-−$\s]*\d|^\(\d+\)?$/.test(value);
  const left = /\d[.,]\d/.test(value) ? withoutHedges(words) : words;
  return (
    leads(left, known, { marked, number, value }) &&
    leaves(rightOf(text, end, inside), known, {
      object: /\p{L}{2}|⟦/u.test(words),
      stated: read(words).some(({ word }) => isLink(word) || !isLead(word)),
      named: wordsOf(words).some((word) => namesAnswer(word.toLowerCase())),
      before: text.slice(0, start),
      value,
      marked,
    })
  );
}

/** Do the words before `start` lead to what follows? `strict`: nothing but words that name an answer. */
export function isLedTo(text: string, start: number, known: Known, strict = false): boolean {
  const { words } = leftOf(text, start);
  if (STRUCK.test(words)) return false;
  if (strict) return read(words).every(({ word }) => isStrict(word, known));
  return leads(words, known, { marked: true, number: false, value: '' });
}

const EXAMPLE = /\b(?:e\.\s?g|cf|viz)\.?,?\s*[$]?$/i;

/** Openings of a sentence that say nothing of its value. */
const OPENINGS: readonly (readonly [RegExp, string])[] = [
  [/[*_"“”`]/g, ' '],
  [/^(?:\s*(?:no\s*[,!—]|(?:oops|wait|yes|ok|okay|actually|correction|hmm+)\s*[,:!—]))+/i, ' '],
  [/(?:(?<=[\d⟦].{0,20})\bno|\b(?:oops|wait|correction))\s*[:!—]\s*$/i, ' '],
  [/^\s*(?:step\s*\d+|\d+[.)]|\(\w\)|[-•#>]+)\s*[:.)]?\s*(?=\p{Lu}|⟦)/iu, ' '],
  [/\bnot\s+(?:just\s+|only\s+)?(?:⟦|[\d.,]+),?\s+but\b/i, ' '],
  [/^\s*(?:solution|(?:final )?answer|result|conclusion|explanation)\s*:\s*(?=\p{Lu}\p{Ll}*\s)/iu, ' '],
  [/\bit would be\b/i, 'it is'],
  [
    /^\s*(?:add|subtract|multiply|divide|square|factor|simplify|solve|substitute|plug|take)\b[^:]{0,60}:(?=\s*⟦?)/i,
    ' ',
  ],
  [/\b(it|that|there|here|what|he|she)['’]s\b/gi, '$1 is'],
  [/\bnot (?:hard|difficult) to\b|\bno other (?:option|choice|possibility|value|solution|answer)\b/i, ' '],
  [/\b(?:impossible|cannot|not possible|can't)(?: to)? (?:do|get) (?:any )?better than\b/i, ' is '],
  [
    /(?:(?:⟦|(?<![\d./])[-−]?\d[\d./]{0,30})(?:\s?,\s{0,6}(?:(?:and|or)\s{1,6})?|\s{1,3}(?:and|or)\s{1,6})){1,20}$/,
    ' ',
  ],
];
/** "Adding 2 to 18": the value is an operand. */
const OPERAND = /\b(?:add|subtract|multipl|divid|append)(?:\p{L}*ing)?\b(?:\s+\S+){0,3}\s+(?:to|by|from|with)\s*$/iu;
/** Only of a solution set anything may be said. */
const isAnswerOf = (word: string): boolean => namesAnswer(word) && word !== 'solution';
/** "The square of the answer": of a part of it. */
const PART_OF = /(?<!\bvalue )\bof (?:the|this|my|our) (?:final )?(?:answer|solution|result)\b/i;
const SEPARATOR =
  /,\s+(?!that\b|which\b|whether\b)|:\s+(?=(?:so |thus )?(?:the|our)\b)|—|\s-\s|\b(?:so(?! that)|then|thus|therefore|hence|implying)\b(?: that)?|(?<!\bnot? )\b(?:shows?|means?|implies|implying|concludes?|deduce|see|find|follows|verified|know) that\b|⇒|→|(?:\d|⟦)\s+(?=\p{Lu}\p{Ll}+(?:\s\p{L}+)?\s*:)/u;

/** "where y is 9" says what y is; "up to 9" is a bound. */
const SUBORDINATE = /\b(?:where|when|if|while|whereas)\s+\S+\s+(?:is|=|equals)\s*$|\bup to\s*[⟦$]?\s*$/i;

interface Value {
  readonly marked: boolean;
  readonly number: boolean;
  readonly value: string;
}

function leads(left: string, known: Known, { marked, number, value }: Value): boolean {
  const said = OPENINGS.reduce((text, [form, by]) => text.replace(form, by), left);
  if (/\bif\b/i.test(said) && /\b(?:would|were)\b/i.test(said)) return stopped('a supposition', said);
  if (OPERAND.test(said)) return stopped('an operand', said);
  if (SUBORDINATE.test(said)) return stopped('a clause or a bound', said);
  const supposed = SUPPOSED.exec(said)
    ?.slice(1)
    .find((word) => word !== undefined)
    ?.toLowerCase();
  if (supposed !== undefined && !known(supposed)) return stopped('another problem', supposed);
  const premises = said.split(SEPARATOR);
  const words = read(premises.pop() ?? '');
  const odd = premises.find((premise) => !isPremise(premise, known, marked));
  if (odd !== undefined) return stopped('a premise', odd);
  const lower = words.map(({ word }) => word);
  if (lower.length === 0) return true;
  if (lower.includes('≠')) return stopped('a relation', '≠');
  if (lower.includes('either') && !/\b(?:or|and)\b/.test(`${left} ${value}`)) return stopped('words before', 'either');
  if (lower.some((word) => word.endsWith("'s") && namesAnswer(word.slice(0, -2))))
    return stopped('a part of the answer', said);
  if (lower.some((word, k) => namesAnswer(word) && (word !== 'final' || !isNamed(lower[k + 1]))))
    return (
      isAnswerClause(lower, known, number) ||
      (marked &&
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
  if (!marked && known.asked && !/^[=:]$/.test(lower[link] ?? '')) {
    const subject = words.slice(0, link < 0 ? undefined : link).map(({ written }) => written);
    if (namesOther(subject.join(' '), known.question ?? '')) return stopped('another quantity', said);
  }
  if (isObject(words.slice(link + 1), lower[link], known, number) && isSubject(words, link, known, marked)) return true;
  return (
    (marked
      ? isOpen(words, known, premises.length === 0)
      : known.asked === true && isOpenSubject(words, link, known, number)) ||
    stopped('words before the value', lower.join(' '))
  );
}

/**
 * Without a mark the subject and its verb are open where the question is known: what stands behind the verb is closed, and a word
 * that the question does not hold narrows none that it holds ("the exterior angle", "the older brother").
 */
function isOpenSubject(words: readonly Word[], link: number, known: Known, number: boolean): boolean {
  const verb = link >= 0 ? link : words.findLastIndex(({ word }, k) => k > 0 && /[^su]s$|ed$/.test(word));
  if (verb < 1 || !isObject(words.slice(verb + 1), words[verb]?.word, known, number)) return false;
  const subject = words.slice(0, verb);
  const narrowed = subject.some(
    ({ word }, k) =>
      (COMPARED.test(word) && !known(word)) ||
      (!isCommon(word, known) &&
        known(words[k + 1]?.word ?? '') &&
        !opensZone(words[k + 1]?.word ?? '') &&
        k + 1 < verb),
  );
  return !narrowed && isOpen(words, known, false) && !subject.some(({ word }) => isRefusing(word) && !known(word));
}
const COMPARED =
  /^(?:old|young|fast|slow|tall|short|heavy|light|long|small|large|bigg|great|low|high|near|far|earl|late|clos)(?:i?er|e?st|iest)$/;
/** A part of the sentence before the clause that holds the value. */
function isPremise(premise: string, known: Known, marked: boolean): boolean {
  if (/\b(?:not|never|cannot|false|wrong|suppose|assume)\s*$/i.test(premise)) return false;
  const words = read(premise);
  if (
    words.some(({ word }) => isFault(word) && !DEDUCING.has(word) && !known(word)) &&
    !OTHER_SUBJECT.test(premise.trim())
  )
    return false;
  const first = words.findIndex(({ word }) => !/^(?:so|and|but|now|then|also|[⟦:=])$/.test(word));
  const opening = words[first]?.word ?? '';
  if (CONDITION.has(opening)) return words.slice(first + 1).every(({ word }) => isGiven(word, known));
  if (IGNORING.has(opening) || IGNORING.has(words[first + 1]?.word ?? '')) return false;
  if (!marked && PLACES.has(opening))
    return words
      .slice(first)
      .every(({ word, written }) => /^\p{Lu}/u.test(written) || isCommon(word, known) || PREMISE.has(word));
  return true;
}

/** Nothing of its own is supposed where all words are the question's. */
const isGiven = (word: string, known: Known): boolean =>
  /^(?:[⟦=:<>≤≥]|[\d.,]+|[a-zα-ω])$/u.test(word) || isLead(word) || isDeterminer(word) || known(word);

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

function isSubject(words: readonly Word[], link: number, known: Known, marked: boolean): boolean {
  const subject = words.slice(0, Math.max(link, 0));
  const verb = words[link]?.word ?? '';
  const opening = subject.findIndex(({ word }) => !/^(?:so|and|but|now|then|also|[⟦:=])$/.test(word));
  if (CONDITION.has(subject[opening]?.word ?? '') && !subject.every(({ word }) => isLink(word) || isGiven(word, known)))
    return false;
  let [zone, determined, strange] = [false, false, false];
  for (const [k, { word, written }] of subject.entries()) {
    if (/^[<>≤≥]$/.test(word)) return false;
    if (isMeta(word) && (!marked || !zone)) return false;
    if ((isFault(word) || isOther(word) || (known.asked && isTransform(word))) && !known(word)) return false;
    if (zone && known.asked && isNegation(word) && !known(word)) return false;
    if (zone) continue;
    if (isDenying(word)) return false;
    if (opensZone(word) && k > 0) zone = determined;
    else if (isDeterminer(word) || /'s$|s'$/.test(word)) determined = true;
    else if (word === NOUN || word === '=' || word === ':' || isLink(word)) strange = false;
    else if (isCommon(word, known)) {
      if (strange) return false;
      determined ||= (k === 0 && word.length > 1) || /^(?:number|value|sum|total)$/.test(word);
    } else if (isName(written, k, words, known)) continue;
    else if (NUMBER_WORD.test(word)) continue;
    else if (known.asked || strange || !determined || word.endsWith('ly') || !isAction(verb) || finds(verb))
      return false;
    else strange = true;
  }
  return true;
}

/** A capital begins a name; at the head of a clause only where a common word follows. */
const isName = (written: string, k: number, words: readonly Word[], known: Known): boolean =>
  /^\p{Lu}/u.test(written) &&
  (k > 0 || (isCommon(words[1]?.word ?? ':', known) && !/^[=:\d]/.test(words[1]?.word ?? '')));

const COMPANIONS = /^(?:him|her|them|me|us|you|at|in|by|to|out|up|for|with|on|per|back|after)$/;

/** The words between the verb and the value. */
function isObject(words: readonly Word[], link: string | undefined, known: Known, number: boolean): boolean {
  const lower = words.map(({ word }) => word);
  if (lower.some((word) => isDenying(word) || isRefusing(word))) return false;
  const last = lower.at(-1) ?? '';
  if (isMeta(last) || (number && /^(?:equation|line|option|choice)$/.test(last))) return false;
  if (lower.some((word) => /[^\x00-\x7F]/.test(word) && word !== NOUN && !isForeignNoun(word) && !known(word)))
    return false;
  if (leadsTo(lower.join(' '), true)) return true;
  const action = link !== undefined && (isAction(link) || !isLink(link));
  return words.every(
    ({ word, written }, k) =>
      word === NOUN ||
      /^(?:now|then|currently|still|also)$/.test(word) ||
      leadsTo(word, true) ||
      (action && (COMPANIONS.test(word) || isNoun(word) || known(word) || /^\p{Lu}/u.test(written))) ||
      (word === 'of' && k > 0 && QUANTITY.test(lower[k - 1] ?? '')) ||
      QUANTITY.test(word) ||
      (!number && isCommon(word, known)),
  );
}
