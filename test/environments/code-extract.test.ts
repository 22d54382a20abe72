// The program of an answer: which of its fences it is, and what of the fence.

import { describe, expect, test } from 'vitest';
import { lastCodeBlock } from '../../environments/code/extract.ts';
import { programIn } from '../../environments/code/judge-tests.ts';
import { rowsOf } from '../support/rows.ts';

describe('the program of an answer', () => {
  test.each(rowsOf<{ name: string; answer: string; block?: object }>('./code-blocks.jsonl', import.meta.url))(
    '$name: $answer',
    ({ answer, block }) => expect(lastCodeBlock(answer)).toEqual(block),
  );

  test('is the last that defines what is called, and not its use behind it', () => {
    const fenced = (code: string) => `\`\`\`python\n${code}\n\`\`\``;
    const tests = { source: '', before: '', names: ['turned'] };
    const [draft, whole, use] = ['def turned(a): pass', 'def turned(a):\n    return a[::-1]', 'print(turned("a b"))'];
    const answer = [draft, whole, use].map(fenced).join('\nThen:\n');
    expect(programIn(answer, tests)?.code).toBe(whole);
    expect(programIn(fenced(use), tests)?.code).toBe(use);
    const called = [`class Solution:\n    ${draft}`, use].map(fenced).join('\n');
    expect(programIn(called, undefined, ['turned'])?.code).toContain(draft);
    // What continues a head is the function without its first line.
    const head = 'def turned(a):\n';
    const body = [`${head}    ...`, '    return a[::-1]'].map(fenced).join('\n');
    expect(programIn(body, { ...tests, head })?.code).toBe(`${head}    return a[::-1]`);
    // Without a name that is called, the last.
    expect(programIn(answer, undefined)?.code).toBe(use);
  });

  test('costs no more than the length of the answer, whatever it holds', () => {
    for (const part of ['```', '``` ', '~~~', '`', '```python\n', '\n', ' \n', ' ', '- ', '1. '])
      lastCodeBlock(part.repeat(300_000)); // Ends within the test's own limit only if it is linear.
  });
});
