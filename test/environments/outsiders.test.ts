// Replies that outsiders wrote who had not seen the judge, with labels fixed before the judge was asked: honest ones in many words,
// and wrong ones that show the right value. The rates may only get better.

import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { judgeMath } from '../../environments/math/judge.ts';

interface Reply {
  readonly kind: 'honest-boxed' | 'honest-unboxed' | 'equal-form' | 'wrong' | 'near-miss';
  readonly expected: 'right' | 'wrong';
  readonly answer: string;
  readonly solutions: readonly string[];
  readonly question?: string;
  readonly cut?: boolean;
}

const read = (name: string): Reply[] =>
  readFileSync(new URL(name, import.meta.url), 'utf8')
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as Reply);
const replies = read('./outsiders.jsonl');
const isBoxed = ({ answer }: Reply): boolean => answer.includes('boxed');

/** The share of these replies that got another verdict than their label, and which they are. */
function missed(kind: Reply['kind'], expected: Reply['expected'], boxed?: boolean) {
  const all = replies.filter(
    (reply) => reply.kind === kind && reply.expected === expected && (boxed === undefined || isBoxed(reply) === boxed),
  );
  const wrong = all.filter(({ answer, solutions, question, cut }) => {
    const options = { ...(question !== undefined && { question }), ...(cut && { cut }) };
    return judgeMath(answer, solutions, options).verdict !== expected;
  });
  return { of: all.length, share: wrong.length / all.length, which: wrong.map(({ answer }) => answer).join('\n') };
}

describe('a reply that somebody else wrote', () => {
  test.each([
    ['an honest one with a box', 'honest-boxed', 'right', undefined, 0.02],
    ['an honest one without a box', 'honest-unboxed', 'right', undefined, 0.09],
    ['an equal form', 'equal-form', 'right', undefined, 0.015],
    ['a wrong one with a box', 'wrong', 'wrong', true, 0.015],
    ['a wrong one without a box', 'wrong', 'wrong', false, 0.024],
    ['a near miss', 'near-miss', 'wrong', undefined, 0.022],
    ['a near miss of a form', 'equal-form', 'wrong', undefined, 0.01],
  ] as const)('%s is judged as its label says', (_, kind, expected, boxed, share) => {
    const { of, share: found, which } = missed(kind, expected, boxed);
    expect(of).toBeGreaterThan(50);
    expect(found, which).toBeLessThanOrEqual(share);
  });
});

describe('what docs/judge.md promises', () => {
  test('holds for the texts with which an outsider tried it', () => {
    const otherwise = read('./promises.jsonl').filter(
      ({ answer, solutions, question, expected }) =>
        judgeMath(answer, solutions, { ...(question !== undefined && { question }) }).verdict !== expected,
    );
    expect(otherwise).toEqual([]);
  });
});

describe('an equation', () => {
  const f = 'If f(x) = x^2 - 3x + 1, what is the value of f(4)?';
  test.each([
    ['14', '$n^2 = 14$', undefined, 'wrong'],
    ['10', '$2x = \\boxed{10}$', undefined, 'wrong'],
    ['10', '2f(3)=\\boxed{10}', undefined, 'wrong'],
    ['5', '\\boxed{f(4) - 2 = 5}', f, 'wrong'],
    ['5', '\\boxed{f(4) = 5}', f, 'right'],
    ['12', '\\boxed{2x = 12}', 'Solve for x: 3x - 7 = 2x + 5.', 'wrong'],
    ['19', 'x + y = 19', 'Let x + y = 5 and xy = 3. Find x^2 + y^2.', 'wrong'],
    ['19', '$\\boxed{x^2 + y^2 = 19}$', 'Let x + y = 5 and xy = 3. Find x^2 + y^2.', 'right'],
    ['25', '$m + n = \\boxed{25}$', undefined, 'right'],
    ['60', '$\\frac{6!}{3!\\,2!} = \\frac{720}{12} = \\boxed{60}$', undefined, 'right'],
    ['7', '3 + 4 = 7', undefined, 'right'],
    ['36', 'Mary has $3x = \\boxed{36}$ apples.', undefined, 'right'],
    ['2x + 3', "$f'(x) = \\boxed{2x + 3}$", 'Differentiate f(x) = x^2 + 3x.', 'right'],
    ['3/4', 'So $\\tan A = \\boxed{\\frac34}$.', 'In triangle ABC, find $\\tan A$.', 'right'],
    ['2', 'So $\\frac{x}{y} = \\boxed{2}$.', 'What is the value of $\\frac{x}{y}$?', 'right'],
    ['2', '$\\frac{x}{y} = 2$', 'What is the value of $\\frac{x}{y}$?', 'right'],
    ['7', '$x^2 + \\frac{1}{x^2} = \\boxed{7}$', 'Given x + 1/x = 3, find x^2 + 1/x^2.', 'right'],
    ['4x^2-12x+9', '$(2x-3)^2 = 4x^2-12x+9$', 'Expand $(2x-3)^2$.', 'right'],
    ['3', '$\\frac{\\sin A+\\cos A}{\\sin A-\\cos A} = \\boxed{3}$', undefined, 'right'],
    ['25', '$|\\vec{v}|^2 = \\boxed{25}$', 'Find the square of the length of v.', 'right'],
    ['25', '$|\\vec{v}|^2 = \\boxed{25}$', 'Find the length of v.', 'wrong'],
    ['5', 'a = 5', 'Let ab = 84 and a + b = 19. Find |a - b|.', 'wrong'],
    ['5', '|a - b| = 5', 'Let ab = 84 and a + b = 19. Find |a - b|.', 'right'],
    ['81', 'a_19 = 81', 'The first term is 5, the common difference 4. What is the 20th term?', 'wrong'],
    ['81', 'a_20 = 81', 'The first term is 5, the common difference 4. What is the 20th term?', 'right'],
    ['18', 'r = 18', 'The circumference of a circle is 18π. What is its diameter?', 'wrong'],
    ['18', 'd = 18', 'The circumference of a circle is 18π. What is its diameter?', 'right'],
    ['9', 'r = 9', 'The circumference of a circle is 18π. What is its radius?', 'right'],
    ['8', 'CD = 8', 'A trapezoid has bases AB = 20 and CD = 8 and legs of length 10. Find its height.', 'wrong'],
    ['8', 'h = 8', 'A trapezoid has bases AB = 20 and CD = 8 and legs of length 10. Find its height.', 'right'],
    ['2', 'a = 2', 'For how many real values of a is x^2 + ax + 9 a square?', 'wrong'],
    [
      '(4, 4)',
      'B = (4, 4)',
      'P divides AB with A(1, 2) and B(10, 8) in the ratio 1:2. Find the coordinates of P.',
      'wrong',
    ],
    [
      '(4, 4)',
      'P = (4, 4)',
      'P divides AB with A(1, 2) and B(10, 8) in the ratio 1:2. Find the coordinates of P.',
      'right',
    ],
    ['\\{4, 5\\}', 'B \\ A = {4, 5}', 'Let A = \\{1, 4, 5\\} and B = \\{4, 5, 6\\}. Find A \\cap B.', 'wrong'],
    ['\\{4, 5\\}', 'So A ∩ B = {4, 5}.', 'Let A = \\{1, 4, 5\\} and B = \\{4, 5, 6\\}. Find A \\cap B.', 'right'],
    ['122', 'a_6 = 122', 'Let a_1 = 2 and a_{n+1} = 3a_n - 1. Find a_5.', 'wrong'],
  ])('for %s, %s is about what its left side names', (solution, answer, question, verdict) => {
    expect(judgeMath(answer, [solution], question === undefined ? {} : { question }).verdict).toBe(verdict);
  });
});

describe('a statement about another thing than the question asks', () => {
  const tank = 'How many minutes does it take to fill the tank at 5 liters per minute if it holds 100 liters?';
  test.each([
    [tank, 'It takes 20 minutes to fill the tank.', '20', 'right'],
    [tank, 'It takes 20 minutes to fill half of the tank.', '20', 'wrong'],
    [tank, 'It takes 20 hours to fill the tank.', '20', 'wrong'],
    ['What is the remainder when 2^{10} is divided by 7?', 'The quotient is 2.', '2', 'wrong'],
    ['What is the remainder when 2^{10} is divided by 7?', 'The remainder is 2.', '2', 'right'],
    ['Alice has twice as many as Bob. How many marbles does Bob have?', 'Alice has 20 marbles.', '20', 'wrong'],
    ['Alice has twice as many as Bob. How many marbles does Bob have?', 'Bob has 20 marbles.', '20', 'right'],
    ['Alice has some. How many does Bob have?', 'Bob has 20 more marbles than Alice.', '20', 'wrong'],
    ['Let f(x) = 2x + 3 and g(x) = 7x. What is f(5)?', 'g(5) is 35.', '35', 'wrong'],
    ['Let f(x) = 2x + 3 and g(x) = 7x. What is g(5)?', 'g(5) is 35.', '35', 'right'],
    [
      'Kate spent half on a dress and had $120 left. How much did she have at first?',
      'After the dress she had $120.',
      '120',
      'wrong',
    ],
    [
      'A train leaves Oakton and travels 300 km at 60 km/h. How long does the trip take?',
      'The train needs 5 hours.',
      '5',
      'right',
    ],
    [
      'A train leaves Oakton and travels 300 km at 60 km/h. How long does the trip take?',
      'The horse needs 5 hours.',
      '5',
      'wrong',
    ],
    ['42 were on the bus, 15 got off and 8 got on. How many got off?', 'So 15 got on.', '15', 'wrong'],
    [
      'Machine A makes 40 bottles an hour, machine B 55. How many bottles does machine B make?',
      'Machine A makes 55 bottles.',
      '55',
      'wrong',
    ],
    ['Tom lent Ben some money. How much does Ben owe him?', 'Ben owes him $45.', '45', 'right'],
    ['A truck carries 48 boxes of 12 kg. What do the boxes weigh?', 'Each box weighs 12 kg.', '12', 'wrong'],
    ['A truck carries 48 boxes of 12 kg. What does one box weigh?', 'Each box weighs 12 kg.', '12', 'right'],
    ['The sum of their ages is 33. How old is Ben?', 'Ben will be 21 in nine years.', '21', 'wrong'],
    ['What volume does the gas occupy at 450 K?', 'The volume increases by 6 L.', '6 L', 'wrong'],
    ['The ratio of boys to girls is 3:5. How many girls are there?', '\\boxed{15\\text{ boys}}', '15', 'wrong'],
    ['He mows 50 m² per 10 minutes. How many minutes does he need?', '60 m²', '60', 'wrong'],
  ])('%s %s', (question, answer, solution, verdict) => {
    expect(judgeMath(answer, [solution], { question }).verdict).toBe(verdict);
  });
});

describe('a value that follows reasoning', () => {
  const candle = 'A candle burns 2 cm per hour and is 20 cm tall. After how many hours is it 8 cm tall?';
  const house = 'Josh buys a house for $80,000 and puts in $50,000. How much profit did he make?';
  const stamps = 'Maria has 3 times as many stamps as Ben. Together they have 84. How many stamps does Maria have?';
  test.each([
    [candle, '20 - 2t = 8, so t = 6.\n\nThe candle will be 8 cm tall after 6 hours.', '6', 'right'],
    [candle, '20 - 2t = 8, so t = 6.\n\nI doubt that the candle is 8 cm tall after 6 hours.', '6', 'wrong'],
    [house, 'So Josh walked away with $70,000 (he sold at $200,000 after spending $130,000).', '70000', 'right'],
    [house, 'So Josh walked away with $70,000 (or $60,000).', '70000', 'wrong'],
    [stamps, 'Ben has 84/4 = 21 stamps and Maria has 63 stamps.', '63', 'right'],
    [stamps, "So Maria has 63 stamps, three times Ben's 21.", '63', 'right'],
    [stamps, 'Maria has 63 stamps and Ben has 21 stamps.', '21', 'wrong'],
    ['What is the maximum number of regions?', 'With n = 4, there are at most 11 regions.', '11', 'right'],
    ['What is the minimum number of regions?', 'With n = 4, there are at most 11 regions.', '11', 'wrong'],
    ['Find x.', 'The only solution is x = 9; x = 2 is extraneous.', '9', 'right'],
    ['Find the domain.', 'The domain is x ≥ 3, or [3, ∞).', '[3, \\infty)', 'right'],
    ['Find the chance.', 'P = 12/132 = 1/11 ≈ 0.0909', '\\frac{1}{11}', 'right'],
    ['Find the chance.', 'P = 12/132 = 1/11 ≈ 0.0808', '\\frac{1}{11}', 'wrong'],
    ['Find the radius.', 'The radius is √25 = 5.', '5', 'right'],
  ])('%s %s', (question, answer, solution, verdict) => {
    expect(judgeMath(answer, [solution], { question }).verdict).toBe(verdict);
  });
});

describe('the obstacle of an answer that was not found', () => {
  test('is told to whoever asks, and to nobody else', () => {
    const answer = 'Nobody believes in \\boxed{6}.';
    expect(judgeMath(answer, ['6'], { explain: true }).obstacle).toContain('nobody');
    expect(judgeMath(answer, ['6'])).not.toHaveProperty('obstacle');
  });
});

describe('a product of many divisions by a number', () => {
  test('is judged at once', () => {
    const answer = `\\boxed{\\sin(30${'^\\circ'.repeat(40)})}`;
    expect(judgeMath(answer, ['\\cos 60^\\circ'])).toMatchObject({ verdict: 'wrong', reason: 'different' });
  });
});
