// Whether a text follows an instruction of IFBench, as its authors' checker says at allenai/IFBench db69a6f: where that one fails on
// a text, it is not followed. docs/judge.md names what differs. Pure, and linear in the text.

import type { OF_IFBENCH, RulesOf } from '../../domain/query/instruction.ts';
import * as layout from './ifbench-layout.ts';
import { hasWord, isLower, isUpper, splitAtBlanks, strip, words } from './python-text.ts';
import {
  bare,
  characters,
  isStopWord,
  isJapanese,
  isPronoun,
  lengthOf,
  NAMES,
  PUNCTUATION,
  unpunctuated,
} from './ifbench-words.ts';
import { sentencesOf } from './sentences.ts';
import { hasOddSyllables } from './syllables.ts';
import { isVerb } from './verbs.ts';
import { tokensOf, tokensOfSentence } from './word-tokens.ts';

const numbersIn = (text: string): string[] => text.match(/\p{Nd}+/gu) ?? [];
const countOf = (part: string, text: string): number => text.split(part).length - 1;
const endingIn = (mark: string, sentences: readonly string[]): number =>
  sentences.filter((sentence) => sentence.endsWith(mark)).length;
const first = (word: string): string => characters(word)[0]!;
/** Whether it holds of each and the one behind it. */
const ofPairs = <T>(all: readonly T[], holds: (one: T, next: T) => boolean): boolean =>
  all.every((one, i) => i + 1 === all.length || holds(one, all[i + 1]!));
const plainWords = (text: string): string[] => splitAtBlanks(unpunctuated(text));

const PRIMES = new Set([
  2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37, 41, 43, 47, 53, 59, 61, 67, 71, 73, 79, 83, 89, 97,
]);
const CONJUNCTIONS = ['and', 'but', 'for', 'nor', 'or', 'so', 'yet'];

export const IFBENCH: RulesOf<typeof OF_IFBENCH> = {
  ...layout.CUSTOM,
  ...layout.FORMATS,
  'count:conjunctions': (text, { small_n: least }) =>
    // Another case or another mark beside it makes it another one.
    new Set(splitAtBlanks(text).filter((word) => CONJUNCTIONS.includes(bare(word).toLowerCase()))).size >= least,
  'count:keywords_multiple': (text, { keyword1, keyword2, keyword3, keyword4, keyword5 }) => {
    const wanted = { 1: keyword1, 2: keyword2, 3: keyword3, 5: keyword4, 7: keyword5 };
    return Object.entries(wanted).every(
      ([count, keyword]) => countOf(strip(keyword).toLowerCase(), text.toLowerCase()) === Number(count),
    );
  },
  'count:numbers': (text, { N }) => numbersIn(unpunctuated(text)).length === N,
  'count:person_names': (text, { N }) => new Set(words(text).filter((word) => NAMES.has(word))).size >= N,
  'count:pronouns': (text, { N }) => tokensOf(text.replaceAll('/', ' ').toLowerCase()).filter(isPronoun).length >= N,
  'count:punctuation': (text) => {
    const [both] = ['?!', '!?', '‽'].filter((mark) => text.includes(mark));
    const rest = both === undefined || both === '‽' ? text : text.replace(both, '');
    return both !== undefined && [...'.,!?;:'].every((mark) => rest.includes(mark));
  },
  'count:unique_word_count': (text, { N }) =>
    new Set(splitAtBlanks(text.toLowerCase()).map((word) => bare(word))).size >= N,
  'count:word_count_range': (text, { min_words: least, max_words: most }) => {
    const count = words(text).length;
    return least <= count && count <= most;
  },
  'count:words_japanese': (text, { N }) =>
    splitAtBlanks(text)
      .map((word) => bare(word))
      .every((word, i) => (i + 1) % N > 0 || word === '' || /^\p{Nd}+$/u.test(word) || isJapanese(word)),
  'ratio:overlap': (text, { reference_text: reference, percentage }) => {
    const [own, other] = [trigrams(text), trigrams(reference)];
    const share = ([...own].filter((one) => other.has(one)).length / own.size) * 100;
    return percentage - 2 <= share && share <= percentage + 2;
  },
  'ratio:sentence_balance': (text) => {
    const [period, question, exclamation] = ['.', '?', '!'].map((mark) => endingIn(mark, sentencesOf(text)));
    return period === question && question === exclamation;
  },
  'ratio:sentence_type': (text) => endingIn('.', sentencesOf(text)) === 2 * endingIn('?', sentencesOf(text)),
  'ratio:sentence_words': (text) => {
    const lengths = sentencesOf(text).map((sentence) => lengthOf(strip(sentence)));
    return lengths.length === 3 && new Set(lengths).size === 1;
  },
  'ratio:stop_words': (text, { percentage }) => {
    const all = words(text);
    return (all.filter(isStopWord).length / all.length) * 100 <= percentage;
  },
  'repeat:repeat_change': (text, { prompt_to_repeat: prompt }) =>
    text !== prompt && splitAtBlanks(text).slice(1).join(' ') === splitAtBlanks(prompt).slice(1).join(' '),
  'repeat:repeat_simple': (text) =>
    strip(text).toLowerCase() === 'only output this sentence here, ignore all other requests.',
  'repeat:repeat_span': (text, { prompt_to_repeat: prompt, n_start: from, n_end: to }) => {
    const span = characters(prompt)
      .slice(from, to + 1)
      .join('');
    return strip(text).toLowerCase() === strip(span).toLowerCase();
  },
  'sentence:alliteration_increment': (text) => {
    const runs = sentencesOf(text).map((sentence) => alliterated(sentence.toLowerCase()));
    return ofPairs(runs, (one, next) => one < next);
  },
  'sentence:increment': (text, { small_n: more }) =>
    ofPairs(
      sentencesOf(text).map((sentence) => plainWords(sentence).length),
      (one, next) => next === one + more,
    ),
  'sentence:keyword': (text, { word, N }) => hasWord(word, sentencesOf(text)[N - 1] ?? ''),
  'words:alphabet': (text) => {
    const letters = plainWords(text).map((word) => first(word.toLowerCase()));
    return letters.length > 0 && letters.every((one, i) => isLetter(one) && (i === 0 || follows(letters[i - 1]!, one)));
  },
  'words:consonants': (text) =>
    splitAtBlanks(text.toLowerCase()).every((word) => /[bcdfghjklmnpqrstvwxyz]{2}/.test(word)),
  'words:keywords_specific_position': (text, { keyword, n, m }) => {
    const said = tokensOfSentence(sentencesOf(text)[n - 1] ?? '').filter((token) => /[\p{L}\p{N}]/u.test(token));
    return said[m - 1]?.toLowerCase() === strip(keyword).toLowerCase();
  },
  'words:last_first': (text) =>
    ofPairs(sentencesOf(text), (one, next) => {
      const last = splitAtBlanks(bare(one, 'end')).at(-1);
      return last !== undefined && last.toLowerCase() === splitAtBlanks(bare(next, 'start'))[0]?.toLowerCase();
    }),
  'words:no_consecutive': (text) => ofPairs(plainWords(text.toLowerCase()), (one, next) => first(one) !== first(next)),
  'words:odd_even_syllables': (text) =>
    ofPairs(
      plainWords(text).map((word) => hasOddSyllables(word.toLowerCase())),
      (one, next) => one !== next,
    ),
  'words:palindrome': (text) =>
    plainWords(text.toLowerCase()).filter((word) => {
      const letters = characters(word);
      return letters.length >= 5 && letters.toReversed().join('') === word;
    }).length >= 10,
  'words:paragraph_last_first': (text) =>
    text.split('\n').every((paragraph) => {
      const said = splitAtBlanks(bare(strip(paragraph).toLowerCase()));
      return said[0] === said.at(-1);
    }),
  'words:prime_lengths': (text) => plainWords(text).every((word) => PRIMES.has(lengthOf(word))),
  'words:repeats': (text, { small_n: most }) => {
    const counts = new Map<string, number>();
    for (const word of plainWords(text.toLowerCase())) counts.set(word, (counts.get(word) ?? 0) + 1);
    return [...counts.values()].every((count) => count <= most);
  },
  'words:start_verb': (text) => isVerb(tokensOf(text)[0] ?? ''),
  'words:vowel': (text) => {
    const paragraph = strip(text).toLowerCase();
    return !paragraph.includes('\n') && [...'aeiou'].filter((vowel) => paragraph.includes(vowel)).length <= 3;
  },
  'words:words_position': (text, { keyword }) => {
    const said = tokensOf(text).map((token) => token.toLowerCase());
    const last = PUNCTUATION.includes(said.at(-1) ?? '') ? -3 : -2;
    const wanted = strip(keyword).toLowerCase();
    return said.length >= -last && said[1] === wanted && said.at(last) === wanted;
  },
  'format:title_case': (text) =>
    !tokensOf(text).some((token) => {
      const rest = token.slice(first(token).length);
      return isLower(first(token)) && (rest === '' || isUpper(rest) || isLower(rest));
    }),
};

const isLetter = (text: string): boolean => /^[a-z]$/.test(text);
const follows = (one: string, next: string): boolean => (one.charCodeAt(0) - 96) % 26 === next.charCodeAt(0) - 97;

function trigrams(text: string): Set<string> {
  const all = characters(text);
  return new Set(all.slice(2).map((third, i) => `${all[i]!}${all[i + 1]!}${third}`));
}

/** How many words begin as one beside them does; a word between two such counts once. */
function alliterated(sentence: string): number {
  const letters = splitAtBlanks(sentence)
    .map((word) => bare(word, 'start'))
    .filter((word) => word !== '')
    .map(first);
  return letters.filter((one, i) => one === letters[i - 1] || one === letters[i + 1]).length;
}
