// Sentences behind an answer. One that speaks of other things is an explanation, and free. One that speaks of the answer or of
// the text itself ("it", "this", "the value", "the proof", no subject at all, "but …") is of a closed form: every word known,
// nothing denied, nothing left to be done. Anything else of that kind takes the answer back. Linear.

import {
  ABOUT,
  isCommon,
  isFault,
  isLink,
  isMeta,
  isNegation,
  namesAnswer,
  NUMBER_WORD,
  OPEN_ENDED,
  PREMISE,
  WORKING,
} from '../read/statement-words.ts';
import { NOUN, withNouns, wordsOf } from './sentence.ts';
import { type Known, wordsIn } from './known.ts';

/** Farewells, offers and confidence. */
export const REMARK =
  /^(?:so |and |therefore,? |thus,? )?(?:(?:i (?:really )?)?hope|i (?:trust|believe (?:it|this) is correct|am (?:confident|sure|happy|glad)|verified|checked|double-checked|used|have (?:verified|checked|shown|used|boxed)|conclude)|let me(?: know|$)|please let me|please feel|feel free|if you|do let me|would you|my (?:final )?answer\b|as i|i[’']m (?:confident|sure|happy|glad|here)|glad i|happy i|thank|great|yes\b|ok\b|correct[.!]?$|right[.!]?$|true[.!]?$|(?:perfect|excellent|good)\b|q\.?\s?e\.?\s?d|done|good luck|have a)|\b(?:let me know|ask me|feel free|i hope)\b/i;
/** A reason, a check, a condition of equality: it may deny, and name what it likes. */
const REASONED =
  /^(?:(?:to |let[’']s |let us |we can (?:also )?|quick |a |double[- ]?|re-?)*(?:check|verif\w*|confirm\w*)|explanation|(?:this|that|it|which) (?:also |indeed )?(?:makes sense|checks out|agrees|matches|fits|is (?:consistent|reasonable|plausible))|since|because|as|(?:this|that|it) (?:is )?(?:follows )?(?:because|since|from)|here we|indeed|recall|equality|by|using|note that|we (?:have )?(?:used|applied|chose|assumed|interpreted)|(?:the )?(?:key |main )?(?:idea|reason|trick|insight|observation)|that is,(?=.* (?:minus|plus|times|divided by) )|no (?:further|other|additional|more) (?:restrictions?|conditions?|constraints?|steps?) (?:apply|applies|exist|(?:is|are) needed|remain)|common (?:mistake|error|pitfall)s?:)(?!\p{L})/iu;
/** Something that is not the answer: another value, other letters, a number of its own. */
export const OTHER_SUBJECT =
  /^\(?(?:(?:therefore|thus|so|hence|while|whereas|but|and|since|because|note that),? )*(?:(?:the|any|all|both|an?) )*(?:(?:values?|options?|choices?|roots?|case) )?(?:other|remaining|negative|alternatives?|choosing|taking|⟦|\d[\d.]*|\(?[A-J]\)?(?= (?:is|are|was|and|fails?|cannot|can|does|do|would|gives?|has)\b|,)(?:,? (?:and )?\(?[A-J]\)?(?![a-z]))*)(?![\p{L}\d])(?! (?:one|case|value|answer|way|number|result)s? (?:is|are|gives?|yields?|works?) (?!(?:not|impossible|invalid|wrong|extraneous|rejected|discarded|too|nothing)))/iu;
/** Something is still to be done. */
const UNDONE =
  /\b(?:missing|left out|still|yet|(?<!\bas (?:it|they) )should|(?:has|have|had|needs?|remains?|got) to|(?:was|were|is|are) (?:wanted|asked|sought|required|requested)|(?:question|problem|task|exercise) (?:was|is|asks?|asked|wants?|wanted|concerns?)(?! (?:now )?(?:solved|done|complete)))\b/i;

/** Does this sentence, which stands behind an answer, take it back? `before`: the text up to the answer. */
export function speaksAgainst(sentence: string, known: Known, before: string): boolean {
  const said = withNouns(sentence.replace(/[*_"“”`]/g, ' '))
    .replace(/\s+/g, ' ')
    .replace(/^[\s,(—-]+/, '')
    .replace(/^(?:geometrically|algebraically|graphically|intuitively|numerically),\s/i, '')
    .trim();
  if (said === '' || REMARK.test(said) || OTHER_SUBJECT.test(said)) return false;
  const tokens = wordsOf(said);
  const words = tokens.map((word) => word.toLowerCase().replace('’', "'"));
  const earlier = wordsIn(() => before.slice(-SAID_CHARS));
  const mine = (word: string): boolean => known(word) || earlier(word);
  const reasoned = REASONED.test(said) || /\bwhich is why\b/i.test(said);
  if (IS_OFF.test(said)) return true;
  const beside = BESIDE.exec(said)?.[1];
  if (beside !== undefined && known.asked && known(beside) && !ABOUT.has(beside.toLowerCase())) return false;
  if (words.some((word) => isFault(word) && !mine(word))) return !/^common/i.test(said);
  const about =
    words.length < 4 ||
    words.some((word) => ABOUT.has(word) || AGAIN.test(word)) ||
    WORKING.has(words[0] ?? '') ||
    /^(?:\P{L}*\p{L}+ing(?!\p{L})|to \p{L}+,)/iu.test(said);
  const fragment = words.length < 5 && !words.some((word) => word === NOUN || isLink(word));
  if (reasoned) return false;
  if (UNDONE.test(said)) return true;
  if (!about && !fragment) return false;
  const strange = (word: string, k: number): boolean =>
    !/^(?:[⟦=:≠≤≥<>]|\d.*)$/u.test(word) &&
    !isCommon(word, mine) &&
    !isMeta(word) &&
    !PREMISE.has(word) &&
    (fragment || !NUMBER_WORD.test(word)) &&
    !isNegation(word) &&
    !(k > 0 && /^\p{Lu}/u.test(tokens[k] ?? ''));
  const from = words.findIndex((word) => /^(?:because|since|as|so that|unlike)$/.test(word));
  const main = from > 0 ? words.slice(0, from) : words;
  // A sentence that takes an answer back is short, speaks of it, or gives an order.
  const long = main.length > LONG && !words.some(namesAnswer);
  if (!long)
    return main.some((word, k) => strange(word, k) || isNegation(word) || isOpenEnded(main, k) || WORKING.has(word));
  if (RETRACTS.test(said) || OF_THE_WORK.test(said)) return true;
  const pronoun = /^(?:(?:so|but|and) )?(?:this|that|it|which|these|those)\b/.test(main.slice(0, 2).join(' '));
  return main.some(
    (word, k) =>
      (pronoun && isNegation(word)) || (WORKING.has(word) && /^(?::|to|then|now|so|)$/.test(main[k - 1] ?? '')),
  );
}
/** Words of a second look at what was done, at any length. */
export const RETRACTS =
  /\b(?:instead|slips?|oversight|overlook\w*|overcount\w*|undercount\w*|forg[eo]t\w*|neglect\w*|violat\w*|fails?|contradict\w*|only|must|should|actually|careful\w*|correct\w*|re-?(?:comput|calculat|examin|evaluat|consider|count|read|check|do|did|think|thought|visit)\w*|(?:does|do|did|is|are|was|were|can)(?: ?not|n[’']t)|cannot|no longer|once more|again)\b/i;
/** It speaks of what was written before, or compares another number with it. */
const OF_THE_WORK =
  /\b(?:above|lines?|statement|restrictions?|further|back over|thinking|twice|half of (?:that|this|it|them|which)|(?:this|that) (?:one|number|value|count|root)|counts?|numbers?|ignor\w*|(?:too|smaller|larger|fewer|more|less) (?:\w+ ){0,2}(?:than|by|in|number|value|large|small|many|few)|double[sd]?|halve[sd]?|looking for)\b/i;
const isOpenEnded = (words: readonly string[], k: number): boolean =>
  OPEN_ENDED.has(words[k] ?? '') && words[k + 1] !== 'than';

/** "It is off by one". */
export const IS_OFF = /\b(?:is|are|was|were|be|being|bit|way|slightly)\s+off\b|\boff by\b/i;

/** "The buns are irrelevant here." */
const BESIDE =
  /^the (?:\d+ )?(\p{L}+) (?:is|are|was|were) (?:irrelevant|a distractor|not (?:needed|relevant|used))\b[^,;]*$/iu;

const LONG = 9;

/** The words of the text up to an answer that are known behind it. */
const SAID_CHARS = 8_000;

/** A second look. */
const AGAIN = /^re-?(?:count|calc|comput|check|do|exam|evaluat|vis|consider)/;
