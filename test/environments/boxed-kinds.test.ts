// The noun or unit behind a number, in a box: of each question only the asked ones are right, each noun of the question and each unit of
// a list besides is wrong, and so is a box in a sentence about another quantity. Values are always right: the words alone decide.

import { describe, expect, test } from 'vitest';
import { judgeMath } from '../../environments/math/judge.ts';

/** Question, solution, all words of the lists below that are right. */
const QUESTIONS: readonly (readonly [string, string, string])[] = [
  ['If 4 workers build a wall in 9 days, how many days would 6 workers need?', '6', 'days'],
  [
    'Apples cost $0.75 and oranges $1.20. Maya buys 8 apples and some oranges for $13.20. How many oranges did she buy?',
    '6',
    'oranges',
  ],
  ['Nadia is 4 years older than Omar. In 6 years their ages sum to 46. How old is Nadia now?', '19', 'years'],
  [
    'A drawer holds 10 black socks and 10 white socks. What is the least number of socks for a matching pair?',
    '3',
    'socks',
  ],
  ['Mrs. Ito has 3 boxes of crayons for her 9 students. How many crayons does each student get?', '7', 'crayons'],
  ['How many different 3-letter codes can be made from 5 letters?', '60', 'codes ways arrangements'],
  ['A baker uses 2/3 cup of sugar for each batch. How many batches can be made with 8 cups of sugar?', '12', 'batches'],
  ['If 3 cats catch 3 mice in 3 minutes, how many cats catch 100 mice in 100 minutes?', '3', 'cats'],
  ['Zoe has 14 stickers. How many stickers do the two girls have altogether?', '61', 'stickers'],
  ['A train travels 180 miles in 3 hours. How many miles does it travel in 5 hours?', '300', 'miles'],
  ['A car travels 150 km in 2.5 hours. What is its speed in km/h?', '60', 'km/h'],
  ['Um ônibus percorre 260 km em 4 horas. Qual é a velocidade média em km/h?', '65', 'km/h'],
  ['A tank holds 240 liters and is filled at 12 liters per minute. How many minutes does it take?', '20', 'minutes'],
  ['James runs 3 sprints of 60 meters 3 times a week. How many total meters does he run a week?', '540', 'meters'],
  ['Lisa earns $12.50 an hour and works 36 hours a week. How much does she earn in 4 weeks?', '1800', 'dollars'],
  ['Find the area of a triangle with sides 13, 14 and 15.', '84', 'cm^2'],
  ['Solve for x: 3x - 7 = 23.', '10', ''],
  ['If f(x) = x^2 - 3x + 1, what is f(4)?', '5', ''],
  ['What is the remainder when 2^{100} is divided by 7?', '2', ''],
  ['What is the probability that 3 of 8 balls are red?', '3/8', ''],
  ['Compute the sum of the first ten positive integers.', '55', ''],
  ['In how many ways can 5 books stand on a shelf?', '120', 'ways arrangements'],
  ['How many positive divisors does 360 have?', '24', 'divisors'],
  ['¿Cuántas manzanas tiene Juan, si Ana tiene 3 peras?', '7', 'manzanas'],
  ['Wie viele Äpfel hat er neben den 3 Birnen?', '7', 'Äpfel'],
];
const WORDS = [
  ...'workers days apples oranges years months weeks socks pairs crayons boxes students codes letters batches cups cats mice'.split(
    ' ',
  ),
  ...'minutes hours stickers girls miles km km/h m/s meters liters dollars cents cm cm^2 cm^3 kg balls books'.split(
    ' ',
  ),
  ...'ways arrangements divisors people peras manzanas Birnen Äpfel'.split(' '),
];

describe('a number with a noun or a unit', () => {
  test.each(QUESTIONS)('%s is answered with its own word or none', (question, solution, said) => {
    const own = said.split(' ');
    const isRight = (answer: string): boolean => judgeMath(answer, [solution], { question }).verdict === 'right';
    const taken = (box: (word: string) => string) => WORDS.filter((word) => isRight(box(word))).sort();
    expect(isRight(`\\boxed{${solution}}`)).toBe(true);
    expect(taken((word) => `\\boxed{${solution}\\text{ ${word}}}`)).toEqual(
      WORDS.filter((word) => own.includes(word)).sort(),
    );
    expect(taken((word) => `$\\boxed{${solution}\\ \\mathrm{${word}}}$`).filter((word) => !own.includes(word))).toEqual(
      [],
    );
    expect(isRight(`\\boxed{\\$${solution}}`)).toBe(own.includes('dollars'));
    expect(isRight(`\\boxed{${solution}^\\circ}`) && !solution.includes('/')).toBe(false);
  });

  const garden =
    'A garden is 8 m by 5 m. A path 1 m wide surrounds it. What is the area of the path, in square meters?';
  test.each([
    ['The area of the path is \\boxed{30}.', 'right'],
    ['So the total area is \\boxed{30} square meters.', 'right'],
    ['The area of the frame is $70 - 40 = \\boxed{30}$.', 'right'],
    ['The outer perimeter is \\boxed{30}.', 'wrong'],
    ['The area of the garden is \\boxed{30}.', 'wrong'],
    ['Hence the area of the outer rectangle is $\\boxed{30}$.', 'wrong'],
    ['The cost of the path is \\boxed{30}.', 'wrong'],
    ['The last two digits are \\boxed{30}.', 'wrong'],
  ])('%s', (answer, verdict) => {
    expect(judgeMath(answer, ['30'], { question: garden }).verdict).toBe(verdict);
  });
});
