// Whether a text follows an instruction of IFEval, as its authors' checker says at google-research 83282e4. A keyword is a text here and
// a regular expression there; docs/judge.md names what else differs. Pure, and linear in the text.

import type { OF_IFEVAL, RulesOf } from '../../domain/query/instruction.ts';
import { escapeRegExp } from '../../domain/text/thoughts.ts';
import { languageOf } from './language.ts';
import { BLANK, hasWord, isBlank, isLower, isUpper, occurrences, splitAtBlanks, strip, words } from './python-text.ts';
import { countSentences } from './sentences.ts';
import { wordTokens } from './word-tokens.ts';

const holds = (count: number, relation: 'less than' | 'at least', limit: number): boolean =>
  relation === 'less than' ? count < limit : count >= limit;

const matches = (text: string, pattern: RegExp): string[] => text.match(pattern) ?? [];

export const IFEVAL: RulesOf<typeof OF_IFEVAL> = {
  'keywords:existence': (text, { keywords }) => keywords.every((keyword) => occurrences(keyword, text) > 0),
  'keywords:frequency': (text, { keyword, frequency, relation }) =>
    holds(occurrences(strip(keyword), text), relation, frequency),
  'keywords:forbidden_words': (text, { forbidden_words: forbidden }) => !forbidden.some((word) => hasWord(word, text)),
  'keywords:letter_frequency': (text, { letter, let_frequency: frequency, let_relation: relation }) =>
    holds(text.toLowerCase().split(strip(letter).toLowerCase()).length - 1, relation, frequency),
  'language:response_language': (text, { language }) => (languageOf(text) ?? language) === language,
  'length_constraints:number_sentences': (text, { num_sentences: wanted, relation }) =>
    holds(countSentences(text), relation, wanted),
  'length_constraints:number_paragraphs': (text, { num_paragraphs: wanted }) => {
    const parts = text.split(new RegExp(`[${BLANK}]?\\*\\*\\*[${BLANK}]?`));
    return !parts.slice(1, -1).some(isBlank) && parts.filter((part) => !isBlank(part)).length === wanted;
  },
  'length_constraints:number_words': (text, { num_words: wanted, relation }) =>
    holds(words(text).length, relation, wanted),
  'length_constraints:nth_paragraph_first_word': (text, { num_paragraphs: wanted, nth_paragraph: nth, first_word }) => {
    const parts = text.split('\n\n');
    const count = parts.filter((part) => !isBlank(part)).length;
    const [first] = nth <= count ? splitAtBlanks(parts[nth - 1]!) : [];
    if (first === undefined || count !== wanted) return false;
    const bare = strip(strip(first, "'", 'start'), '"', 'start');
    return /^[^.,?!'"]*/.exec(bare)![0].toLowerCase() === first_word.toLowerCase();
  },
  'detectable_content:number_placeholders': (text, { num_placeholders: wanted }) =>
    text.split('\n').reduce((sum, line) => sum + placeholdersIn(line), 0) >= wanted,
  'detectable_content:postscript': (text, { postscript_marker: marker }) => {
    const lower = text.toLowerCase();
    const said = strip(marker);
    if (said === 'P.P.S') return new RegExp(`p\\.[${BLANK}]?p\\.[${BLANK}]?s`).test(lower);
    if (said === 'P.S.') return new RegExp(`p\\.[${BLANK}]?s\\.`).test(lower);
    return lower.includes(said.toLowerCase());
  },
  'detectable_format:number_bullet_lists': (text, { num_bullets: wanted }) =>
    bulletsIn(text, '*') + bulletsIn(text, '-') === wanted,
  'detectable_format:constrained_response': (text) =>
    ['My answer is yes.', 'My answer is no.', 'My answer is maybe.'].some((option) => text.includes(option)),
  'detectable_format:number_highlighted_sections': (text, { num_highlights: wanted }) => {
    const one = matches(text, /\*[^\n*]*\*/g).filter((part) => !isBlank(strip(part, '*')));
    const two = matches(text, /\*\*[^\n*]*\*\*/g).filter((part) => !isBlank(part.slice(2, -2)));
    return one.length + two.length >= wanted;
  },
  'detectable_format:multiple_sections': (text, { section_spliter: mark, num_sections: wanted }) =>
    matches(text, new RegExp(`${escapeRegExp(strip(mark))}[${BLANK}]?\\p{Nd}+`, 'gu')).length >= wanted,
  'detectable_format:json_format': (text) => isJson(text),
  'detectable_format:title': (text) => text.split('\n').some(hasTitle),
  'combination:two_responses': (text) => {
    const parts = text.split('******');
    const [one, other, ...more] = parts.filter((part) => !isBlank(part)).map((part) => strip(part));
    const isOne = other === undefined || more.length > 0 || one === other;
    return !isOne && !parts.slice(1, -1).some(isBlank);
  },
  'combination:repeat_prompt': (text, { prompt_to_repeat: prompt }) =>
    strip(text).toLowerCase().startsWith(strip(prompt).toLowerCase()),
  'startend:end_checker': (text, { end_phrase: phrase }) =>
    strip(strip(text), '"').toLowerCase().endsWith(strip(phrase).toLowerCase()),
  'startend:quotation': (text) => /^"[^]*"$/.test(strip(text)),
  'change_case:capital_word_frequency': (text, { capital_frequency: frequency, capital_relation: relation }) =>
    holds(wordTokens(text).filter(isUpper).length, relation, frequency),
  'change_case:english_capital': (text) => isUpper(text) && languageOf(text) === 'en',
  'change_case:english_lowercase': (text) => isLower(text) && languageOf(text) === 'en',
  'punctuation:no_comma': (text) => !text.includes(','),
};

/** `[...]` within a line. */
function placeholdersIn(line: string): number {
  for (let [count, from] = [0, 0]; ; count++) {
    const open = line.indexOf('[', from);
    const close = open < 0 ? -1 : line.indexOf(']', open);
    if (close < 0) return count;
    from = close + 1;
  }
}

/** Lines that begin with the mark, and go on with another character where it is an asterisk: blank lines before one belong to it. */
function bulletsIn(text: string, mark: '*' | '-'): number {
  const skip = new RegExp(`[${BLANK}]*`, 'y');
  let count = 0;
  for (let at = 0; at < text.length;) {
    skip.lastIndex = at;
    skip.exec(text);
    const begin = skip.lastIndex;
    const next = text[begin + 1];
    const isBullet = text[begin] === mark && (mark === '-' || (next !== undefined && next !== '*'));
    if (isBullet) count++;
    const rest = isBullet && mark === '*' ? begin + 2 : begin;
    const lineEnd = text.indexOf('\n', rest);
    if (lineEnd < 0) return count;
    // The line break may be the character that goes on.
    at = text[rest - 1] === '\n' && isBullet && mark === '*' && lineEnd === rest ? rest : lineEnd + 1;
  }
  return count;
}

/** From the first `<<` of a line to its last `>>`. */
function hasTitle(line: string): boolean {
  const [from, to] = [line.indexOf('<<'), line.lastIndexOf('>>')];
  if (from < 0 || to < from + 3) return false;
  return !isBlank(strip(strip(line.slice(from, to), '<', 'start'), '>', 'end'));
}

function isJson(text: string): boolean {
  const begins = ['```json', '```Json', '```JSON', '```'];
  const bare = begins.reduce((rest, mark) => (rest.startsWith(mark) ? rest.slice(mark.length) : rest), strip(text));
  try {
    JSON.parse(strip(bare.endsWith('```') ? bare.slice(0, -3) : bare));
    return true;
  } catch {
    return false;
  }
}
