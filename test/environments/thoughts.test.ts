// The marks of thoughts hide the calls of tools that stand in them, and are those that the judge reads answers by.

import { describe, expect, test } from 'vitest';
import { openedThought, THOUGHT_MARKS, unendedThought } from '../../domain/text/thoughts.ts';
import { toolFormatNamed } from '../../environments/tools/formats/format.ts';
import { THOUGHT_MARKS as MARKS_OF_JUDGE } from '../../packages/judge/find/thoughts.ts';

describe('the marks of thoughts', () => {
  test('are those of the judge', () => {
    expect(THOUGHT_MARKS).toEqual(MARKS_OF_JUDGE);
  });

  test('say whether a thought that the prompt has opened is ended by the reply, in any case of letters', () => {
    expect(unendedThought('<|im_start|>assistant\n<think>\n', 'Is it 3?')).toBe('<think>');
    expect(unendedThought('<|im_start|>assistant\n<think>\n', 'Is it 3? No.</THINK>391')).toBe('');
    expect(unendedThought('<|im_start|>assistant\n', 'Is it 3?')).toBe('');
  });
});

describe.each(THOUGHT_MARKS.map(([open, close]) => [open, close] as const))('the marks %j and %j', (open, close) => {
  test('hide the calls of a thought, also of one that the prompt has opened', () => {
    const call = '<tool_call>{"name": "f", "arguments": {}}</tool_call>';
    const { parse } = toolFormatNamed('hermes')!;
    expect(parse(`${open}I could ${call}${close}${call}`, []).calls).toHaveLength(1);
    expect(openedThought(`<|im_start|>assistant\n${open}\n`)).toBe(open);
    expect(parse(`${openedThought(`so ${open}`)}I could ${call}`, []).calls).toEqual([]);
  });
});
