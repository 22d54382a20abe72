// The program of an answer: which of its fences it is, and what of the fence.

import { describe, expect, test } from 'vitest';
import { lastCodeBlock } from '../../environments/code/extract.ts';
import { rowsOf } from '../support/rows.ts';

describe('the program of an answer', () => {
  test.each(rowsOf<{ name: string; answer: string; block?: object }>('./code-blocks.jsonl', import.meta.url))(
    '$name: $answer',
    ({ answer, block }) => expect(lastCodeBlock(answer)).toEqual(block),
  );

  test('costs no more than the length of the answer, whatever it holds', () => {
    for (const part of ['```', '``` ', '~~~', '`', '```python\n', '\n', ' \n', ' ', '- ', '1. '])
      lastCodeBlock(part.repeat(300_000)); // Ends within the test's own limit only if it is linear.
  });
});
