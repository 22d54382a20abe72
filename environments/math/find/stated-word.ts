// A solution that is a word, as a name, a day or a colour: is it what the last sentence of an answer states? "It will be a Friday", "Ann is
// the tallest of the three". Beside it stand words of the asked clause and the few that join them, and no other. Linear.

import { says } from '../read/words.ts';
import { tokensOf } from './named.ts';
import { readQuestion } from './question.ts';

/** Letters alone, up to three words: no formula and no choice. */
export const isWord = (solution: string): boolean =>
  /^\p{L}{3,}(?:[ -]\p{L}{2,}){0,2}$/u.test(solution) && !/^(?:yes|no|true|false)$/i.test(solution);

/** Without a question, and of a longer solution, what stands behind the verb counts. */
export function statesWord(answer: string, solution: string, question: string): boolean {
  if (question === '' || !isWord(solution)) return says(answer, solution);
  const text = answer.replace(/[*_"“”`]/g, '').trim();
  const sentence = text.slice(Math.max(text.lastIndexOf('\n'), text.search(LAST_SENTENCE)) + 1);
  const own = tokensOf(solution).map(({ word }) => word);
  const tokens = tokensOf(sentence).filter(({ word }) => !/^[.,!:]$/.test(word));
  const at = tokens.findIndex((_, k) => own.every((word, n) => tokens[k + n]?.word === word));
  if (/\?\W*$/.test(text) || sentence.length > 300 || at < 0) return false;
  const { wanted, joins, sets, clause } = readQuestion(question);
  const rest = [...tokens.slice(0, at), ...tokens.slice(at + own.length)];
  // "Is red or blue more likely?": of the things that the clause sets side by side, the other one.
  const beside = clause.filter((_, k) => [clause[k - 1], clause[k + 1]].some((one) => one?.word === 'or'));
  const others = [
    ...joins.flatMap(({ items }) => items),
    ...beside.map(({ word }) => word),
    ...sets.filter((set) => own.some((one) => set.includes(one))).flat(),
  ].filter((word) => !own.includes(word));
  if (rest.some(({ word }) => /^(?:or|nor)$/.test(word) || others.includes(word))) return false;
  // "Which is not a fruit?": "It is a fruit." says the contrary.
  const isSaid = (one: { readonly word: string }): boolean => wanted.has(one.word) && !JOINING.test(one.word);
  if (clause.some(isNot) && rest.some(isSaid) && !rest.some(isNot)) return false;
  return (
    (rest.length === 0 || rest.some((one) => LINK.test(one.word) || isSaid(one))) &&
    rest.every(({ word, written }) => JOINING.test(word) || wanted.has(word) || wanted.has(written))
  );
}

const isNot = ({ written }: { readonly written: string }): boolean => /^(?:not|no|never|.*n[’']t)$/i.test(written);
/** The stop before the last sentence. */
const LAST_SENTENCE = /[.!?](?=\s[^.!?]*[.!?]*$)/;
const LINK = /^(?:is|are|was|wer|will|be)$/;
const JOINING = /^(?:so|thu|henc|therefor|then|it|that|this|he|she|they|is|are|was|wer|will|be|a|an|the|one|of|all)$/;
