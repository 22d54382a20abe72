// The words, lists and marks that the rules of IFBench share. A character is a code point, as in Python.

import { strip } from './python-text.ts';

/** Python's `string.punctuation`. */
export const PUNCTUATION = '!"#$%&\'()*+,-./:;<=>?@[\\]^_`{|}~';

export const unpunctuated = (text: string): string => text.replace(/[!-/:-@[-`{-~]/g, '');
/** Without punctuation and spaces at its ends. */
export const bare = (text: string, ends: 'both' | 'start' | 'end' = 'both'): string =>
  strip(text, `${PUNCTUATION} `, ends);

export const characters = (text: string): string[] => [...text];
export const lengthOf = (text: string): number => characters(text).length;

/** As ASCII, without the marks of letters. */
export const plainText = (text: string): string => text.normalize('NFKD').replace(/[^\0-\x7f]/g, '');

export const isJapanese = (text: string): boolean => /[\u3040-\u30ff\u4e00-\u9fff]/.test(text);
export const isEmoji = (character: string): boolean => /^(?![\d#*\u{1f1e6}-\u{1f1ff}])\p{Emoji}$/u.test(character);

export const NAMES: ReadonlySet<string> = new Set(
  `Emma Liam Sophia Jackson Olivia Noah Ava Lucas Isabella Mason Mia Ethan Charlotte Alexander Amelia Benjamin Harper Leo Zoe Daniel
  Chloe Samuel Lily Matthew Grace Owen Abigail Gabriel Ella Jacob Scarlett Nathan Victoria Elijah Layla Nicholas Audrey David Hannah
  Christopher Penelope Thomas Nora Andrew Aria Joseph Claire Ryan Stella Jonathan`.split(/\s+/),
);

const PRONOUNS = new Set(
  `i me we us you he him she her it they them my mine our ours your yours his hers its their theirs myself ourselves yourself yourselves
  himself herself itself themselves this that these those who whom whose which what whoever whomever whatever whichever anybody anyone
  anything everybody everyone everything nobody nothing somebody someone something each either neither both all some any none`.split(
    /\s+/,
  ),
);
export const isPronoun = (word: string): boolean => PRONOUNS.has(word);

/** NLTK's, as far as they are words. */
const STOP_WORDS = new Set(
  `i me my myself we our ours ourselves you your yours yourself yourselves he him his himself she her hers herself it its itself they them
  their theirs themselves what which who whom this that these those am is are was were be been being have has had having do does did doing
  a an the and but if or because as until while of at by for with about against between into through during before after above below to
  from up down in out on off over under again further then once here there when where why how all any both each few more most other some
  such no nor not only own same so than too very s t can will just don should now d ll m o re ve y ain aren couldn didn doesn hadn hasn
  haven isn ma mightn mustn needn shan shouldn wasn weren won wouldn`.split(/\s+/),
);
export const isStopWord = (word: string): boolean => STOP_WORDS.has(word.toLowerCase());
