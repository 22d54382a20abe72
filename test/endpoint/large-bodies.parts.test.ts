// Large requests are parsed, and long conversations rendered, on threads: to the same end as small ones.

import { afterEach, describe, expect, test } from 'vitest';
import { callContext, type PlayedCall } from '../../domain/context/call-context.ts';
import { type CallToShow, shownCall } from '../../domain/context/call-text.ts';
import { type AgentMessage, type AskedRequest, requestHash } from '../../domain/agent/conversation.ts';
import { callIdOf } from '../../domain/agent/reply.ts';
import { TooManyTokens } from '../../domain/context/new-context.ts';
import { explain } from '../../domain/errors/errors.ts';
import { chatDialect } from '../../endpoint/dialects/chat.ts';
import { openToolFamily } from '../support/tool-families.ts';
import { openEndpoint, type OpenEndpoint } from './open-endpoint.ts';
import { readAs, recorded, replyOf } from './recorded-agents.ts';

const KEY = 'secret-of-this-attempt';
const [CALL] = recorded('openai-python');
let endpoint: OpenEndpoint | undefined;
afterEach(async () => {
  await endpoint?.close();
  endpoint = undefined;
});

async function post(body: string | Buffer) {
  endpoint ??= await openEndpoint({
    ...{ key: KEY, model: 'tiny', recorded: [], maxCalls: 100, contextLength: 2 ** 17 },
    onReward: () => ({ took: {} }),
    onCut: () => undefined,
    answer: async ({ call }) => replyOf(call.id, CALL!),
  });
  const headers = { 'x-api-key': KEY };
  return fetch(`${endpoint.url}/v1/chat/completions`, { method: 'POST', headers, body });
}

const TOOLS = [
  {
    name: 'add',
    description: 'Adds.',
    parameters: { type: 'object', properties: { b: { type: 'integer', description: 'One.' } } },
  },
];
const tools = TOOLS.map((tool) => ({ type: 'function', function: tool }));

describe('a request of a megabyte', () => {
  const messages = Array.from({ length: 1000 }, (_, i) => [
    { role: 'user', content: `Question ${i}: ${'naïve “words” 𝕏\n'.repeat(40)}` },
    {
      role: 'assistant',
      content: null,
      tool_calls: [{ id: `c${i}`, function: { name: 'add', arguments: '{"b":1}' } }],
    },
    { role: 'tool', tool_call_id: `c${i}`, content: [{ type: 'text', text: '2' }] },
  ]).flat();

  test('is the call that it is by its hash, whatever it is written in', async () => {
    const body = { messages, tools };
    const id = callIdOf(requestHash(readAs(chatDialect, body, () => undefined)), 0);
    const inEscapes = JSON.stringify(body).replace(
      /[^\0-\x7f]/g,
      (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`,
    );
    const given = [];
    for (const text of [JSON.stringify(body), inEscapes]) {
      const response = await post(text);
      expect([response.status, await response.json()]).toMatchObject([200, { object: 'chat.completion' }]);
      given.push(response.headers.get('x-everturn-call'));
    }
    expect(given).toEqual([id, `${id.slice(0, -1)}1`]);
  });

  test.each([
    ['is no JSON', '{"messages": [', 'malformed', ''],
    ['is no UTF-8', Buffer.from('{"x": "\xe9"}', 'latin1'), 'malformed', ''],
    ['has the key "x.a" twice in one object', '{"x": {"a": 1, "a": 2}}', 'malformed', ''],
    ['is nested deeper than 200 levels', `{"x": ${'['.repeat(300)}${']'.repeat(300)}}`, 'malformed', ''],
    ['is wrong', '{"messages": [{"role": "user", "content": 4}]}', 'malformed', 'messages[0].content'],
    ['is not supported', '{"messages": [{"role": "user", "content": "a"}], "n": 2}', 'unsupported-field', 'n'],
  ])('that %s is refused with its cause', async (problem, body, code, param) => {
    const spaces = Buffer.alloc(2 ** 20 - 100, ' ');
    for (const given of [body as string | Buffer, Buffer.concat([spaces, Buffer.from(body as string)])]) {
      const response = await post(given);
      const message = expect.stringContaining(problem) as string;
      expect([response.status, await response.json()]).toMatchObject([400, { error: { message, code, param } }]);
    }
  });

  test('has 100,000 values at most, without those that stand in its texts', async () => {
    const body = (values: number) =>
      `{"messages": [{"role": "user", "content": "1,[{\\"1,["}], "x": [${'1,'.repeat(values)}1]}`;
    const [most, others] = [100_000, 6];
    expect((await post(body(most - others))).status).toBe(200);
    const refused = await post(body(most - others + 1));
    const message = 'the request has more than 100000 values of JSON, the most that are read';
    expect([refused.status, await refused.json()]).toMatchObject([413, { error: { code: 'too-large', message } }]);
  });
});

describe('a conversation of many messages', () => {
  const asked = (...messages: AgentMessage[]): AskedRequest => ({ messages, tools: TOOLS, limits: {} });
  const call = { id: 'id0000000', name: 'add', arguments: { b: 31337 } };
  const long = Array.from({ length: 150 }, (_, i): AgentMessage[] => [
    { role: 'user', text: `Add ${i}. Answerxx` },
    { role: 'assistant', text: '', calls: [call] },
    { role: 'tool', text: `${i}`, callId: call.id },
    { role: 'assistant', text: `It is ${i}.` },
  ]).flat();

  test('is shown as a short one is, whole and behind a reply', async () => {
    const { tokenizer, format, stop } = await openToolFamily('qwen3');
    const behind = { messages: long.slice(0, -2), calls: [call], end: { stop, stops: format.stops ?? [] } };
    const shown: CallToShow[] = [
      { messages: long, tools: TOOLS },
      { messages: long.slice(-2, -1), tools: TOOLS, behind },
      { messages: [{ role: 'tool', text: 'two', callId: call.id }], tools: TOOLS, behind },
    ];
    for (const one of shown) {
      const text = shownCall(one, tokenizer.renderChat);
      expect(text?.text).not.toBe('');
      expect(await tokenizer.showCall!(one)).toEqual(text);
    }
  });

  test('is refused in the words of its template', async () => {
    const { tokenizer } = await openToolFamily('mistral-nemo');
    const broken: CallToShow = { messages: [...long.slice(0, -1), ...long.slice(0, 1)], tools: TOOLS };
    let message = '';
    try {
      shownCall(broken, tokenizer.renderChat);
    } catch (error) {
      message = explain(error);
    }
    expect(message).toContain('refuses these messages');
    await expect(tokenizer.showCall!(broken).catch((error: unknown) => explain(error))).resolves.toBe(message);
  });

  test('whose tokens are too many has their number, and no ids', async () => {
    const { tokenizer, format, stop } = await openToolFamily('qwen3');
    const whole = await callContext(asked(...long.slice(0, -1)), [], tokenizer, format);
    await expect(callContext(asked(...long.slice(0, -1)), [], tokenizer, format, 100)).rejects.toEqual(
      new TooManyTokens(whole.ids.length),
    );
    const reply: AgentMessage = { role: 'assistant', text: 'Hi.' };
    const outputIds = await tokenizer.encodeRendered(`Hi.${stop}`);
    const first = asked({ role: 'user', text: 'Hello.' });
    const { ids: contextIds } = await callContext(first, [], tokenizer, format);
    const base: PlayedCall = { id: 'a', request: first, reply, parent: null, contextIds, outputIds, finish: 'stop' };
    const next = asked(...first.messages, reply, { role: 'user', text: 'More.' });
    const { ids, parent } = await callContext(next, [base], tokenizer, format);
    const most = ids.length - 1;
    expect(parent).toBe('a');
    const refused = callContext(next, [base], tokenizer, format, most);
    await expect(refused).rejects.toMatchObject({ tokens: ids.length, parent: 'a' });
  });
});
