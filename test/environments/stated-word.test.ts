// The promise: a solution that is a word is stated by a sentence of the question's own words, and by no other sentence that holds it.

import { describe, expect, test } from 'vitest';
import { judgeMath } from '../../environments/math/judge.ts';

const DAY = 'If today is Wednesday, what day of the week will it be 100 days from now?';
const TALL = 'Ann is taller than Bea, and Bea is taller than Cleo. Who is the tallest?';
const COLOUR = 'A bag holds 5 red and 3 blue balls. Which colour is more likely?';
const EITHER = 'A bag holds 5 red and 3 blue balls. Is red or blue more likely?';
const NEITHER = 'Which one is not a fruit?';
const CAPITAL = 'Name the capital of France.';

describe('a solution that is a word', () => {
  test.each([
    [DAY, 'Friday', ['It will be a Friday.', 'It will be Friday.', 'The day will be Friday.', 'Friday']],
    [
      DAY,
      'Friday',
      ['100 days from now it will be a Friday.', 'So it is a Friday', '98 is 14 weeks.\n\nFriday it is.'],
    ],
    [TALL, 'Ann', ['Ann is the tallest.', 'The tallest is Ann.', 'Ann.', 'It is Ann.', '**Ann** is the tallest.']],
    [COLOUR, 'red', ['Red is more likely.', 'The more likely colour is red.', 'It is red.']],
    ['Who wrote Hamlet?', 'Shakespeare', ['Shakespeare wrote Hamlet.', 'Shakespeare wrote it.', 'It was Shakespeare.']],
    [EITHER, 'red', ['Red is more likely.', 'It is red.', 'Red.']],
    [NEITHER, 'carrot', ['Carrot is not a fruit.', 'It is the carrot.']],
    [CAPITAL, 'Paris', ['Paris.', 'The capital of France is Paris.', 'It is Paris.']],
  ])('of %s %s is stated', (question, solution, answers) => {
    expect(answers.filter((answer) => judgeMath(answer, [solution], { question }).verdict !== 'right')).toEqual([]);
  });

  test.each([
    [DAY, 'Friday', ['It will not be a Friday.', 'It could be Friday.', 'It will be Friday or Saturday.']],
    [DAY, 'Friday', ['Ninety-three days ago it was a Friday.', 'Yesterday was Friday.', 'Is it Friday?']],
    [DAY, 'Friday', ['The day after it will be Friday.', 'It will be a Saturday, the day after Friday.']],
    [TALL, 'Ann', ['Ann or Bea.', 'Ann is the shortest.', 'Ann thinks it is Bea.', 'Bea is taller than Ann.']],
    [TALL, 'Ann', ['Maybe Ann.', 'Ann is not the tallest; Bea is.', 'The tallest is Bea, not Ann.', 'I asked Ann.']],
    [TALL, 'Ann', ['Ann is taller than Cleo.', 'Not Ann.', 'Everyone but Ann.', 'Ann and Bea are the tallest.']],
    [COLOUR, 'red', ['Red is less likely.', 'Blue is more likely than red.', 'I like red.']],
    [
      EITHER,
      'red',
      ['It is blue or red.', 'Blue is more likely.', 'Red and blue are likely.', 'Red, blue is more likely.'],
    ],
    [
      'Who wrote Hamlet?',
      'Shakespeare',
      ['Shakespeare did not write Hamlet.', 'Marlowe wrote Hamlet, not Shakespeare.'],
    ],
    [NEITHER, 'carrot', ['Carrot is a fruit.', 'The carrot is one of the fruit.']],
    [CAPITAL, 'Paris', ['Not Paris.', 'Paris is not the capital.', 'I live in Paris.', 'It is near Paris.']],
    [CAPITAL, 'Paris', ['Paris or Lyon', 'The capital is south of Paris.', 'Lyon, not Paris.']],
  ])('of %s %s is not stated', (question, solution, answers) => {
    expect(answers.filter((answer) => judgeMath(answer, [solution], { question }).verdict === 'right')).toEqual([]);
  });
});
