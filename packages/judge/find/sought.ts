// What is looked for beside a value where the solution is a choice, several of them, or a word.

import {
  answerChoice,
  choicesSaid,
  LETTERS,
  lastLetter,
  letterMentioned,
  letterNamed,
  namesOneChoice,
  solutionChoice,
} from '../read/choices.ts';
import { isProse, plainWords, says } from '../read/words.ts';

/** Of any other solution nothing: the first place counts. */
export interface Sought {
  /** Does this text name what the solution is one of? One that does not yields to a letter, and if no mark stands before it to a word. */
  readonly names?: (text: string) => boolean;
  /** Does this statement name what the solution is one of, without a second choice, denial or doubt behind it? */
  readonly states?: (statement: string) => boolean;
  /** The letter that running text names. */
  readonly letter?: (text: string) => string | undefined;
  /** The words of the solution, where a text states them. */
  readonly word?: (text: string) => string | undefined;
}

/** `known`: so many choices are known. */
export function soughtFor(gold: string, known: number): Sought {
  if (choicesSaid(gold, known) !== undefined) {
    const names = (text: string): boolean => choicesSaid(text, known) !== undefined;
    return { names, states: names };
  }
  const choice = solutionChoice(gold, known);
  if (!choice) return isWord(gold) ? { names: () => false, word: statementOf(gold) } : {};
  const { letter: own, rest } = choice;
  const last = lastLetter(Math.max(known, LETTERS.indexOf(own) + 1));
  return {
    names: (text) => answerChoice(text, last) !== undefined,
    states(statement) {
      const said = answerChoice(statement, last);
      return said !== undefined && namesOneChoice(said);
    },
    letter(text) {
      // With words behind the solution's letter, a letter must be pointed at: the words may be the answer as well.
      const letter = letterNamed(text, last) ?? (rest === '' ? letterMentioned(text, last) : undefined);
      if (letter === undefined || letter === own) return letter;
      // "It is in vitamin C", for "(B) vitamin C".
      return new RegExp(`(?<![A-Za-z])${letter}(?![A-Za-z])`).test(rest) ? undefined : letter;
    },
    ...(isProse(rest) && { word: statementOf(rest) }),
  };
}

/** Letters alone, up to three words: no formula and no choice. */
const isWord = (solution: string): boolean =>
  /^\p{L}{3,}(?:[ -]\p{L}{2,}){0,2}$/u.test(plainWords(solution)) && !/^(?:yes|no)$/i.test(plainWords(solution));

const SENTENCE_CHARS = 300;
const LAST_SENTENCE = /[^.!?\n]*[.!?]*\s*$/;
const DENIES = /\b(?:not|no|never|neither|nor|or)\b|n[’']t\b/i;

const statementOf =
  (words: string) =>
  (text: string): string | undefined => {
    const sentence = LAST_SENTENCE.exec(text.trim().slice(-SENTENCE_CHARS))?.[0] ?? '';
    const endsIn = !DENIES.test(sentence) && plainWords(sentence).endsWith(` ${plainWords(words)}`);
    return endsIn || says(sentence, words) ? words : undefined;
  };
