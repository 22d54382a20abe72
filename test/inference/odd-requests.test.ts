// A request that an endpoint of chat completions refuses is sent in the form that it takes: a budget, a seed, a stream, thoughts.

import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { type Body, choice, oddChat, type OddChat } from '../support/odd-chat.ts';

let chat: OddChat;
beforeEach(async () => void (chat = await oddChat()));
afterEach(() => chat.close());

describe('an endpoint is asked as it takes it', () => {
  const budget = (body: Body) => Number(body['max_tokens']);

  test('with seeds of 31 bits, or none, once it has said so', async () => {
    chat.refuses(({ seed }) =>
      Number(seed) >= 2 ** 31 ? `Invalid value at 'generation_config.seed' (TYPE_INT32), ${String(seed)}` : null,
    );
    await chat.ask();
    await chat.ask();
    expect(chat.sent().map(({ seed }) => Number(seed) < 2 ** 31)).toEqual([false, true, true]);
    chat.refuses(({ seed }) => (seed === undefined ? null : 'Extra inputs are not permitted: seed'));
    await chat.ask();
    await chat.ask();
    expect(
      chat
        .sent()
        .slice(-2)
        .every((body) => !('seed' in body)),
    ).toBe(true);
    expect(chat.sent()).toHaveLength(6);
  });

  test('with the budget that its context leaves, for each request', async () => {
    chat.refuses((body) =>
      budget(body) + 4500 > 8192
        ? `'max_tokens' is too large: ${budget(body)}. This model's maximum context length is 8192 tokens and your request has 4500 input tokens (${budget(body)} > 8192 - 4500).`
        : null,
    );
    expect(await chat.ask()).toMatchObject({ maxNewTokens: 3692 });
    expect(await chat.ask({ maxNewTokens: 16384 })).toMatchObject({ maxNewTokens: 3692 });
    expect(await chat.ask({ maxNewTokens: 100 })).not.toHaveProperty('maxNewTokens');
    expect(chat.sent().map(budget)).toEqual([4096, 3692, 16384, 3692, 100]);
  });

  test('with a budget within its own limit, which it is not asked for twice', async () => {
    chat.refuses((body) => (budget(body) > 2048 ? 'max_tokens must be less than or equal to 2048' : null));
    expect(await chat.ask()).toMatchObject({ maxNewTokens: 2048 });
    expect(await chat.ask()).toMatchObject({ maxNewTokens: 2048 });
    expect(chat.sent().map(budget)).toEqual([4096, 2048, 2048]);
  });

  test('with half the budget, and half again, where its words are not known', async () => {
    chat.refuses((body) => (budget(body) > 600 ? 'Das context window ist zu klein.' : null));
    expect(await chat.ask()).toMatchObject({ maxNewTokens: 512 });
    chat.refuses(() => 'Das context window ist zu klein.');
    await expect(chat.ask()).rejects.toMatchObject({ reason: 'context-length', retryable: false });
  });

  test('once, where the conversation alone does not fit', async () => {
    chat.refuses(() => 'This model’s maximum context length is 512 tokens, and your prompt contains 600 input tokens.');
    await expect(chat.ask()).rejects.toMatchObject({ reason: 'context-length' });
    expect(chat.sent()).toHaveLength(1);
  });

  test('in pieces, where it takes no other requests', async () => {
    chat.refuses(({ stream }) =>
      stream === true ? null : 'This model only support stream mode, please enable the stream parameter.',
    );
    await chat.ask();
    expect(chat.sent().at(-1)).toMatchObject({ stream: true, stream_options: { include_usage: true } });
  });

  const calls = [{ id: 'c1', name: 'add', arguments: '{}' }];
  const called = [
    { role: 'user' as const, content: '2 + 3?' },
    { role: 'assistant' as const, content: '', toolCalls: calls, reasoning: 'I call it.' },
    { role: 'tool' as const, content: '5', tool_call_id: 'c1' },
  ];
  const thoughts = () => {
    const { reasoning, reasoning_content: content } = (chat.sent().at(-1)!['messages'] as Body[])[1]!;
    return { reasoning, content };
  };

  test('with the thoughts that led to calls, in the field in which it gave some, or in the one that it takes', async () => {
    await chat.ask({ messages: called });
    expect(thoughts()).toEqual({ content: 'I call it.' });
    chat.says(choice({ content: '5', reasoning: 'Hm' }));
    await chat.ask();
    await chat.ask({ messages: called });
    expect(thoughts()).toEqual({ reasoning: 'I call it.' });
    chat.refuses((body) => (/"reasoning":/.test(JSON.stringify(body)) ? "property 'reasoning' is unsupported" : null));
    await chat.ask({ messages: called });
    expect(thoughts()).toEqual({});
  });

  test('with its own fields of a call as they came, until it takes none of them', async () => {
    const more = { extra_content: { google: { thought_signature: 'AY89a1' } } };
    const call = { id: 'c1', type: 'function', function: { name: 'add', arguments: '{"a":2}' } };
    const tools = [{ name: 'add', description: '', parameters: {} }];
    const pieces = [
      { choices: [{ delta: { tool_calls: [{ index: 0, ...call, ...more }] } }] },
      {
        choices: [{ delta: { tool_calls: [{ index: 0, function: { arguments: '' } }] }, finish_reason: 'tool_calls' }],
      },
    ];
    const streamed = pieces.map((piece) => `data: ${JSON.stringify(piece)}\n\n`).join('');
    const whole = choice({ content: null, tool_calls: [{ index: 0, ...call, ...more, logprobs: null }] }, 'tool_calls');
    for (const reply of [whole, streamed]) {
      chat.says(reply);
      const { toolCalls = [] } = await chat.ask({ tools });
      expect(toolCalls).toEqual([{ id: 'c1', name: 'add', arguments: '{"a":2}', more }]);
      const messages = [...called.slice(0, 1), { role: 'assistant' as const, content: '', toolCalls }];
      await chat.ask({ tools, messages });
      expect((chat.sent().at(-1)!['messages'] as Body[])[1]!['tool_calls']).toEqual([{ ...more, ...call }]);
      if (reply === whole) continue;
      chat.refuses((body) => (/extra_content/.test(JSON.stringify(body)) ? 'Extra inputs are not permitted' : null));
      await chat.ask({ tools, messages });
      expect((chat.sent().at(-1)!['messages'] as Body[])[1]!['tool_calls']).toEqual([call]);
    }
  });

  test.each(['', '  \n', '\u00a0'])(
    'with words in place of an empty answer (%j), where it takes none',
    async (content) => {
      const messages = [
        ...called.slice(0, 1),
        { role: 'assistant' as const, content },
        { role: 'user' as const, content: 'Again.' },
      ];
      await chat.ask({ messages });
      expect((chat.sent().at(-1)!['messages'] as Body[])[1]).toEqual({ role: 'assistant', content: '' });
      chat.refuses((body) =>
        /"content":""/.test(JSON.stringify(body)) ? 'text content blocks must contain non-whitespace text' : null,
      );
      await chat.ask({ messages });
      expect((chat.sent().at(-1)!['messages'] as Body[])[1]).toEqual({ role: 'assistant', content: '(no answer)' });
    },
  );

  test.each([
    ['{"x": 1}', '{"x": 1}'],
    ['', '{}'],
    ['{"x": 1', '{"text":"{\\"x\\": 1"}'],
    ['[1]', '{"text":"[1]"}'],
    ['null', '{"text":"null"}'],
    ['{"x":NaN}', '{"text":"{\\"x\\":NaN}"}'],
  ])('with the arguments %s of a call as an object', async (given, sent) => {
    const toolCalls = [{ id: 'c1', name: 'add', arguments: given }];
    await chat.ask({ messages: [{ role: 'assistant', content: '', toolCalls }] });
    expect((chat.sent().at(-1)!['messages'] as Body[])[0]!['tool_calls']).toMatchObject([
      { function: { name: 'add', arguments: sent } },
    ]);
  });

  test('no otherwise after a refusal that another form does not mend', async () => {
    chat.refuses(() => 'The seed of all evil is temperature.');
    await expect(chat.ask()).rejects.toMatchObject({ reason: 'request-refused' });
    chat.refuses(() => null);
    await chat.ask();
    expect(chat.sent().at(-1)).toMatchObject({ seed: 2 ** 52 + 7, temperature: 1 });
  });
});
