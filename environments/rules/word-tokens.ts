// A text as NLTK's `word_tokenize` cuts it.

import { sentencesOf } from './sentences.ts';
import { splitAtBlanks, strip } from './python-text.ts';

type Cuts = readonly (readonly [RegExp, string])[];

/** In this order. */
const OPENINGS: Cuts = [
  [/[«“‘„]|`+/g, ' $& '],
  [/^"/, ' `` '],
  [/([ ([{<])(?:"|'{2})/g, '$1 `` '],
  [/'(?!re|ve|ll|m|t|s|d|n)([\p{L}\p{N}_])(?![\p{L}\p{N}_])/giu, "' $1"],
];
const CUTS: Cuts = [
  [/([:,])([^\p{Nd}])/gu, ' $1 $2'],
  [/[:,]$/, ' $& '],
  [/\.{2,}/g, ' $& '],
  [/[;@#$%&?!*]/g, ' $& '],
  [/([^'])' /g, "$1 ' "],
  [/[\][(){}<>]/g, ' $& '],
  [/--/g, ' -- '],
  [/[»”’]|''|"/g, ' $& '],
  [/([^' ])('[sSmMdD]|') /g, '$1 $2 '],
  [/([^' ])('ll|'LL|'re|'RE|'ve|'VE|n't|N'T) /g, '$1 $2 '],
  [/\b(?:can(?=not\b)|d(?='ye\b)|gim(?=me\b)|lem(?=me\b)|gon(?=na\b)|got(?=ta\b)|wan(?=na\b)|more(?='n\b))/gi, ' $& '],
  [/ 't(?=is\b|was\b)/gi, ' $& '],
];

/** Without full stops that end sentences: none of them is in capitals, and sentences are not sought. */
export const wordTokens = (text: string): string[] => splitAtBlanks(cut(CUTS, `${cut(OPENINGS, text)} `));

export const tokensOf = (text: string): string[] => sentencesOf(text).flatMap(tokensOfSentence);

export function tokensOfSentence(sentence: string): string[] {
  const opened = strip(cut(OPENINGS, sentence), undefined, 'end');
  const bare = strip(opened, `])}>"'»”’ `, 'end');
  const isFull = bare.length > 1 && bare.endsWith('.') && bare.at(-2) !== '.';
  const parted = isFull ? `${bare.slice(0, -1)} . ${opened.slice(bare.length)}` : opened;
  return splitAtBlanks(cut(CUTS, `${parted} `));
}

const cut = (cuts: Cuts, text: string): string => cuts.reduce((rest, [at, by]) => rest.replace(at, by), text);
