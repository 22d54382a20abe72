// Requests that differ from what the API documents: they are read as they are meant, or refused by the field.

import { describe, expect, test } from 'vitest';
import { chatDialect } from '../../endpoint/dialects/chat.ts';
import type { Dialect } from '../../endpoint/dialects/dialect.ts';
import { messagesDialect } from '../../endpoint/dialects/messages.ts';
import { responsesDialect } from '../../endpoint/dialects/responses.ts';
import { readAs } from './recorded-agents.ts';

const USER = 'What is 3 + 4?';
const LIMITS = [
  [chatDialect, 'max_tokens'],
  [chatDialect, 'max_completion_tokens'],
  [responsesDialect, 'max_output_tokens'],
  [messagesDialect, 'max_tokens'],
] as const;

describe('what clients of other models send', () => {
  const read = (dialect: Dialect, body: object) => readAs(dialect, body, () => undefined);
  const said = [{ role: 'user', content: USER }];
  const picture = [{ type: 'text', text: 'a.png:' }, { type: 'image' }];

  test('has a limit of tokens where it is a whole number above 0, and none where it is null or absent', () => {
    for (const [dialect, field] of LIMITS) {
      const limitsOf = (limit: unknown) => read(dialect, { messages: said, input: said, [field]: limit }).limits;
      for (const none of [null, undefined]) expect(limitsOf(none), field).toEqual({});
      expect(limitsOf(7), field).toEqual({ maxTokens: 7 });
      for (const odd of [0, -1, 1.5, '5', 1e300, true, [5]])
        expect(() => limitsOf(odd), `${field} ${JSON.stringify(odd)}`).toThrow(
          `${field} is wrong: it takes a whole number above 0`,
        );
    }
  });

  test.each([
    ['n', chatDialect, [null, undefined, 1], [0, -1, 1.5, '5', 2]],
    ['top_logprobs', responsesDialect, [null, undefined, 0], [-1, 1.5, '5', 2]],
  ] as const)('is refused where it wants what nobody gives, or no number: %s', (field, dialect, taken, odd) => {
    const asked = (value: unknown) => read(dialect, { messages: said, input: said, [field]: value });
    for (const value of taken) expect(asked(value).limits).toEqual({});
    for (const value of odd) expect(() => asked(value)).toThrow(field);
  });

  test('is taken: a picture that a tool returned, which is named', () => {
    expect(() => read(chatDialect, { messages: said, response_format: { type: 'json_schema' } })).toThrow(
      'response_format has no schema',
    );
    const result = { type: 'tool_result', tool_use_id: 'c1', content: picture };
    const all = [
      read(chatDialect, { messages: [...said, { role: 'tool', tool_call_id: 'c1', content: picture }] }),
      read(messagesDialect, { max_tokens: 9, messages: [...said, { role: 'user', content: [result] }] }),
      read(responsesDialect, { input: [...said, { type: 'function_call_output', call_id: 'c1', output: picture }] }),
    ];
    for (const { messages: asked } of all)
      expect(asked.at(-1)).toEqual({ role: 'tool', text: 'a.png:\n[image: not shown]', callId: 'c1' });
  });
});

describe('an item of tools', () => {
  test('at the head of a conversation gives the request its tools, and is no message', () => {
    const item = (type: string) => ({
      type: 'additional_tools',
      id: 'at_1',
      role: 'developer',
      tools: [{ type, name: 'exec' }],
    });
    const read = (type: string) =>
      readAs(
        responsesDialect,
        { input: [item(type), { role: 'user', content: USER }], tools: [{ type: 'function', name: 'add' }] },
        () => undefined,
      );
    expect(read('function').messages).toEqual([{ role: 'user', text: USER }]);
    expect(read('function').tools.map(({ name }) => name)).toEqual(['add', 'exec']);
    expect(read('web_search').tools.map(({ name }) => name)).toEqual(['add']);
    expect(read('web_search').flags).toEqual(['The tool exec is no function, and was left out.']);
  });
});
