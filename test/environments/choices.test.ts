// A question with choices: the letter counts in every spelling, whether the solution is the letter or has its words too; the
// words and values of a choice count as well. domain/text/choices.ts is what rows and judge share.

import { describe, expect, test } from 'vitest';
import { LETTERS, listedChoices, listing } from '../../domain/text/choices.ts';
import { judgeMath } from '../../environments/math/judge.ts';

const PRIME = { solution: '(B) 7', question: 'Which of them is prime?\n\n(A) 4\n(B) 7\n(C) 9\n(D) 12' };
const CITY = { solution: '(B) Paris', question: 'Which city is the capital of France?\n\n(A) Rome\n(B) Paris' };
const CHECKED = '4 = 2*2, 9 = 3*3.\n\n';

/** With `@` for the letter. */
const SPELLINGS = [
  ...[
    '@',
    '(@)',
    '@.',
    '@)',
    '[@]',
    '`@`',
    '"@"',
    '**@**',
    'Option @',
    'option @.',
    'Answer: @',
    'Answer: `@`',
    'Answer: [@]',
    '**Answer: (@)**',
    "'option @'",
    '"option @"',
    '“Option @”',
    "Answer: 'option @'",
    '\\boxed{"@"}',
  ],
  ...[
    '\\boxed{@}',
    '\\boxed{\\text{@}}',
    '\\boxed{(@)}',
    '\\boxed{[@]}',
    '\\boxed{@: nothing divides it}',
    '\\boxed{\\textbf{(@)}}',
  ],
  ...[
    '@ is correct.',
    '@ is the correct answer.',
    '@, as nothing divides it.',
    '@ because nothing divides it.',
    '@ - nothing divides it',
  ],
  ...[
    `${CHECKED}@`,
    `${CHECKED}**@**`,
    `${CHECKED}The best choice is @`,
    'I choose @.',
    "I'd go with @.",
    'So it is (@).',
    'Therefore, @.',
  ],
  ...[
    'We look at each of them. The right one is @, since nothing divides it.',
    'It cannot be the first of them, which leaves @.',
  ],
  ...[
    '<answer>@</answer>',
    '#### @',
    'The answer is option @.',
    'The correct option is (@).',
    'Looking at all of them: @ is right.',
  ],
];
const listed = (texts: string): string[] => texts.split(' |').map((text) => text.trim());
const STATED = listed(`
  Final answer - @ | Answer – @ | Probably @. | I think it's @ | => @ | [[@]] | The answer's @. |
  I would pick @ — a safe choice. | The answer must be @ | The answer would be @ because nothing divides it. |
  Answer: D\n\nCorrection: the answer should be @ | The answer: D. Hmm, actually @. | It is not D but @. |
  The answer is not D but @. | not D but @ | @. it has no divisors, unlike D and E.`);
const ABROAD = listed(`
  答案是@ | 答案：@ | 答案为@。 | 故选：@。 | 选@ | 因此，选@。 | 本题选择@选项。 | @。 | 【答案】@ |
  所以答案是 @。 | 綜上，選 @ | 正確答案為 @ | 根据分析，@选项正确。 | D错误，E错误，故选@。 |
  答案是@。因为没有约数。 | **答案：@**\n\n解析：D可以被3整除。 | 正解は@ | 答えは@です。 |
  したがって、@が正解です。 | 정답은 @입니다. | 답: @ | @가 정답입니다. | الجواب هو @ | الإجابة: @ |
  सही उत्तर @ है। | সঠিক উত্তর হল @। | คำตอบคือ @ | Правильный ответ: @. | Правильный ответ — @. |
  Die Antwort ist @. | Antwort: @ | Die Antwort ist @, weil nichts teilt. | La réponse est @. |
  La réponse est donc la lettre @. | La respuesta es @. | La respuesta correcta es la opción @. |
  La risposta corretta è la @. | A resposta é a alternativa @. | Svaret är @. | Jawaban yang benar adalah @. |
  Đáp án đúng là @.`);
const DENIED_ABROAD = listed(`
  答案不是B。 | 答案是C，不是B。 | B选项错误。 | 不选B。 | 排除B。 | 如果选B，就错了。 | 答案可能是A或B |
  选A还是选B？ | 这里的B表示磁场。 | 正解はBではありません。 | 正解はCです。Bは間違い。 |
  정답은 B가 아니라 C입니다. | الجواب ليس B | सही उत्तर B नहीं है। | Ответ не B. | La réponse n’est pas B. |
  La respuesta no es B. | A resposta não é B. | La risposta non è B. | Die Antwort ist nicht B. |
  Die Antwort ist A oder B. | La respuesta es A o B. | La réponse est A et non B. | Actually, B is wrong. |
  The answer is not B but C. | The answer: B. Hmm, actually C. | all but B | The answer should not be B.`);
/** A mark that names no choice yields to what names one behind it. */
const BEHIND_A_BOX = [
  '\\boxed{42}\n\n**Answer: @**',
  'The sum is $\\boxed{42}$.\n\nAnswer: (@)',
  'We get \\boxed{x = 3}, so the correct option is @.',
  'Its length is \\boxed{3.5\\text{ cm}}.\n\nTherefore, option @.',
  '\\boxed{42}\n\nThe answer is @.\n\nThe answer is independent of the order.',
  '#### 42\nAnswer: @',
  '**Answer: @**\n\nNote that the answer is independent of the order.',
];
const SMALL = ['@', '\\boxed{@}', '(@)', '@)', 'Answer: @', '`@`'];

describe('the letter of a choice', () => {
  test.each([...SPELLINGS, ...STATED, ...ABROAD, ...BEHIND_A_BOX])(
    'is right as the solution has it, and no other: %j',
    (spelling) => {
      for (const { solution, question } of [PRIME, CITY])
        for (const [gold, asked] of [[solution, question], [solution], ['B', question], ['B']] as const) {
          const options = asked === undefined ? {} : { question: asked };
          const verdict = (letter: string) => judgeMath(spelling.replace('@', letter), [gold], options).verdict;
          expect([gold, asked, ...['A', 'B', 'C'].map(verdict)]).toEqual([gold, asked, 'wrong', 'right', 'wrong']);
        }
    },
  );

  test.each(SMALL)('may be a small one: %j', (spelling) => {
    for (const { solution, question } of [PRIME, CITY])
      expect(['a', 'b', 'c'].map((l) => judgeMath(spelling.replace('@', l), [solution], { question }).verdict)).toEqual(
        [...['wrong', 'right', 'wrong']],
      );
  });

  test.each([
    ...[
      'Not B',
      'It is not B.',
      'It cannot be B.',
      "It isn't B",
      'A or B',
      'B or C',
      'A, B',
      '\\boxed{A, B}',
      'C is correct, B is not.',
      'B is wrong.',
    ],
    ...[
      '\\boxed{C: 7}',
      '\\boxed{(C) 7}',
      'C\n\n7 is prime.',
      '\\boxed{B: 9}',
      '\\boxed{(B) 12}',
      'The answer is either B or D.',
      'B?',
    ],
    ...DENIED_ABROAD,
  ])('is not named by %j', (answer) => {
    for (const solution of [PRIME.solution, 'B'])
      expect(judgeMath(answer, [solution], PRIME).verdict, solution).toBe('wrong');
  });

  test.each([
    ['7', 'right'],
    ['\\boxed{7}', 'right'],
    ['\\boxed{B - 7}', 'right'],
    ['\\boxed{B (7)}', 'right'],
    ['The only one that nothing divides is 7.', 'right'],
    ['\\boxed{9}', 'wrong'],
    ['\\boxed{7}\n\nIf the answer is C, then 3 divides it.', 'right'],
    ['\\boxed{9}\n\nAnswer: B', 'right'],
    ['\\boxed{C}\n\n**Answer: B**', 'right'],
    ['\\boxed{B}\n\nSome say that the answer is C, but it is not.', 'right'],
    ['\\boxed{B}\n\nThe answer is unique.', 'right'],
    ['\\boxed{42}\n\nAnswer: A or B', 'wrong'],
    ['\\boxed{42}\n\nIf the answer is B, then nothing divides it.', 'wrong'],
    ['They are at Tank B, which holds 9.', 'wrong'],
  ])('may be left out where the value is there: %j is %s', (answer, verdict) => {
    expect(judgeMath(answer, [PRIME.solution], PRIME).verdict).toBe(verdict);
  });

  test.each([
    ['(B) vitamin C', 'It is vitamin C', 'right'],
    ['(C) Company B', 'The winner is Company B.', 'right'],
    ['(B) \\frac{1}{18}', '\\boxed{\\frac{1}{18}}', 'right'],
    ['\\textbf{(B)}\\ \\frac{12}{35}', '\\boxed{\\frac{12}{35}}', 'right'],
    ['$(B)\\ x^{12}$', '\\boxed{x^{12}}', 'right'],
    ['(B) \\frac{1}{18}', '\\boxed{\\frac{11}{8}}', 'wrong'],
    ['(C) vitamin A', '所以是维生素C。', 'wrong'],
    ['(B) 4', 'b. 4', 'right'],
    ['(B) 4', 'b. 5', 'wrong'],
    ['(L) seven', 'L', 'right'],
    ['(L) seven', 'M', 'wrong'],
    ['(L) seven', 'The answer is (L).', 'right'],
  ])('leaves the words of %s: %j is %s', (solution, answer, verdict) => {
    expect(judgeMath(answer, [solution]).verdict).toBe(verdict);
  });

  test('is a small letter’s own words, where a choice has them', () => {
    const question = 'Which variable is free?\n\n(A) b\n(B) a';
    expect(['b', 'a', 'B', 'A'].map((answer) => judgeMath(answer, ['(A) b'], { question }).verdict)).toEqual([
      ...['right', 'wrong', 'wrong', 'right'],
    ]);
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
        expect(judgeMath(answer, [`(${letter}) ${100 + i}`], { question }).verdict, answer).toBe('right');
        expect(judgeMath(answer, [letter === 'Z' ? '(Y) 124' : '(Z) 125'], { question }).verdict, answer).toBe('wrong');
      }
  });
});

describe('several right choices', () => {
  const question = 'Which are even?\n\n(A) 4\n(B) 8\n(C) 9\n(D) 12';
  test.each(['ABD', 'A, B, D', 'A and B and D', '(A), (B) and (D)', '\\boxed{\\text{ABD}}'])(
    'are one set: %s',
    (solution) => {
      const right = listed(`
      ABD | BDA | A, B, D | A,B,D | (A), (B) and (D) | A, B, and D | A & B & D | \\boxed{BDA} | \\boxed{A, B, D} | Answer: A, B, D |
      **Answer: ABD** | The correct options are A, B and D. | The answer is D, B, A. | A, B and D are correct. | 故选ABD。 | 答案：A、B、D |
      正解はA、B、Dです。 | \\boxed{A}, \\boxed{B}, \\boxed{D}`);
      const wrong = listed(
        'A | AB | ABCD | A, B, C | A, B or D | Answer: A and B | The correct options are A and D. | AABD | not ABD',
      );
      for (const answer of right)
        expect([answer, judgeMath(answer, [solution], { question }).verdict]).toEqual([answer, 'right']);
      for (const answer of wrong)
        expect([answer, judgeMath(answer, [solution], { question }).verdict]).toEqual([answer, 'wrong']);
    },
  );

  test('are no single one, and a letter before the letter of its words is', () => {
    expect(judgeMath('\\boxed{\\text{dab}}', ['\\text{bad}']).verdict).toBe('wrong');
    expect(judgeMath('A', ['(A), (B) and (D)']).verdict).toBe('wrong');
    expect(judgeMath('C', ['(C) A'], { question: 'Which?\n\n(A) B\n(B) AB\n(C) A' }).verdict).toBe('right');
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
      judgeMath(part.repeat(50_000), ['(B) 7'], { question: part.repeat(50_000) }); // Ends within the test's own limit only if it is linear.
  });
});
