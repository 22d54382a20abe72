// The rules of IFBench on long hostile texts: each takes time in proportion to the text.

import { describe, test } from 'vitest';
import type { InstructionName } from '../../../domain/query/instruction.ts';
import { judgeRules } from '../../../environments/rules/rules-environment.ts';
import { rowsOf } from '../../support/rows.ts';

interface Reply {
  readonly checked: readonly (readonly [name: InstructionName, args: Record<string, never>])[];
}
const REPLIES = rowsOf<Reply>('./ifbench-replies.jsonl', import.meta.url);
const ASKED = new Map(REPLIES.flatMap(({ checked }) => checked.map(([name, args]) => [name, args] as const)));

describe('a rule of IFBench', () => {
  test.each([
    ...['*', '-', '(', '"', "'", '. ', ' ', '\n', '\n \n', '"""', ',', 'a', 'a,"', 'Question 1', '\r', '<i>'],
    ...[".' ", '?!'],
  ])('ends soon on 100,000 characters of %j', (piece) => {
    const text = piece.repeat(100_000 / piece.length);
    for (const one of [text, `x${text}x`])
      for (const [name, args] of ASKED) judgeRules({ instructions: [{ name, args }] }, one);
  });
});
