// The order in which a final answer is looked for, a few texts for each place of it; and what does not change it.

import { describe, expect, test } from 'vitest';
import { findAnswer, replySource } from '../find/answer.ts';
import { judge } from '../judge.ts';
import { rowsOf } from '../../../test/support/rows.ts';

const found = (text: string, question = ''): string => {
  const answer = findAnswer(replySource(text, false, question));
  return answer === undefined || answer === 'cut-off' ? String(answer) : `${answer.by}: ${answer.text}`;
};

describe('the final answer of a text', () => {
  /** Those behind a thought among them, or behind the model's turn. */
  test.each(rowsOf<{ text: string; found: string }>('./final-answers.jsonl', import.meta.url))(
    'of $text is found: $found',
    (row) => expect(found(row.text)).toBe(row.found),
  );

  test('is no number that the question gives, where the sentence has another one', () => {
    const question = 'A camel drinks 15 gallons a day. How much in 30 days?';
    expect(found('So altogether the camel drinks 450 gallons of water in 30 days.', question)).toBe(
      'last: 450 gallons',
    );
    expect(found('So the number of days that it drinks is 15 + 15 = 30.', question)).toBe('last: 30');
  });

  test.each(['\\boxed\n{5}', '\\boxed\t{5}', '\\fbox \n {5}'])(
    'stands in a box whatever blanks are before it: %j',
    (box) => {
      expect(found(`It is 4. ${box}`)).toBe('box: 5');
    },
  );

  test('is compared with a solution that is a choice where the question lists choices', () => {
    const question = 'What is 7 + 7?\n(A) 12\n(B) 13\n(C) 14\n(D) 15';
    for (const solution of ['c ) 14', 'c . 14', '(C) 14'])
      expect(judge('The answer is C.', solution, { question }), solution).toMatchObject({ verdict: 'right' });
    expect(judge('The answer is B.', 'c ) 14', { question }).verdict).toBe('wrong');
  });

  test.each([{ decimals: -1 }, { decimals: 1.5 }, { decimals: NaN }])('is not looked for with %j', (options) => {
    expect(() => judge('5', '5', options)).toThrow('`decimals` is a whole number from 0 on');
    expect(() => judge('5', 42 as never)).toThrow(TypeError);
  });

  test('says where it was found and what it was compared with, where that is asked for', () => {
    expect(judge('So \\boxed{0.5}.', ['Hence \\boxed{\\frac12}.'], { explain: true })).toEqual({
      ...{ verdict: 'right', reason: 'equal', extracted: '0.5' },
      ...{ found: 'box', against: '\\frac12' },
    });
    expect(judge('So \\boxed{0.5}.', ['1/2'])).not.toHaveProperty('found');
  });
});
