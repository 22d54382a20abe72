// Endpoints of chat completions, each with an oddity that users of one have met. An answer is taken however it is written, and
// a failure has the cause that the server means.

import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { choice, oddChat, type OddChat, refused } from '../support/odd-chat.ts';

let chat: OddChat;
beforeEach(async () => void (chat = await oddChat()));
afterEach(() => chat.close());

const said = (content: unknown) => ({ role: 'assistant', content });

describe('an answer is taken', () => {
  test.each([
    ['stop', 'stop'],
    ['EOS_TOKEN', 'stop'],
    ['end_turn', 'stop'],
    ['COMPLETE', 'stop'],
    ['length', 'length'],
    ['MAX_TOKENS', 'length'],
    ['max_output_tokens', 'length'],
    ['model_context_window_exceeded', 'length'],
    ['model_length', 'length'],
    ['content_filter', 'abort'],
    ['content_filter: RECITATION', 'abort'],
    ['SAFETY', 'abort'],
    ['error', 'abort'],
    [null, 'unknown'],
    ['', 'unknown'],
    ['because', 'unknown'],
    [7, 'unknown'],
  ])('with the finish_reason %j, as %s', async (reason, finish) => {
    chat.says(choice(said('It is 5.'), reason));
    expect(await chat.ask()).toMatchObject({ text: 'It is 5.', finish });
  });

  const thought = { type: 'thinking', thinking: [{ type: 'text', text: 'Is it 1?' }] };
  test.each<[string, unknown, object]>([
    ['a text', choice(said('5')), { text: '5' }],
    ['one part', choice(said([{ type: 'text', text: '5' }])), { text: '5' }],
    ['thoughts and a text', choice(said([thought, { type: 'text', text: '5' }])), { text: '5', reasoning: 'Is it 1?' }],
    ['thoughts as a text', choice(said([{ type: 'reasoning', text: 'Hm' }, '5'])), { text: '5', reasoning: 'Hm' }],
    [
      'several texts',
      choice(said([{ type: 'output_text', text: '5' }, { type: 'x' }, { text: ' m' }])),
      { text: '5 m' },
    ],
    ['an object', choice(said({ type: 'text', text: '5' })), { text: '5' }],
    ['a refusal', choice({ content: null, refusal: 'I cannot.' }), { text: 'I cannot.' }],
    ['a refusal as a part', choice(said([{ type: 'refusal', refusal: 'No.' }])), { text: 'No.' }],
    ['a text without a message', { choices: [{ text: '5', finish_reason: 'stop' }] }, { text: '5' }],
    ['another role', choice({ role: 'model', content: '5' }), { text: '5' }],
    ['another place', choice(said('5'), 'stop', { index: 1 }), { text: '5' }],
    ['an empty error beside it', { ...choice(said('5')), error: { message: '', code: null } }, { text: '5' }],
    ['counts that cannot be', { ...choice(said('5')), usage: { prompt_tokens: -1 } }, { text: '5' }],
    ['counts of another kind', { ...choice(said('5')), usage: 'none' }, { text: '5' }],
    [
      'logprobs of another text',
      choice(said('5'), 'stop', { logprobs: { content: [{ token: 'Yes', logprob: -1 }] } }),
      { text: '5', textLogprobs: [] },
    ],
    [
      'a logprob above 0',
      choice(said('5'), 'stop', { logprobs: { content: [{ token: '5', logprob: 3 }] } }),
      { text: '5', textLogprobs: [] },
    ],
    ['logprobs of another shape', choice(said('5'), 'stop', { logprobs: { tokens: ['5'] } }), { textLogprobs: [] }],
    ['a text without an end', { choices: [{ message: said('5') }] }, { text: '5', finish: 'unknown' }],
    ['a mark of its bytes’ order', `\uFEFF${JSON.stringify(choice(said('5')))}`, { text: '5' }],
    [
      'counts that are no numbers',
      JSON.stringify({ usage: { prompt_tokens: 7, total_tokens: 8, x: '-y' }, ...choice(said('NaN, "-Infinity"')) })
        .replace('7', 'NaN')
        .replace('8', '-Infinity'),
      { text: 'NaN, "-Infinity"' },
    ],
    [
      'counts that are no numbers, in pieces',
      `\uFEFFdata: ${JSON.stringify(choice(said('5')))}\n\ndata: {"choices":[],"usage":{"total_tokens":NaN}}\n\n`,
      { text: '5' },
    ],
    ['half a character', choice(said('5\ud800')), { text: '5\ufffd' }],
  ])('as %s', async (_, body, reply) => {
    chat.says(body);
    expect(await chat.ask()).toMatchObject(reply);
  });

  test.each<[string, unknown[], string[]]>([
    ['no ids', [undefined, null, ''], ['call_1', 'call_2', 'call_3']],
    ['numbers for ids', [7, 0], ['7', '0']],
    ['one id for two', ['a', 'a', 'b', 'a'], ['a', 'call_2', 'b', 'call_4']],
    ['an id that a number has', ['call_2', 'call_2'], ['call_2', 'call_2_']],
  ])('with calls that have %s', async (_, given, ids) => {
    const calls = given.map((id) => ({ id, function: { name: 'add', arguments: '{}' } }));
    chat.says(choice({ content: null, tool_calls: calls }, 'tool_calls'));
    const { toolCalls = [] } = await chat.ask({ tools: [{ name: 'add', description: '', parameters: {} }] });
    expect(toolCalls.map(({ id }) => id)).toEqual(ids);
  });

  const UNREAD = '<function=add>{"x": }</function>';
  test.each<[string, string, object, number]>([
    ['Groq', 'Failed to call a function.', { code: 'tool_use_failed', failed_generation: UNREAD }, 400],
    ['Ollama', `error parsing tool call: raw='${UNREAD}', err=invalid character '}'`, { type: 'api_error' }, 500],
  ])('as the model wrote it, where %s cannot read the call in it', async (_, words, more, status) => {
    chat.says(refused(words, more).body, status);
    expect(await chat.ask()).toMatchObject({ text: UNREAD, finish: 'stop' });
  });

  test('in pieces, with its thoughts and calls put together', async () => {
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

describe('a stream', () => {
  const piece = (content: unknown, finish_reason: unknown = null) =>
    `data: ${JSON.stringify({ choices: [{ delta: { content }, finish_reason }] })}\n\n`;
  const DONE = 'data: [DONE]\n\n';
  test.each<[string, string, object]>([
    ['an end, and no mark of it', piece('5') + piece('', 'stop'), { finish: 'stop' }],
    ['an end, and an empty one behind it', piece('5', 'stop') + piece('', ''), { finish: 'stop' }],
    ['the mark alone', piece('5') + DONE, { finish: 'unknown' }],
    ['empty ends and the mark', piece('5', '') + DONE.replace(': ', ':'), { finish: 'unknown' }],
    ['an error of nothing', `${piece('5', 'stop')}data: {"error":null}\n\n${DONE}`, { finish: 'stop' }],
  ])('is an answer with %s', async (_, body, reply) => {
    chat.says(body);
    expect(await chat.ask()).toMatchObject({ text: '5', ...reply });
  });

  const BUSY = { reason: 'server-busy', message: expect.stringContaining('overloaded') };
  test.each<[string, string, object]>([
    ['it breaks off', piece('It is 5'), { reason: 'server-error' }],
    ['it breaks off behind empty ends', piece('It is 5', ''), { reason: 'server-error' }],
    ['it breaks off behind its counts', `${piece('5')}data: {"choices":[],"usage":{}}\n\n`, { reason: 'server-error' }],
    ['it breaks off in a piece', `${piece('5')}data: {"choi`, { reason: 'reply-malformed' }],
    ['it never begins', DONE, { reason: 'server-busy' }],
    ['an error follows', `${piece('5')}data: {"error":{"message":"overloaded","code":503}}\n\n`, BUSY],
    ['an error follows with the mark', `${piece('5')}data: {"error":"overloaded"}\n\n${DONE}`, BUSY],
    ['an error follows as words at the top', `${piece('5')}data: {"message":"overloaded","code":503}\n\n${DONE}`, BUSY],
    [
      'an event of an error follows',
      `${piece('5')}event: error\ndata: {"message":"overloaded","type":"overloaded_error"}\n\n`,
      BUSY,
    ],
    ['an event of an error follows as a text', `${piece('5', 'stop')}event:error\r\ndata: overloaded\r\n\r\n`, BUSY],
    [
      'an event of an error holds one',
      `${piece('5')}event: error\ndata: {"type":"error","error":{"type":"overloaded_error","message":"overloaded"}}\n\n`,
      BUSY,
    ],
  ])('is a failure of the server, and tried again, where %s', async (_, body, error) => {
    chat.says(body);
    await expect(chat.ask()).rejects.toMatchObject({ retryable: true, ...error });
    expect(chat.sent()).toHaveLength(1);
  });
});

describe('an answer of nothing is the model’s', () => {
  test.each<[string, unknown, object, number?]>([
    ['an empty text', choice(said('')), { finish: 'stop' }],
    ['no text', choice(said(null)), { finish: 'stop' }],
    ['no content', choice({ role: 'assistant' }), { finish: 'stop' }],
    ['no parts', choice(said([])), { finish: 'stop' }],
    ['no message, with an end', choice(null), { finish: 'stop' }],
    ['thoughts alone', choice({ content: null, reasoning: 'Hm' }), { finish: 'stop', reasoning: 'Hm' }],
    ['thoughts until the limit', choice({ content: null, reasoning_content: 'Hm' }, 'length'), { finish: 'length' }],
    ['one that a filter withheld', choice(said(null), 'content_filter'), { finish: 'abort' }],
    [
      'a question that a filter withheld',
      refused('filtered', { code: 'content_filter' }).body,
      { finish: 'abort' },
      400,
    ],
    [
      'no choices, and a question that a filter withheld',
      {
        ...{ choices: [], usage: { completion_tokens: 0 } },
        prompt_filter_results: [{ content_filter_results: { hate: { filtered: true, severity: 'high' } } }],
      },
      { finish: 'abort' },
    ],
    [
      'a budget that thoughts used up',
      refused('Could not finish the message because max_tokens or model output limit was reached.').body,
      { finish: 'length' },
      400,
    ],
  ])('%s', async (_, body, reply, status = 200) => {
    chat.says(body, status);
    expect(await chat.ask()).toMatchObject({ text: '', ...reply });
    expect(chat.sent()).toHaveLength(1);
  });
});

describe('a failure has the cause that the server means', () => {
  const BUSY = { reason: 'server-busy', retryable: true, flaw: undefined };
  const SPENT = { reason: 'insufficient-quota', retryable: false };
  test.each<[string, unknown, object, number?]>([
    ['an error with a status', { error: { message: 'Rate limit upstream', code: 429 } }, BUSY],
    ['with a status as a text', { error: { message: 'slow', code: '429' } }, BUSY],
    ['with a code of words', { error: { message: 'slow', code: 'rate_limit_exceeded' } }, BUSY],
    ['with a name of Google', [{ error: { message: 'x', status: 'UNAVAILABLE' } }], BUSY],
    ['an error as a text', { error: 'overloaded' }, BUSY],
    [
      'an error in the choice',
      choice(said(''), 'error', { error: { code: 502, message: 'x' } }),
      { reason: 'server-error', retryable: true },
    ],
    ['an end by an error, and no answer', choice(said(''), 'error'), BUSY],
    ['an end by an error, and thoughts alone', choice({ content: null, reasoning: 'Hm' }, 'error'), BUSY],
    ['an end by a broken network', choice(said('It i'), 'network_error'), BUSY],
    ['choices of null', { id: null, choices: null }, BUSY],
    ['no choices', { choices: [] }, BUSY],
    ['choices left out, with a status', { code: 429, msg: 'slow' }, BUSY],
    ['a choice of nothing', choice(null, null), BUSY],
    [
      'another model than at first',
      { ...choice(said('5')), model: 'nano' },
      { message: expect.stringMatching(/the model "nano", and "m" was asked; its first reply named "[^"]+"$/) },
    ],
    [
      'an error of the key',
      { error: { message: 'x', code: 'invalid_api_key' } },
      { reason: 'server-auth', retryable: false },
    ],
    [
      'an error of the request',
      { error: { message: 'x', type: 'invalid_request_error' } },
      { reason: 'request-refused' },
    ],
    [
      'an error of the context',
      { error: { message: 'x', code: 'context_length_exceeded' } },
      { reason: 'context-length' },
    ],
    [
      'a limit behind a gateway',
      refused('Provider returned error', { metadata: { raw: '{"error":{"message":"slow"}}' }, code: 429 }).body,
      { ...BUSY, message: expect.stringContaining('slow') },
      400,
    ],
    ['an overload as a fault of ours', refused('x', { type: 'overloaded_error' }).body, BUSY, 500],
    [
      'a quota that is used up',
      refused('You exceeded your current quota', { code: 'insufficient_quota' }).body,
      SPENT,
      429,
    ],
    ['a limit of spending', refused('x', { code: 'billing_hard_limit_reached' }).body, SPENT, 400],
    ['a balance of nothing', refused('Insufficient Balance').body, SPENT, 402],
    ['a balance that is too low', refused('Your credit balance is too low to access the API').body, SPENT, 400],
    ['a quota that is used up, in a 200', { error: { message: 'x', type: 'insufficient_quota' } }, SPENT],
    [
      'a quota by the minute',
      refused('You exceeded your current quota', { status: 'RESOURCE_EXHAUSTED' }).body,
      BUSY,
      429,
    ],
  ])('%s', async (_, body, error, status = 200) => {
    chat.says(body, status);
    await expect(chat.ask({ maxNewTokens: 1 })).rejects.toMatchObject({ name: 'ModelError', ...error });
  });
});
