// The order in which a final answer is looked for, a few texts for each place of it; and what does not change it.

import { describe, expect, test } from 'vitest';
import { findAnswer } from '../find/answer.ts';
import { judge } from '../judge.ts';
import { rowsOf } from '../../../test/support/rows.ts';

const found = (text: string, question = ''): string => {
  const answer = findAnswer(text, false, question);
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

  test('says where it was found and what it was compared with, where that is asked for', () => {
    expect(judge('So \\boxed{0.5}.', ['Hence \\boxed{\\frac12}.'], { explain: true })).toEqual({
      ...{ verdict: 'right', reason: 'equal', extracted: '0.5' },
      ...{ found: 'box', against: '\\frac12' },
    });
    expect(judge('So \\boxed{0.5}.', ['1/2'])).not.toHaveProperty('found');
  });
});
