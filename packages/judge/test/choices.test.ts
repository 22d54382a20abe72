// A question with choices: the letter counts in every spelling, whether the solution is the letter or has its words too.
// Words and values of a choice: pairs/places.jsonl.

import { describe, expect, test } from 'vitest';
import { judge } from '../judge.ts';
import { LETTERS, listedChoices } from '../read/choices.ts';
import { rowsOf } from '../../../test/support/rows.ts';

const listing = (texts: readonly string[]): string => texts.map((text, i) => `(${LETTERS[i]}) ${text}`).join('\n');

const QUESTIONS = [
  { solution: '(B) 7', question: 'Which of them is prime?\n\n(A) 4\n(B) 7\n(C) 9\n(D) 12' },
  { solution: '(B) Paris', question: 'Which city is the capital of France?\n\n(A) Rome\n(B) Paris' },
];
/** With `@` for the letter; `small`: it may be a small one where the question has the choices. */
const SPELLINGS = rowsOf<{ text: string; small?: true }>('./choice-spellings.jsonl', import.meta.url);

describe('the letter of a choice', () => {
  test.each(SPELLINGS)('is right as the solution has it, and no other: $text', ({ text, small = false }) => {
    for (const { solution, question } of QUESTIONS)
      for (const [gold, asked] of [[solution, question], ...(small ? [] : [[solution], ['B', question], ['B']])]) {
        const options = asked === undefined ? {} : { question: asked };
        const letters = small ? ['a', 'b', 'c'] : ['A', 'B', 'C'];
        const verdicts = letters.map((letter) => judge(text.replace('@', letter), [gold!], options).verdict);
        expect([gold, asked, ...verdicts]).toEqual([gold, asked, 'wrong', 'right', 'wrong']);
      }
  });

  test('goes on behind J where the question lists so many', () => {
    const texts = [...LETTERS].map((_, i) => String(100 + i));
    const question = `Which one?\n\n${listing(texts)}`;
    for (const [i, letter] of [...LETTERS].entries())
      for (const answer of [
        letter,
        `I choose ${letter}.`,
        `\\boxed{${letter}}`,
        `\\boxed{${100 + i}}`,
        `${letter}: ${100 + i}`,
      ]) {
        expect(judge(answer, [`(${letter}) ${100 + i}`], { question }).verdict, answer).toBe('right');
        expect(judge(answer, [letter === 'Z' ? '(Y) 124' : '(Z) 125'], { question }).verdict, answer).toBe('wrong');
      }
  });
});

describe('a listing of choices', () => {
  test.each([
    ['Which?\n\n(A) 4\n(B) 7', ['4', '7']],
    ['Which? (A) 0.9 (B) 0.09 (C) 0.99', ['0.9', '0.09', '0.99']],
    ['Which?\nA. Rome\nB. Paris\nAnswer with a letter.', ['Rome', 'Paris\nAnswer with a letter.']],
    ['Which?\nA) Rome\nB) Paris\n\nAnswer with a letter.', ['Rome', 'Paris']],
    ['a ) 800 , b ) 820 , c ) 840', ['800', '820', '840']],
    ['A: x\nB: y\nC: z', ['x', 'y', 'z']],
    ['(A) old (B) older\n\nNow: (A) 1 (B) 2 (C) 3', ['1', '2', '3']],
    ['下列哪一项？（A）北京（B）上海', ['北京', '上海']],
    ['哪个？\nA．北京\nB．上海', ['北京', '上海']],
    ['哪个？ A、北京 B、上海', ['北京', '上海']],
    ['如图，点A、B、C在圆上。', []],
    ['What is 2 + 2?', []],
    ['(A) alone', []],
    ['f(a) = b and g(b) = c', []],
  ])('%j is read as %j', (text, choices) => expect(listedChoices(text)).toEqual(choices));

  test('is read as it was written', () => {
    for (const n of [2, 4, 11, 26]) {
      const texts = [...LETTERS.slice(0, n)].map((letter, i) => `text ${letter} of ${i}.5 (see a)`);
      expect(listedChoices(`Which?\n\n${listing(texts)}`)).toEqual(texts);
    }
  });

  test('takes a time that grows with its length, whatever it holds', () => {
    for (const part of ['(A) ', '(A) x (B) y ', 'A. ', 'a ) , b ) ', '(', 'Answer: ', 'is B '])
      judge(part.repeat(50_000), ['(B) 7'], { question: part.repeat(50_000) }); // Ends within the test's own limit only if it is linear.
  });
});
