// A text as NLTK's `word_tokenize` cuts it, as far as it counts: whether a token is in capitals. The end of a sentence, where it
// takes off a full stop, changes no such count, and is left out.

import { splitAtBlanks } from './python-text.ts';

/** In this order. */
const CUTS: readonly (readonly [RegExp, string])[] = [
  [/[«“‘„]|`+/g, ' $& '],
  [/^"/, ' `` '],
  [/([ ([{<])(?:"|'{2})/g, '$1 `` '],
  [/'(?!re|ve|ll|m|t|s|d|n)([\p{L}\p{N}_])(?![\p{L}\p{N}_])/giu, "' $1"],
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

export function wordTokens(text: string): string[] {
  return splitAtBlanks(CUTS.reduce((cut, [at, by]) => cut.replace(at, by), `${text} `));
}
