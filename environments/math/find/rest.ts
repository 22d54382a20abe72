// The words behind a value in its own sentence: units, counted nouns and closed words leave it as it is; an explanation is
// read as a sentence of its own. Part of the grammar in statement.ts. Linear: the rest of one sentence is read.

import { isNoun, isRefusing } from '../read/harmless-words.ts';
import {
  isCommon,
  isDenying,
  isDoubting,
  isNegation,
  isTransform,
  isDeterminer,
  isMeta,
  isFault,
  namesAnswer,
  NUMBER_WORD,
  opensZone,
  UNFIT,
  WORK,
} from '../read/statement-words.ts';
import { numberWord } from '../read/number-words.ts';
import { isUnitWord } from '../read/unit-words.ts';
import { countsAnother } from './counted.ts';
import { ratesOther, withoutBound } from './asked.ts';
import { IS_OFF, OTHER_SUBJECT, speaksAgainst } from './explanation.ts';
import { stopped } from './obstacle.ts';
import { NOUN, STRUCK, wordsOf } from './sentence.ts';
import { RESTATED, ROUNDED } from './tail.ts';
import type { Known } from './known.ts';

/** Opens an explanation, a place or a comparison, which is no part of what is stated. */
const EXPLAINED =
  /(?:^|[\s,(—-])(?:because|since|as(?! (?:far|long|well|soon|(?:the |our )?(?:final )?answer)\b)|so|hence|thus|therefore|where|using|by|i\.?e\.?|that is|namely|or else|due to|while|whereas|and (?:we|this|it|thus|hence|so|indeed)|and (?:the|its|his|her|their) (?!(?:other|answer|negative|solution|value|opposite|same|rest|result|next|correct|true|right|real|total)\b)\p{L}+ (?:is|are|was|has|would be)|which (?:means|gives|implies|matches|equals|simplifies|completes|satisfies|fits|makes sense|(?:I|we) (?:have )?(?:verified|checked|confirmed)|is (?:less|smaller|greater|larger) than (?:(?:the )?(?=[\d⟦])|one\b|zero\b))|matching|confirming|agreeing with|consistent with|not(?=\s+(?:⟦|[\d$(-]|\p{L}+ing\b))|(?:rather than|instead of)(?=\s+(?:⟦|[\d$(-]|\p{L}+ing\b))|(?:attained|achieved|reached|occurring)?\s*(?:when|at(?! (?:most|least)\b)|if and only if|iff))(?![\p{L}]).*$/su;
/** Other values, set aside in brackets. */
const OTHERS = /\(\s*(?:we )?(?:reject|discard|exclud|ignor|not|choices?)[^()]*(?:⟦|\d)[^()]*\)/i;
/** "(and not 100)", "(without the leak it would take 16)": in brackets another value may be set beside the first. */
const CONTRAST = /\(\s*(?:(?:and )?not (?=[\d⟦])[^()]*|[^()]*\bwould\b[^()]*)\)/gi;
const NEVER = /(?!)/g;
/** ", and its circumference would be 12π": another quantity of the same thing. */
const COMPANION =
  /,? and (?:its|the|his|her|their) (?!(?:other|answer|negative|solution|value|opposite|same|rest|result|next|correct|true|right|real|total)\b)\p{L}+ (?:would be|is|are|was|has) [$⟦\d][^,;]*$/u;
/** ", 10 more than on Monday", ", for a total of 90 over both days" */
const BEFORE_THEN =
  /, (?:which is )?\d[\d.,]* (?:\p{L}+ )?(?:more|fewer|less) than (?:on|in|last) \p{L}+\W*$|, (?:for|making|giving) a (?:\p{L}+ )?total of \d[\d.,]* (?:\p{L}+ )?(?:over|on|in|for|across) (?:both|all|the)\b[^,;]*$/u;
/** The same value once more, rounded: compared where it is found (tail.ts). */
const NEAR = new RegExp(`(?:\\(\\s*)?${ROUNDED.source}\\s?(?:\\p{L}{1,20}[²³]?(?=[\\s).,]|$))?(?:\\s*\\))?`, 'giu');
/** A value that "or" or "and" adds is read with the first. */
const JOINED =
  /^[\s,)(]*(?:or(?![^)]*\))|≈|approximately|about|and(?=\s+(?:⟦|[\d(-])))(?:\s+(?:about|approximately|roughly|equivalently|simply))?(?!\p{L})/iu;
/** An operation goes on with the value. */
const OPERATION =
  /^(?:factorial|minus|plus|times|over|to|divided|multiplied|squared|cubed|modulo|negative|before|without|only|as)$/i;
/** "is the answer", "as the final answer": of the value itself. */
const NAMED =
  /^[\s,.()]*(?:(?:which )?(?:is|as|being|must be)\s+)?(?:the|our|my)?\s*(?:(?:final|correct|right|required|desired|only|unique)\s+)*(?:answers?|solutions?|result|choice|option)(?: (?:to|of|for) (?:the|this|our) (?:(?:given|original) )?(?:equation|problem|question|system|inequality|puzzle))?[\s.!)]*$/i;

export interface Behind {
  /** Did a subject and a verb stand before the value, so that it is an object? */
  readonly object: boolean;
  /** Does a verb, or anything that is no leading word, stand before it? */
  readonly stated: boolean;
  /** Does the subject name the answer? Then a preposition opens no room for unknown words. */
  readonly named: boolean;
  /** The text before the value. */
  readonly before: string;
  readonly value: string;
  readonly marked: boolean;
  /** In a box, or computed before: nouns, names and verbs behind it are an open class. */
  readonly open: boolean;
}

/** Of the explanation: what it opens with is no part of it; a place may have any words. */
const isAgainst = (why: string, known: Known, before: string): boolean => {
  const [opening = ''] = /^[\s,(—-]*(?:or else|rather than|instead of|\p{L}+)/u.exec(why) ?? [];
  const place = /when|where|at|not|rather|instead|if|attained|achieved|reached|occurring|else/i.test(opening);
  if (/\b(?:another|(?<!by |because )then|afterwards|next)\b/.test(why)) return true;
  return (
    WORK.test(why) ||
    UNFIT.test(why) ||
    IS_OFF.test(why) ||
    speaksAgainst(place ? `by ${why.slice(opening.length)}` : why, known, before)
  );
};

/** "6, hence 8 in all" concludes 8. */
const concludesOtherwise = (said: string, value: string): boolean => {
  const [, number] = /\b(?:so|hence|thus|therefore)\b\D{0,60}?(\d[\d.,/]*)\D*$/.exec(said) ?? [];
  return number !== undefined && !value.includes(number.replace(/[.,]$/, ''));
};

/** A statement without its explanation; undefined where that speaks against it. */
export function unexplained(said: string, known: Known, before: string): string | undefined {
  const why = EXPLAINED.exec(said)?.[0] ?? '';
  return why !== '' && isAgainst(why, known, before) ? undefined : said.slice(0, said.length - why.length);
}

/** Do the words behind a value leave it as it is? */
export function leaves(
  behind: string,
  known: Known,
  { object, stated, named, before, value, marked, open }: Behind,
): boolean {
  if (/^[\s$.,!)}\]*\\]*$/.test(behind)) return true;
  const right = withoutBound(behind, known.question ?? '');
  if (STRUCK.test(right) || /[?？]\W*$|\bat (?:most|least)\b/i.test(right)) return stopped('behind the value', right);
  const said = right
    .replace(/[*_"“”`]/g, ' ')
    .replace(OTHERS, ' ')
    .replace(/\(([^()]*)\)/g, (all, said: string) => (marked && OTHER_SUBJECT.test(said) ? ' ' : all))
    .replace(marked ? CONTRAST : NEVER, ' ')
    .replace(marked ? COMPANION : NEVER, ' ')
    .replace(marked ? BEFORE_THEN : NEVER, ' ')
    .replace(NEAR, ' ')
    .replace(marked ? RESTATED : NEVER, ' ')
    .replace(/(?<=\p{L})\^\{?[23]\}?/gu, ' ')
    // "9 (nine)"
    .replace(/^([\s$}\])]*)\(([a-z][a-z -]{1,60})\)/i, (all, closed: string, word: string) =>
      numberWord(word.toLowerCase()) === /\d+/.exec(value)?.[0] ? closed : all,
    );
  if (IS_OFF.test(said)) return stopped('behind the value', 'off');
  if (concludesOtherwise(said, value)) return stopped('another value behind it', said);
  const over = /\b(?:missing|left ?over)\b/.exec(said)?.[0];
  if (known.asked && over !== undefined && ![over, 'left', 'leftover', 'leave', 'remain'].some(known))
    return stopped('behind the value', over);
  const rest = unexplained(said, known, before);
  if (rest === undefined) return stopped('its explanation', said);
  if (JOINED.test(rest)) return true;
  const tokens = wordsOf(rest);
  const around = marked && isDeterminer(tokens[1]?.toLowerCase() ?? '');
  const counted = /^[\s$}\]]*times\b(?!\s+(?:[\d⟦]|(?:as|more|less|the|that|this)\b))/.test(right);
  const multiple = tokens[0] === 'times' && /\bhow many times\b/i.test(known.question ?? '');
  // "$72 to feed everyone"
  const purpose =
    tokens[0] === 'to' && /^(?!be$)\p{Ll}{2,}$/u.test(tokens[1] ?? '') && !NUMBER_WORD.test(tokens[1] ?? '');
  const modulo = tokens[0] === 'modulo' && known('remainder') && known.gives?.(tokens[1] ?? '') === true;
  if (OPERATION.test(tokens[0] ?? '') && !modulo && !counted && !multiple && !purpose && !around && !NAMED.test(rest))
    return stopped('an operation', tokens[0]);
  if (known.asked && ratesOther(rest, known.question ?? '')) return stopped('another rate', rest);
  if (known.asked && countsAnother(tokens[0] ?? '', known.question ?? '', open))
    return stopped('another count', tokens[0]);
  return (
    isClosed(tokens, rest, known, { object, named }) ||
    ((open || (known.asked === true && object && stated)) && !named && isOpen(tokens, rest, known, stated, marked))
  );
}

/**
 * Behind a box that ends a clause any words may stand but those of denial, doubt and fault, turns and comparisons, and numbers
 * that nothing subordinates. A sentence whose subject is the value itself is closed: "6 seems large".
 */
function isOpen(tokens: readonly string[], rest: string, known: Known, object: boolean, marked: boolean): boolean {
  if (/^[\s$*\\)}\]]*:\s*\p{Lu}/u.test(rest)) return false;
  const aside = /\(\s*([a-z][a-z -]{1,60})\)/i.exec(rest)?.[1];
  if (aside !== undefined && numberWord(aside.toLowerCase()) !== undefined) return false;
  const bare = wordsOf(rest.replace(/\([^()]*\)/g, ' '));
  const first = bare[0]?.toLowerCase() ?? '';
  const counts = isNoun(first) || isUnitWord(first) || /^(?:different|distinct|possible|such)$/.test(first);
  if (!object && !counts && !known(first)) return false;
  if (/\b(?:have|has|need|needs|yet)\s+to\b/i.test(rest)) return false;
  return (
    !tokens.some((token) => {
      const word = token.toLowerCase().replace('’', "'");
      if (known(word)) return false;
      if (isNegation(word) && known.denies) return false;
      if (known.asked && isTransform(word)) return true;
      return isDoubting(word) || isNegation(word) || isFault(word) || (word !== NOUN && TURNING.test(word));
    }) &&
    !isMeta(first) &&
    bare.every(
      (token, k) =>
        !/^(?:\d|⟦)/.test(token) ||
        known.gives?.(token) ||
        (marked && /\p{L}{3}/u.test(bare[k - 1] ?? '')) ||
        (object && k > 1 && isBeside(bare, k)),
    )
  );
}
const TURNING =
  /^(?:other|another|than|but|however|yet|though|although|until|before|still|only|too|also|extraneous|unknown|todo|double|must|should|if|when|where|[^\x00-\x7F].*)$/;

/** "13 cows and 17 chickens", "formed from the 6 letters" */
const isBeside = (tokens: readonly string[], k: number): boolean =>
  (tokens[k - 1] === 'and' && /^\p{L}{3}/u.test(tokens[k + 1] ?? '')) ||
  opensZone(tokens[k - 1] ?? '') ||
  isDeterminer(tokens[k - 1] ?? '');

function isClosed(
  tokens: readonly string[],
  rest: string,
  known: Known,
  { object, named }: Pick<Behind, 'object' | 'named'>,
): boolean {
  let [zone, counted, about] = [false, false, object];
  for (const [k, token] of tokens.entries()) {
    const word = token.toLowerCase().replace('’', "'");
    if (/^[=:]$/.test(word)) continue;
    if ((isMeta(word) && !(known.asked && known(word))) || (namesAnswer(word) && word !== 'final' && !NAMED.test(rest)))
      return stopped('behind the value', token);
    if (
      /^[≠≤≥<>]$/.test(word) ||
      ((/^(?:other|another|outside|beyond|short)$/.test(word) || isFault(word)) && !known(word))
    )
      return stopped('behind the value', token);
    if (counted && /^(?:not|never|(?:did|do|does|has|have|had|is|are|was|were)n't)$/.test(word)) continue;
    if (known.asked && isTransform(word) && !known(word)) return stopped('behind the value', token);
    if (isDenying(word) && !(known.asked && known(word)) && token !== 'May' && !(k === 0 && word === 'different'))
      return stopped('behind the value', token);
    if (/^(?:less|fewer)$/.test(word) && k > 0 && k === tokens.length - 1) continue;
    if (
      isRefusing(word) &&
      !(known.asked && known(word)) &&
      !/^(?:more|than|below|above|within|over|under|square|plus|minus|far|half|may)$/.test(word)
    )
      return stopped('behind the value', token);
    if (word === NOUN || /^\d/.test(word)) {
      if (zone) continue;
      return stopped('behind the value', token);
    }
    if (NUMBER_WORD.test(word)) {
      if (known(word) || isDeterminer(tokens[k - 1]?.toLowerCase() ?? '')) continue;
      return stopped('behind the value', token);
    }
    // "The 6 in the statement is …" says something of the 6.
    if (zone && /^(?:is|are|was|were)$/.test(word) && !/^(?:that|which|who|there)$/.test(tokens[k - 1] ?? ''))
      [zone, about] = [false, false];
    if ((opensZone(word) && !/^(?:which|that)$/.test(word)) || word === 'than') zone ||= about;
    const noun = k <= 1 && (isNoun(word) || isUnitWord(word));
    counted ||= noun;
    if (noun || (zone && !named) || isCommon(word, known)) continue;
    const name = about && k > 0 && /^\p{Lu}/u.test(token);
    const pair = /[^s]s$/.test(tokens[k + 1]?.toLowerCase() ?? '') && !/(?:ed|ly|s)$/.test(word);
    if (object && k === 0 && pair && !known.asked) continue;
    if (named) return stopped('behind the value', token);
    const unknown =
      !known.asked &&
      object &&
      k <= 1 &&
      /[^s]s$/.test(word) &&
      !/(?:ous|less)$/.test(word) &&
      !isDeterminer(tokens[k + 1]?.toLowerCase() ?? '');
    if (!name && !unknown) return stopped('behind the value', token);
    counted ||= unknown;
  }
  return true;
}
