// The instructions of IFEval (arXiv 2311.07911) by their names, and what each is told. A row names some of them; an answer is right
// if it follows all. Names and arguments are those of its authors' data set.

import { COUNT, listOf, NAME, objectOf, oneOf, PLACE, type Test, type TypeOf } from '../schema/fields.ts';

const NOTHING = objectOf({});
const RELATION = oneOf('less than', 'at least');
const LETTER: Test<string> = [(value) => typeof value === 'string' && [...value.trim()].length === 1, 'one character'];

export const LANGUAGES =
  'en es pt ar hi fr ru de ja it bn uk th ur ta te bg ko pl he fa vi ne sw kn mr gu pa ml fi'.split(' ');

export const INSTRUCTIONS = {
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
export type InstructionName = keyof typeof INSTRUCTIONS;
export type ArgumentsOf<N extends InstructionName> = TypeOf<(typeof INSTRUCTIONS)[N]>;

export const isInstruction = (name: unknown): name is InstructionName =>
  typeof name === 'string' && Object.hasOwn(INSTRUCTIONS, name);
