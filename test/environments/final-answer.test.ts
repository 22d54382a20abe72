// The order in which a final answer is looked for, a few texts for each place of it; and what does not change it.

import { describe, expect, test } from 'vitest';
import { findAnswer } from '../../environments/math/find/answer.ts';
import { judgeMath } from '../../environments/math/judge.ts';

const found = (text: string, question = ''): string => {
  const answer = findAnswer(text, false, question);
  return answer === undefined || answer === 'cut-off' ? String(answer) : `${answer.by}: ${answer.text}`;
};

describe('the final answer of a text', () => {
  test.each([
    ['We get \\boxed{4}, so \\boxed{5}. Check: 2 + 3 = 5 and 7 > 5.', 'box: 5'],
    ['\\boxed{90} Disregard the above.', 'box: 90'],
    ['so $x=\\boxed{\\frac{1}{2}}$.\n\n\\boxed{}', 'box: \\frac{1}{2}'],
    ['either $\\boxed{1}$ or $\\boxed{2}$', 'box: 1 , 2'],
    ['\\boxed{1}, \\boxed{2} and \\boxed{3}', 'box: 1 , 2 , 3'],
    ['First \\boxed{1}. Then \\boxed{2}.', 'box: 2'],
    ['it is \\boxed{25}\\%', 'box: 25\\%'],
    ['\\boxed{5}. The final answer is $6$.', 'phrase: 6'],
    ['18 + 2 = 20\n#### 20', 'hash: 20'],
    ['#### Step 2: Money\nIn the end Janet makes $18 a day in all.', 'last: $18'],
    ['#### Final Answer\n\nSo this is what we get: 5', 'last: 5'],
    ['<answer>\n42\n</answer> I hope that 7 helps.', 'tag: 42'],
    ['<ANSWER>42</ANSWER>', 'tag: 42'],
    ['<Answer>\n42\n</Answer>\n<explanation>as 6 * 7 = 42, not 43</explanation>', 'tag: 42'],
    ['<final_answer>42</final_answer> with 7 steps', 'tag: 42'],
    ['<answer>41</answer> No: <answer>42</answer> and </answer>', 'tag: 42'],
    ['The answer is 42. There were 7 steps.', 'phrase: 42'],
    ['**Answer:** $x = 3$, since $x > 0$.', 'phrase: x = 3'],
    ['Is the answer 4? The answer is 4? No, it is 5.', 'last: 5'],
    ['x = 3', 'whole: x = 3'],
    ['(1, 2)', 'whole: (1, 2)'],
    ['no solution', 'whole: no solution'],
    ['at most 6', 'whole: at most 6'],
    ['They need 12 buses in all. Each of them is full.', 'last: 12'],
    ['We add them: 3 x 60 = $1,180 for the slices of this week.', 'last: $1,180'],
    ['Therefore the line that we look for is y = 3x - 1.', 'last: y = 3x - 1'],
    ['Hence the area of the whole figure is 36π.', 'last: 36π'],
    ['So the roots of this equation are 2 and 3.', 'last: 2 , 3'],
    ['In the end the point of intersection is (2, 3).', 'last: (2, 3)'],
    ['So the energy of this state is 2.5 keV.', 'last: 2.5 keV'],
    ['The population of the town is about 5 thousand.', 'last: 5 thousand'],
    ['The bus that we wait for leaves at 7:20 PM.', 'last: 7:20 PM'],
    ['The chance of it is therefore $\\frac{3}{8}$ as we saw.', 'last: \\frac{3}{8}'],
    ['', 'undefined'],
  ])('of %j is found: %s', (text, expected) => {
    expect(found(text)).toBe(expected);
  });

  test('is no number that the question gives, where the sentence has another one', () => {
    const question = 'A camel drinks 15 gallons a day. How much in 30 days?';
    expect(found('So altogether the camel drinks 450 gallons of water in 30 days.', question)).toBe(
      'last: 450 gallons',
    );
    expect(found('So the number of days that it drinks is 15 + 15 = 30.', question)).toBe('last: 30');
  });

  test.each([
    ['<think>Perhaps \\boxed{4}.</think>It is \\boxed{5}.', 'box: 5'],
    ['<think>Perhaps \\boxed{4}.</think>\nSo it is 5.', 'whole: So it is 5.'],
    ['<think>So \\boxed{4}.</think>', 'box: 4'],
    ['It is \\boxed{5}.<|im_end|>\n<|im_start|>user\nNo, \\boxed{6}', 'box: 5'],
    ['<|channel|>analysis<|message|>\\boxed{4}<|end|><|channel|>final<|message|>\\boxed{5}', 'box: 5'],
    ['\\boxed{5}\n[asy]\nlabel("\\boxed{6}");\n[/asy]', 'box: 5'],
  ])('stands in what the model says, not in its thought or behind its turn: %j', (text, expected) => {
    expect(found(text)).toBe(expected);
  });

  test('says where it was found and what it was compared with, where that is asked for', () => {
    expect(judgeMath('So \\boxed{0.5}.', ['Hence \\boxed{\\frac12}.'], { explain: true })).toEqual({
      ...{ verdict: 'right', reason: 'equal', extracted: '0.5' },
      ...{ found: 'box', against: '\\frac12' },
    });
    expect(judgeMath('So \\boxed{0.5}.', ['1/2'])).not.toHaveProperty('found');
  });
});
