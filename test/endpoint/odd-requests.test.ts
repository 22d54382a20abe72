// Requests that other servers take, and that differ from what the API documents: they are read as they are meant.

import { describe, expect, test } from 'vitest';
import { chatDialect } from '../../endpoint/dialects/chat.ts';
import type { Dialect } from '../../endpoint/dialects/dialect.ts';
import { messagesDialect } from '../../endpoint/dialects/messages.ts';
import { responsesDialect } from '../../endpoint/dialects/responses.ts';
import { readAs } from './recorded-agents.ts';

const USER = 'What is 3 + 4?';

describe('what clients of other models send', () => {
  const read = (dialect: Dialect, body: object) => readAs(dialect, body, () => undefined);
  const said = [{ role: 'user', content: USER }];
  const picture = [{ type: 'text', text: 'a.png:' }, { type: 'image' }];

  test('is taken: no limit as -1, and a picture that a tool returned, which is named', () => {
    for (const limits of [{ max_tokens: -1 }, { max_completion_tokens: -1, max_tokens: null }, {}])
      expect(read(chatDialect, { messages: said, ...limits }).limits).toEqual({});
    expect(() => read(chatDialect, { messages: said, max_tokens: 0 })).toThrow(/^max_tokens is wrong/);
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
