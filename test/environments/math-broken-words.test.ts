// What stands around a value: a formula around a box, words that change, deny or doubt, a text that was cut; and honest
// sentences that must not be refused for them. Pairs that once got the wrong verdict, and combinations made here.

import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { judgeMath } from '../../environments/math/judge.ts';

interface Pair {
  readonly verdict: 'right' | 'wrong';
  readonly kind: string;
  readonly solutions: readonly string[];
  readonly answer: string;
  readonly options?: { readonly cut?: boolean };
}

const pairs = readFileSync(new URL('./math-broken-words.jsonl', import.meta.url), 'utf8')
  .trim()
  .split('\n')
  .map((line) => JSON.parse(line) as Pair);

const verdicts = (answers: readonly string[], verdict: string): string[] =>
  answers.filter((answer) => judgeMath(answer, ['6']).verdict !== verdict);

describe('what stands around a value', () => {
  test.each(pairs)('makes $answer $verdict for $solutions ($kind)', ({ answer, solutions, options, verdict }) => {
    expect(judgeMath(answer, solutions, options)).toMatchObject({ verdict });
  });

  const B = String.raw`\boxed{6}`;
  const operands =
    String.raw`2^{B} B^2 B^{-1} \frac{1}{B} \frac{B}{7} 1-B B-1 1+B B+1 -B 2\cdot{}B B\cdot2 2\times{}B B/2 3/B \sqrt{B} \sqrt[3]{B} \sin{B}
    \ln{B} \log_2{B} B! B\pi \pi{}B Bx xB Bi Be B\sqrt2 B\frac12 x+B B+x (B,7) (7,B) [B,7] [7,B) \{7,B\} \{B,7\} 7,B B,7 B:7 7:B B<x x<B
    B\le{}x x\ge{}B x\ne{}B x>B B\pm1 \pm{}B f(B) x_{B} B5 5B B.5 B,000 \binom{B}{2} 2^{1+B} \frac{1}{1+B} x=7,x=B B\text{or}7`
      .split(/\s+/)
      .map((form) => form.replace('B', () => B));

  test.each([
    ['$', '$'],
    ['$$', '$$'],
    ['\\[', '\\]'],
    ['So the answer is $', '$.'],
    ['', ''],
  ])('makes a box in a formula a part of it: %s…%s', (open, close) => {
    expect(
      verdicts(
        operands.filter((form) => open !== '' || !form.endsWith('!')).map((form) => `${open}${form}${close}`),
        'wrong',
      ),
    ).toEqual([]);
  });

  test('leaves a box alone that a statement leads to', () => {
    const leads = [
      '',
      'x = ',
      '2 + 4 = ',
      'x = 2 \\cdot 3 = ',
      '\\therefore ',
      'n! = 720 \\Rightarrow n = ',
      '\\text{Area} = ',
      '&= ',
    ];
    const ends = ['', '.', ',', ' \\text{ cm}', ' \\quad \\blacksquare', '\\tag{1}'];
    const all = leads.flatMap((lead) => ends.map((end) => `So\n\n$$${lead}${B}${end}$$`));
    expect(verdicts(all, 'right')).toEqual([]);
  });

  test('refuses words of sets, order and arithmetic before a number, in a box and behind "the answer is"', () => {
    const before = 'triple root prime every before after around roughly about'.split(' ');
    const of =
      'multiple multiples divisor divisors factor factors digits digit sum loss average mean pairs product half'.split(
        ' ',
      );
    const words = [...before, ...of.flatMap((word) => [`${word} of`, `the ${word} of`, `all ${word} of`])];
    expect(
      verdicts(
        words.flatMap((word) => [`\\boxed{\\text{${word} }6}`, `The answer is ${word} 6.`, `Answer: ${word} 6`]),
        'wrong',
      ),
    ).toEqual([]);
  });

  test('refuses an unmarked value that its sentence supposes, labels or denies', () => {
    const labels = 'page lemma theorem step case equation figure problem question part section'.split(' ');
    const denied = [
      'fails',
      'is extraneous',
      'does not work',
      'is impossible',
      'is a contradiction',
      'is rejected',
      'is excluded',
    ];
    const all = [
      ...labels.flatMap((word) => [`See ${word} 6.`, `This is by ${word} (6).`, `As in ${word} $6$`]),
      ...denied.flatMap((word) => [`But x = 6 ${word}.`, `But $x = 6$ ${word}.`, `We see that 6 ${word}.`]),
      ...['Suppose', 'Assume', 'If', 'No', 'Excluding', 'Unless'].flatMap((word) => [
        `${word} x = 6.`,
        `${word} $x = 6$.`,
      ]),
    ];
    expect(verdicts(all, 'wrong')).toEqual([]);
  });
});
