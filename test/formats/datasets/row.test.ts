import { describe, expect, test } from 'vitest';
import { MAX_PROMPT_CHARS } from '../../../formats/datasets/prompt.ts';
import { queryFromRow } from '../../../formats/datasets/row.ts';
import { rowsOf } from '../../support/rows.ts';

const row = (part: object) => ({ question: 'What?', answer: '1', ...part });
const accept = (part: object) => {
  const result = queryFromRow(row(part), '7');
  if (!result.ok) throw new Error(`${result.field} ${result.problem}`);
  return result.query;
};
const cases = { inputs: ['1\n'], outputs: ['2\n'] };

describe('a row', () => {
  test('a question or a problem is one user message; a prompt stands as it is; messages are kept', () => {
    const asked = { kind: 'messages', messages: [{ role: 'user', content: 'What?' }] };
    expect(accept({}).prompt).toEqual(asked);
    expect(accept({ question: undefined, problem: 'What?' }).prompt).toEqual(asked);
    expect(accept({ question: null, prompt: 'Q: What?' }).prompt).toEqual({ kind: 'text', text: 'Q: What?' });
    const messages = [
      { role: 'system', content: '' },
      { role: 'user', content: 'What?', name: 'x' },
    ];
    expect(accept({ question: null, messages }).prompt).toEqual({
      kind: 'messages',
      messages: [
        { role: 'system', content: '' },
        { role: 'user', content: 'What?' },
      ],
    });
  });

  test('its variables of the chat template are an object, or its JSON in a cell; null is none', () => {
    const variables = { enable_thinking: false };
    expect(accept({ chat_template_kwargs: { ...variables, budget: null } }).chatTemplateKwargs).toEqual(variables);
    expect(accept({ chat_template_kwargs: '{"enable_thinking": false}' }).chatTemplateKwargs).toEqual(variables);
    for (const none of [null, '', {}, '{}']) expect(accept({ chat_template_kwargs: none })).toEqual(accept({}));
  });

  test.each(['prompt', 'messages', 'question', 'problem'])('a chat in a text under %s is a chat', (field) => {
    const messages = [
      { role: 'system', content: 'Be brief.' },
      { role: 'user', content: 'What is 2 + 3?' },
    ];
    for (const text of [JSON.stringify(messages), ` ${JSON.stringify(messages, null, 2)}\n`])
      expect(accept({ question: undefined, [field]: text }).prompt).toEqual({ kind: 'messages', messages });
    const faults = [
      "[{'role': 'user', 'content': 'What is 2 + 3?'}]",
      '[{"role": "user", "content": "What is 2 + 3?"}',
      '[{"role": "user", "role": "user", "content": "2 + 3?"}]',
      '[{"from": "human", "value": "What is 2 + 3?"}]',
    ].map((text) => {
      const result = queryFromRow(row({ question: undefined, [field]: text }), '7');
      return result.ok || `${result.field}: ${result.problem}`;
    });
    expect(faults).toEqual([
      expect.stringMatching(new RegExp(`^${field}: is a chat in a text, and is not JSON`)),
      expect.stringMatching(new RegExp(`^${field}: is a chat in a text, and is not JSON`)),
      `${field}: is a chat in a text, and \`[].role\` stands twice in one object`,
      `${field}[0].role: is missing`,
    ]);
  });

  test.each(['[1, 2] and [3]', '[{"a": 1}] has how many keys?', '[INST] 2 + 3? [/INST]'])(
    'a text that begins like a list stays a text: %j',
    (prompt) => expect(accept({ question: undefined, prompt }).prompt).toEqual({ kind: 'text', text: prompt }),
  );

  test('a prompt that no model could read is refused, however it is given', () => {
    const limit = 'x'.repeat(MAX_PROMPT_CHARS);
    expect(accept({ question: limit }).prompt).toMatchObject({ messages: [{ content: limit }] });
    const messages = [
      { role: 'system', content: 'x' },
      { role: 'user', content: limit },
    ];
    for (const long of [
      { question: `${limit}x` },
      { question: null, prompt: `${limit}x` },
      { question: null, messages },
    ]) {
      const result = queryFromRow(row(long), '7');
      expect(result).toMatchObject({ ok: false, problem: `has ${MAX_PROMPT_CHARS + 1} characters` });
    }
  });

  test('an id is query_id, or id, a number as its text, or the line', () => {
    expect(accept({ query_id: 'a', id: 'b' }).queryId).toBe('a');
    expect(accept({ query_id: null, id: 12 }).queryId).toBe('12');
    expect(accept({ id: -1.5 }).queryId).toBe('-1.5');
    expect(accept({}).queryId).toBe('7');
    expect(accept({ id: 'ü'.repeat(500) }).queryId).toBe('ü'.repeat(500));
    expect(accept({ id: 'a/b/..c' }).queryId).toBe('a/b/..c');
  });

  test('solutions are a list, or one answer or solution, numbers as their text', () => {
    expect(accept({ answer: null, solutions: ['1', 2] }).solutions).toEqual(['1', '2']);
    expect(accept({ answer: 42 }).solutions).toEqual(['42']);
    expect(accept({ answer: 'so\n#### 42' }).solutions).toEqual(['so\n#### 42']);
    expect(accept({ answer: null, solution: '\\boxed{1}' }).solutions).toEqual(['\\boxed{1}']);
  });

  test('a task is math unless it says otherwise; code brings its cases, also as a text', () => {
    expect(accept({}).task).toBe('math');
    expect(accept({ task: 'stem' }).task).toBe('stem');
    expect(accept({ task: 'code', input_output: cases, answer: null })).toMatchObject({
      task: 'code',
      solutions: [],
      inputOutput: cases,
    });
    const named = { ...cases, fn_name: 'add' };
    expect(accept({ task: 'code', input_output: JSON.stringify(named) }).inputOutput).toEqual(named);
    expect(accept({ input_output: 'not ours' })).not.toHaveProperty('inputOutput');
  });

  test('an answer decides, what stands beside it is kept apart, and a name may begin with a capital', () => {
    const stated = (part: object) => {
      const result = queryFromRow({ question: 'What?', ...part }, '7');
      if (!result.ok) throw new Error(`${result.field} ${result.problem}`);
      return [result.query.solutions, result.stated?.beside.map(({ field }) => field)];
    };
    expect(stated({ answer: ['1', 2], solution: 'So 3.', solutions: ['4'] })).toEqual([
      ['1', '2'],
      ['solutions[0]', 'solution'],
    ]);
    expect(stated({ Answer: 5, Solution: '\\boxed{5}' })).toEqual([['5'], ['Solution']]);
    expect(stated({ answer: null, solution: '\\boxed{5}' })).toEqual([['\\boxed{5}'], []]);
    expect(stated({ solution: '\\boxed{5}', final_answer: ['5'] })).toEqual([['5'], ['solution']]);
    expect(stated({ ANSWER: 4, solution: '5' })).toEqual([['5'], []]);
  });

  test('a number is its plain digits, also a very small one', () => {
    expect(accept({ answer: 1e-7 }).solutions).toEqual(['0.0000001']);
    expect(accept({ answer: -1.5e-10 }).solutions).toEqual(['-0.00000000015']);
    expect(accept({ answer: -0 }).solutions).toEqual(['0']);
  });

  test('content in parts is one text', () => {
    const content = [
      { type: 'text', text: 'a ' },
      { type: 'input_text', text: 'b' },
    ];
    expect(accept({ question: null, messages: [{ role: 'user', content }] }).prompt).toEqual({
      kind: 'messages',
      messages: [{ role: 'user', content: 'a b' }],
    });
  });

  test.each([
    ...rowsOf<{ row: object; field: string; says: string }>('./row-refused.jsonl', import.meta.url),
    { row: { question: undefined }, field: 'prompt', says: 'is missing' },
    { row: { answer: undefined }, field: 'answer', says: 'is missing' },
    { row: { id: 'x'.repeat(1001) }, field: 'id', says: '1001 bytes' },
  ])('refuses $row at $field', ({ row: part, field, says: problem }) => {
    const result = queryFromRow(row(part), '7');
    expect(result).toMatchObject({ ok: false, field, problem: expect.stringMatching(problem) });
    if (!result.ok) expect(result.fix).toMatch(/^[A-Z].*\.$/);
  });

  test.each([
    [
      { quesiton: 'x', anwser: '2' },
      'prompt',
      'The row has: quesiton, anwser. The nearest layout is GSM8K, of question, answer. Rename them, or name them in a page (benchmarks/README.md): `fields: { question: quesiton, answer: anwser }`.',
    ],
    [
      { problem: 'x', worked_solution: 'y' },
      'answer',
      'The nearest layout is MATH, of problem, solution. Rename them, or name them in a page (benchmarks/README.md): `fields: { solution: worked_solution }`.',
    ],
    [{ Frage: 'x', 'Antwort\u001b': '2' }, 'prompt', 'The row has: Frage, Antwort'],
    [
      { prompt: 'x', tests: 'y', entrypoint: 'z' },
      'answer',
      'The nearest layout is HumanEval, of prompt, test, entry_point. Rename them',
    ],
    [{ question: 'x', answer: null }, 'answer', 'Give `answer` (a text'],
  ])('refuses the columns %j with those of the nearest layout', (own, field, says) => {
    const result = queryFromRow(own, '7');
    expect(result).toMatchObject({ ok: false, field, fix: expect.stringContaining(says) });
    expect(JSON.stringify(result)).not.toContain('u001b');
  });

  test.each([[null], [5], ['x'], [[]]])('refuses %j, which is no object', (value) => {
    expect(queryFromRow(value, '7')).toMatchObject({
      ok: false,
      field: null,
      problem: expect.stringContaining('not an object'),
    });
  });
});

describe('a lost backslash', () => {
  const field = (row: object) => {
    const result = queryFromRow({ id: 'q', question: 'q?', ...row }, '1');
    return result.ok ? 'accepted' : `${result.field}: ${result.fix}`;
  };

  test.each([
    ['"\\text{no}"', '\\\\text{'],
    ['"2\\theta"', '\\\\theta'],
    ['"5\\times 10^3"', '\\\\times'],
    ['"x\\neq 2"', '\\\\neq'],
    ['"\\right)"', '\\\\right'],
    ['"\\boxed{3}"', '\\\\boxed'],
    ['"\\frac{1}{2}"', '\\\\frac'],
  ])('is named where JSON made a control character of it: %s', (json, written) => {
    const answer = JSON.parse(json) as string;
    expect(field({ answer })).toContain(`written twice: ${written}`);
    expect(field({ answer: answer.replace(/[\t\n\r\f\u0008]/, (c) => JSON.stringify(c).slice(1, -1)) })).not.toContain(
      'written twice',
    );
  });
});
