// Endpoints of chat completions, each with an oddity that users of one have met (odd-endpoints.jsonl). An answer is taken however it
// is written, and a failure has the cause that the server means.

import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { rowsOf } from '../support/rows.ts';
import { choice, oddChat, type OddChat } from '../support/odd-chat.ts';

let chat: OddChat;
beforeEach(async () => void (chat = await oddChat()));
afterEach(() => chat.close());

interface Row {
  readonly of: string;
  readonly name: string;
  readonly body: unknown;
  readonly status?: number;
  readonly reply?: object;
  readonly error?: { readonly reason?: string };
  /** In the error's message. */
  readonly says?: string;
}
const rows = rowsOf<Row>('./odd-endpoints.jsonl', import.meta.url);

describe('an endpoint with an oddity', () => {
  test.each(rows.filter(({ reply }) => reply))('has $of taken: $name', async ({ of, body, status, reply }) => {
    chat.says(body, status);
    expect(await chat.ask()).toMatchObject(reply!);
    if (of === 'nothing') expect(chat.sent()).toHaveLength(1);
  });

  test.each(rows.filter(({ error }) => error))(
    'has $of named by the cause that the server means: $name',
    async ({ of, body, status, error, says = '' }) => {
      chat.says(body, status);
      const failed = chat.ask({ maxNewTokens: of === 'a failure' ? 1 : 4096 });
      await expect(failed).rejects.toMatchObject({
        ...{ name: 'ModelError', message: expect.stringContaining(says) as string },
        ...(error!.reason === 'server-busy' && { flaw: undefined }),
        ...error,
      });
      if (of === 'a broken stream') expect(chat.sent()).toHaveLength(1);
    },
  );

  test.each<[string, unknown[], string[]]>([
    ['no ids', [undefined, null, ''], ['call_1', 'call_2', 'call_3']],
    ['numbers for ids', [7, 0], ['7', '0']],
    ['one id for two', ['a', 'a', 'b', 'a'], ['a', 'call_2', 'b', 'call_4']],
    ['an id that a number has', ['call_2', 'call_2'], ['call_2', 'call_2_']],
  ])('has answers taken with calls that have %s', async (_, given, ids) => {
    const calls = given.map((id) => ({ id, function: { name: 'add', arguments: '{}' } }));
    chat.says(choice({ content: null, tool_calls: calls }, 'tool_calls'));
    const { toolCalls = [] } = await chat.ask({ tools: [{ name: 'add', description: '', parameters: {} }] });
    expect(toolCalls.map(({ id }) => id)).toEqual(ids);
  });

  test('has answers in pieces put together, with thoughts and calls', async () => {
    const pieces = [
      { model: 'tiny', choices: [{ delta: { role: 'assistant', reasoning_content: 'Is ' } }] },
      { choices: [{ delta: { reasoning_content: 'it 5?', content: '' } }] },
      { choices: [{ delta: { content: 'It is' } }] },
      {
        choices: [
          {
            delta: {
              content: ' 5.',
              tool_calls: [{ index: 0, id: 'c', function: { name: 'add', arguments: '{"a"' } }],
            },
          },
        ],
      },
      { choices: [{ delta: { tool_calls: [{ index: 0, function: { arguments: ':1}' } }] } }] },
      { choices: [{ delta: {}, finish_reason: 'stop' }] },
      { choices: [], usage: { prompt_tokens: 3, completion_tokens: 2 } },
    ];
    const body = [': hello', ...pieces.map((piece) => `data: ${JSON.stringify(piece)}`), 'data: [DONE]', ''].join(
      '\n\n',
    );
    chat.says(`event: start\n${body}`);
    const tools = [{ name: 'add', description: '', parameters: {} }];
    expect(await chat.ask({ tools })).toMatchObject({
      ...{ text: 'It is 5.', reasoning: 'Is it 5?', finish: 'stop', usage: { input: 3, output: 2 } },
      toolCalls: [{ id: 'c', name: 'add', arguments: '{"a":1}' }],
    });
  });
});
