// The program of an answer: which of its fences it is, and what of the fence.

import { describe, expect, test } from 'vitest';
import { lastCodeBlock } from '../../environments/code/extract.ts';

const LONG = 'print("twenty characters")';

describe('the program of an answer', () => {
  test.each([
    [
      'the last of several',
      `\`\`\`python\nprint("the first of the two")\n\`\`\`\nor\n\`\`\`py\n${LONG}\n\`\`\``,
      LONG,
      'py',
    ],
    ['not a short one behind it', `\`\`\`\n${LONG}\n\`\`\`\nOutput: \`\`\`\n42\n\`\`\``, LONG, ''],
    ['behind a thought', `<think>\n\`\`\`1\`\`\`</think>\`\`\`\n${LONG}\n\`\`\``, LONG, ''],
    ['without a language', `\`\`\`\n${LONG}\n\`\`\``, LONG, ''],
    ['with attributes', `\`\`\`python title="a.py"\n${LONG}\n\`\`\``, LONG, 'python'],
    ['in one line', `so \`\`\`${LONG}\`\`\``, LONG, ''],
    ['with Windows line ends', `\`\`\`Python\r\n${LONG}\r\nx = 1\r\n\`\`\``, `${LONG}\nx = 1`, 'python'],
    [
      'with its own indentation',
      `\`\`\`python\n\n    x = "as it stands here"\n\`\`\``,
      '    x = "as it stands here"',
      'python',
    ],
    ['of 17 characters', '```python\nprint(input()[0])\n```\n', 'print(input()[0])', 'python'],
    ['of 17 characters behind a longer draft', `\`\`\`\n${LONG}\n\`\`\`\n\`\`\`py\nprint(1)\n\`\`\``, 'print(1)', 'py'],
    ['of one character', '```\n7\n```', '7', ''],
    ['not a language that is quoted', `\`\`\`\n${LONG}\n\`\`\`\nin \`\`\`python\`\`\``, LONG, ''],
    ['not a short output behind it', `\`\`\`py\n${LONG}\n\`\`\`\nprints\n\`\`\`text\n3\n\`\`\``, LONG, 'py'],
    [
      'not how it is run',
      `\`\`\`python\n${LONG}\n\`\`\`\n\`\`\`bash\necho '3 1 2 3' | python3 main.py\n\`\`\``,
      LONG,
      'python',
    ],
    [
      'not a text behind it',
      `\`\`\`py\n${LONG}\n\`\`\`\n\`\`\`text\nTime complexity: O(n), space O(n)\n\`\`\``,
      LONG,
      'py',
    ],
    ['not its input', `\`\`\`py\n${LONG}\n\`\`\`\n\`\`\`\n3\n1 2 3 and some more text here\n\`\`\``, LONG, 'py'],
    ['of another language alone', `\`\`\`\n42\n\`\`\`\n\`\`\`cpp\n${LONG}\n\`\`\`\n\`\`\`\n42\n\`\`\``, LONG, 'cpp'],
    ['in a list', `1. Do:\n   \`\`\`python\n   if 1:\n       ${LONG}\n   \`\`\`\n`, `if 1:\n    ${LONG}`, 'python'],
    [
      'behind the mark of a list',
      `- \`\`\`python\n  if 1:\n\n      ${LONG}\n  \`\`\``,
      `if 1:\n\n    ${LONG}`,
      'python',
    ],
    ['behind a tab', `\t\`\`\`py\n\tif 1:\n\t\t${LONG}\n\t\`\`\``, `if 1:\n\t${LONG}`, 'py'],
    [
      'with a fence in its docstring',
      `\`\`\`python\ndef f():\n    """\n    \`\`\`\n    x\n    \`\`\`\n    """\n${LONG}\n\`\`\``,
      `def f():\n    """\n    \`\`\`\n    x\n    \`\`\`\n    """\n${LONG}`,
      'python',
    ],
    ['in a fence of tildes', `~~~python\n${LONG}\n#\n\`\`\`\n~~~`, `${LONG}\n#\n\`\`\``, 'python'],
    ['not between tildes within a line', `\`\`\`py\n${LONG}\n\`\`\`\n3 ~~~ 4 ~~~ 5 and twenty more`, LONG, 'py'],
    ['in a longer fence', `\`\`\`\`py\n${LONG}\n#\n\`\`\`\n\`\`\`\``, `${LONG}\n#\n\`\`\``, 'py'],
    ['before one that was cut off', `\`\`\`\n${LONG}\n\`\`\`\n\`\`\`python\n${LONG}2`, LONG, ''],
  ])('%s', (_, answer, code, tag) => expect(lastCodeBlock(answer)).toEqual({ code, tag }));

  test.each([
    '',
    LONG,
    '```python\n\n```',
    '```x = 1```',
    `\`\`\`python\n${LONG}`,
    '``` ``` ``` ```',
    `<think>\n\`\`\`python\n${LONG}\n\`\`\``,
  ])('none in %j', (answer) => expect(lastCodeBlock(answer)).toBeUndefined());

  test('costs no more than the length of the answer, whatever it holds', () => {
    for (const part of ['```', '``` ', '~~~', '`', '```python\n', '\n', ' \n', ' ', '- ', '1. '])
      lastCodeBlock(part.repeat(300_000)); // Ends within the test's own limit only if it is linear.
  });
});
