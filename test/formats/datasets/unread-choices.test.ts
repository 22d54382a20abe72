// Choices under names, or in places, that are not read: never left out of a question whose answer is one of them.

import { describe, expect, test } from 'vitest';
import { questionOf } from '../../../domain/query/query.ts';
import { queryFromRow } from '../../../formats/datasets/row.ts';

type Row = Readonly<Record<string, unknown>>;

const DRUGS = ['Aspartame', 'Caffeine', 'Warfarin', 'Lactose'] as const;
const [A, B, C, D] = DRUGS;
const QUESTION = 'Which drug thins the blood?';
const LISTED = `${QUESTION}\n(A) ${A}\n(B) ${B}\n(C) ${C}\n(D) ${D}`;
const said = (row: Row): unknown => {
  const result = queryFromRow(row, '1');
  return result.ok ? [questionOf(result.query), ...result.query.solutions] : { [String(result.field)]: result.problem };
};

describe('choices', () => {
  const columns = (names: string): Row => Object.fromEntries(names.split(' ').map((name, i) => [name, DRUGS[i]]));
  const UNREAD: [field: string, row: Row][] = [
    ...['choice', 'option', 'opts', 'answers', 'candidates', 'alternatives', 'answer_choices', 'possible_answers'],
    ...['multiple_choice_targets', 'mcq_options', 'Choice_List', 'all_classes', 'responses'],
  ].map((field) => [field, { [field]: DRUGS }]);
  test.each<[string, Row, unknown?]>([
    ...UNREAD,
    ['opts', { opts: { A, B, C, D } }, '(C)'],
    ['candidates', { candidates: DRUGS.map((text) => ({ text })) }, 'c'],
    ['alternatives', { alternatives: [1, 2, 3, 4] }],
    ['mcq_options', { mcq_options: DRUGS.join('; ') }],
    ['answer_options', { answer_options: [[A], [B], [C]] }],
    ['metadata.options', { metadata: { options: DRUGS } }],
    ['extra_info.choices', { extra_info: { index: 3, choices: { text: DRUGS } } }],
    ['answerA', columns('answerA answerB answerC answerD')],
    ['mc_answer1', columns('mc_answer1 mc_answer2 mc_answer3 mc_answer4')],
    ['ans0', columns('ans0 ans1 ans2')],
    ['sol1', columns('sol1 sol2 sol3'), 'So it is \\boxed{C}'],
    ['alternative_a', columns('alternative_a alternative_b alternative_c')],
    ['1', columns('1 2 3 4')],
    ['1', columns('1 2 3 4'), 3],
    ['A)', columns('A) B) C) D)')],
    ['ans0', columns('ans0 ans1 ans2'), '2'],
    ['answers', { answers: DRUGS }, 1],
    ['choice', { choice: DRUGS }, C],
  ])('under a name that is not read make a bad row: %s', (field, row, answer = 'C') => {
    expect(said({ question: QUESTION, answer, ...row })).toEqual({
      [field]: expect.stringContaining('is not read as choices'),
    });
  });

  test.each<[string, Row, string?]>([
    ['topics beside a number', { tags: ['algebra', 'sums', 'logic', 'sets'], answer: '2' }],
    ['other names of the answer', { answers: ['Paris', 'paris'], answer: 'Paris' }],
    ['other forms of a letter', { aliases: ['C', 'c', 'vitamin C'], answer: 'C' }],
    ['parts of a worked answer', { answer_1: '2', answer_2: '3', answer: '2' }],
    ['numbers of the problem', { x1: 4, x2: 5, x3: 6, answer: 'C' }],
    ['sampled answers', { candidates: ['41', '42'], model_answers: ['1', '2', '3'], answer: '2' }],
    ['replies to a question that lists its choices', { generations: [A, B, C, D], answer: 'C' }, LISTED],
    ['choices that the prompt has in its own way', { answers: [A, B], answer: 'B' }, `Is it 1. ${A}, 2. ${B}?`],
    ['replies to a question about points', { generations: [A, B, C, D], answer: 'C' }, 'Which of A, B and C is $D$?'],
  ])('are no %s', (_, row, question = QUESTION) => {
    expect(said({ question, ...row })).toEqual([question, expect.any(String)]);
  });
});
