// A solution that is a word, as a name, a day or a colour: the last sentence of an unmarked answer says it behind "is", or ends
// with it. Words that are to be understood are left to a model that judges.

import { plainWords, says } from '../read/words.ts';

/** Letters alone, up to three words: no formula and no choice. */
export const isWord = (solution: string): boolean =>
  /^\p{L}{3,}(?:[ -]\p{L}{2,}){0,2}$/u.test(plainWords(solution)) && !/^(?:yes|no)$/i.test(plainWords(solution));

const SENTENCE_CHARS = 300;
const LAST_SENTENCE = /[^.!?\n]*[.!?]*\s*$/;
const DENIES = /\b(?:not|no|never|neither|nor|or)\b|n[’']t\b/i;

export function statesWord(text: string, solution: string): boolean {
  const sentence = LAST_SENTENCE.exec(text.trim().slice(-SENTENCE_CHARS))?.[0] ?? '';
  if (says(sentence, solution)) return true;
  return !DENIES.test(sentence) && plainWords(sentence).endsWith(` ${plainWords(solution)}`);
}
