// A thought is no answer, and what stands behind it is, by the marks of every family of models.

import { describe, expect, test } from 'vitest';
import { answerMessage, behindThoughts, THOUGHT_MARKS } from '../find/thoughts.ts';
import { judge } from '../judge.ts';

const CHANNELS = [
  ['<|channel|>analysis<|message|>', '<|end|><|start|>assistant<|channel|>final<|message|>'],
  ['<|start|>assistant<|channel|>analysis<|message|>', '<|end|><|start|>assistant<|channel|>commentary<|message|>'],
  ['<|think|>', '<|end|><|begin|>assistant<|content|>'],
] as const;
const IN_WORDS = [
  ['Here is my thought process:\n', '\nHere is my response:\n'],
  ['analysis', 'assistantfinal'],
] as const;
const judged = (answer: string, cut = false) => judge(answer, ['391'], { cut });

describe.each([...THOUGHT_MARKS, ...CHANNELS, ...IN_WORDS])('a thought behind %j and before %j', (open, close) => {
  test('is no answer, and what stands behind it is', () => {
    expect(judged(`${open}Is it \\boxed{391}? No.${close} I think it is 381.`).verdict).toBe('wrong');
    expect(judged(`${open}Is it \\boxed{3}? No.${close} It is 391.`).verdict).toBe('right');
    expect(judged(`${open}Is it \\boxed{3}? No.${close}So \\boxed{391}`, true).verdict).toBe('right');
  });
});

describe.each([...THOUGHT_MARKS, ...CHANNELS, IN_WORDS[0]])('an unfinished thought behind %j', (open) => {
  test('has no answer, cut or not', () => {
    const text = `${open}Is it \\boxed{391}? Hm, let me`;
    expect(judged(text)).toMatchObject({ verdict: 'wrong', reason: 'no-answer' });
    expect(judged(text, true)).toMatchObject({ verdict: 'wrong', reason: 'cut-off' });
  });
});

describe.each(THOUGHT_MARKS.map(([, close]) => [close] as const))('the mark %j', (close) => {
  test('ends a thought that the prompt has opened, alone', () => {
    expect(behindThoughts(`Is it 3? No.${close}391`)).toEqual({ text: '391', isOpen: false });
  });
});

describe('a text', () => {
  test.each([
    'It says <think>.\nSo 391',
    'A <thought> is a tag; it is 391.',
    'analysis of it gives 391',
    'Here is my response: 391',
  ])('that only names a mark is an answer: %j', (text) => {
    expect(behindThoughts(answerMessage(text).text)).toEqual({ text, isOpen: false });
    expect(judged(text).verdict).toBe('right');
  });

  test('is read in a time that grows with its length, whatever marks it has', () => {
    for (const part of [
      '<think>',
      '</think>',
      'analysis',
      '<|channel|>analysis<|message|>',
      '<|end|>',
      '[THINK][/THINK]',
    ])
      judged(part.repeat(40_000)); // Ends within the test's own limit only if it is linear.
  });
});
