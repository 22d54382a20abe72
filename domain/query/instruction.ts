// The instructions of IFEval (arXiv 2311.07911) and of IFBench (arXiv 2507.02833) by their names, and what each is told. A row names
// some of them; an answer is right if it follows all. Names and arguments are those of their authors' data sets.

import { COUNT, listOf, NAME, objectOf, oneOf, PLACE, type Test, type TypeOf } from '../schema/fields.ts';

const NOTHING = objectOf({});
const RELATION = oneOf('less than', 'at least');
const LETTER: Test<string> = [(value) => typeof value === 'string' && [...value.trim()].length === 1, 'one character'];

export const LANGUAGES =
  'en es pt ar hi fr ru de ja it bn uk th ur ta te bg ko pl he fa vi ne sw kn mr gu pa ml fi'.split(' ');

export const OF_IFEVAL = {
  'keywords:existence': objectOf({ keywords: listOf(NAME, 1) }),
  'keywords:frequency': objectOf({ keyword: NAME, frequency: COUNT, relation: RELATION }),
  'keywords:forbidden_words': objectOf({ forbidden_words: listOf(NAME, 1) }),
  'keywords:letter_frequency': objectOf({ letter: LETTER, let_frequency: COUNT, let_relation: RELATION }),
  'language:response_language': objectOf({ language: oneOf(...LANGUAGES) }),
  'length_constraints:number_sentences': objectOf({ num_sentences: COUNT, relation: RELATION }),
  'length_constraints:number_paragraphs': objectOf({ num_paragraphs: COUNT }),
  'length_constraints:number_words': objectOf({ num_words: COUNT, relation: RELATION }),
  'length_constraints:nth_paragraph_first_word': objectOf({
    ...{ num_paragraphs: PLACE, nth_paragraph: PLACE, first_word: NAME },
  }),
  'detectable_content:number_placeholders': objectOf({ num_placeholders: COUNT }),
  'detectable_content:postscript': objectOf({ postscript_marker: NAME }),
  'detectable_format:number_bullet_lists': objectOf({ num_bullets: COUNT }),
  'detectable_format:constrained_response': NOTHING,
  'detectable_format:number_highlighted_sections': objectOf({ num_highlights: COUNT }),
  'detectable_format:multiple_sections': objectOf({ section_spliter: NAME, num_sections: COUNT }),
  'detectable_format:json_format': NOTHING,
  'detectable_format:title': NOTHING,
  'combination:two_responses': NOTHING,
  'combination:repeat_prompt': objectOf({ prompt_to_repeat: NAME }),
  'startend:end_checker': objectOf({ end_phrase: NAME }),
  'startend:quotation': NOTHING,
  'change_case:capital_word_frequency': objectOf({ capital_frequency: COUNT, capital_relation: RELATION }),
  'change_case:english_capital': NOTHING,
  'change_case:english_lowercase': NOTHING,
  'punctuation:no_comma': NOTHING,
};

export const OF_IFBENCH = {
  'count:conjunctions': objectOf({ small_n: COUNT }),
  'count:keywords_multiple': objectOf({
    ...{ keyword1: NAME, keyword2: NAME, keyword3: NAME, keyword4: NAME, keyword5: NAME },
  }),
  'count:numbers': objectOf({ N: COUNT }),
  'count:person_names': objectOf({ N: COUNT }),
  'count:pronouns': objectOf({ N: COUNT }),
  'count:punctuation': NOTHING,
  'count:unique_word_count': objectOf({ N: COUNT }),
  'count:word_count_range': objectOf({ min_words: COUNT, max_words: COUNT }),
  'count:words_japanese': objectOf({ N: PLACE }),
  'custom:character_reverse': NOTHING,
  'custom:csv_city': NOTHING,
  'custom:csv_quotes': NOTHING,
  'custom:csv_special_character': NOTHING,
  'custom:date_format_list': NOTHING,
  'custom:european_capitals_sort': NOTHING,
  'custom:mcq_count_length': NOTHING,
  'custom:multiples': NOTHING,
  'custom:reverse_newline': NOTHING,
  'custom:sentence_alphabet': NOTHING,
  'custom:word_reverse': NOTHING,
  'format:emoji': NOTHING,
  'format:line_indent': NOTHING,
  'format:list': objectOf({ sep: NAME }),
  'format:newline': NOTHING,
  'format:no_bullets_bullets': NOTHING,
  'format:no_whitespace': NOTHING,
  'format:options': objectOf({ options: NAME }),
  'format:output_template': NOTHING,
  'format:parentheses': NOTHING,
  'format:quote_unquote': NOTHING,
  'format:quotes': NOTHING,
  'format:sub-bullets': NOTHING,
  'format:thesis': NOTHING,
  'format:title_case': NOTHING,
  'ratio:overlap': objectOf({ reference_text: NAME, percentage: COUNT }),
  'ratio:sentence_balance': NOTHING,
  'ratio:sentence_type': NOTHING,
  'ratio:sentence_words': NOTHING,
  'ratio:stop_words': objectOf({ percentage: COUNT }),
  'repeat:repeat_change': objectOf({ prompt_to_repeat: NAME }),
  'repeat:repeat_simple': NOTHING,
  'repeat:repeat_span': objectOf({ prompt_to_repeat: NAME, n_start: COUNT, n_end: COUNT }),
  'sentence:alliteration_increment': NOTHING,
  'sentence:increment': objectOf({ small_n: COUNT }),
  'sentence:keyword': objectOf({ word: NAME, N: PLACE }),
  'words:alphabet': NOTHING,
  'words:consonants': NOTHING,
  'words:keywords_specific_position': objectOf({ keyword: NAME, n: PLACE, m: PLACE }),
  'words:last_first': NOTHING,
  'words:no_consecutive': NOTHING,
  'words:odd_even_syllables': NOTHING,
  'words:palindrome': NOTHING,
  'words:paragraph_last_first': NOTHING,
  'words:prime_lengths': NOTHING,
  'words:repeats': objectOf({ small_n: COUNT }),
  'words:start_verb': NOTHING,
  'words:vowel': NOTHING,
  'words:words_position': objectOf({ keyword: NAME }),
};

export const INSTRUCTIONS = { ...OF_IFEVAL, ...OF_IFBENCH };
export type InstructionName = keyof typeof INSTRUCTIONS;
/** Whether a text follows each instruction of a table. */
export type RulesOf<T extends Partial<typeof INSTRUCTIONS>> = {
  readonly [N in keyof T & InstructionName]: (text: string, of: TypeOf<(typeof INSTRUCTIONS)[N]>) => boolean;
};

export const isInstruction = (name: unknown): name is InstructionName =>
  typeof name === 'string' && Object.hasOwn(INSTRUCTIONS, name);
