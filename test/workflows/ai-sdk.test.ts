// A task as a model of the AI SDK, by calls as its specification has them. The SDK itself plays in e2e/ai-sdk.temporal.test.ts.

import { describe, expect, test } from 'vitest';
import { type FakeReply, fakeTask } from '../../workflows/agent-function.ts';
import { model } from '../../workflows/ai-sdk.ts';
import { type CallOptions, questionOf } from '../../workflows/ai-sdk-question.ts';

const USAGE = { input: 10, cached: 4, output: 7, reasoning: 2 };
const SCHEMA = { type: 'object', properties: { n: { type: 'number' } }, required: ['n'] } as const;
const HELLO = [{ role: 'user', content: [{ type: 'text', text: 'Hello' }] }] as const;
const asked = (more: Partial<CallOptions>) => questionOf({ prompt: HELLO, ...more });
const withReplies = (...replies: FakeReply[]) => {
  const task = fakeTask({ replies });
  return { task, own: model(task) };
};

describe('a call of the AI SDK as a question', () => {
  test('has every message in order, the calls of tools with their ids, and each result as a message of its own', () => {
    const { question, left } = asked({
      prompt: [
        { role: 'system', content: 'Be brief.' },
        {
          role: 'user',
          content: [
            { type: 'text', text: 'One' },
            { type: 'text', text: 'Two' },
          ],
        },
        {
          role: 'assistant',
          content: [
            { type: 'reasoning', text: 'Hm.' },
            { type: 'text', text: 'I look.' },
            { type: 'tool-call', toolCallId: 'c1', toolName: 'look', input: { n: 1, none: undefined } },
            { type: 'tool-call', toolCallId: 'c2', toolName: 'look', input: '{broken' },
          ],
        },
        {
          role: 'tool',
          content: [
            { type: 'tool-result', toolCallId: 'c1', toolName: 'look', output: { type: 'json', value: { found: 1 } } },
            {
              type: 'tool-result',
              toolCallId: 'c2',
              toolName: 'look',
              output: { type: 'error-text', value: 'no JSON' },
            },
            { type: 'tool-result', toolCallId: 'c3', toolName: 'look', output: { type: 'execution-denied' } },
            {
              ...{ type: 'tool-result', toolCallId: 'c4', toolName: 'look' },
              output: { type: 'content', value: [{ type: 'text', text: 'a' }] },
            },
          ],
        },
      ],
    });
    expect(question).toEqual({
      messages: [
        { role: 'system', content: 'Be brief.' },
        { role: 'user', content: 'One\nTwo' },
        {
          role: 'assistant',
          content: 'I look.',
          calls: [
            { id: 'c1', name: 'look', arguments: { n: 1 } },
            { id: 'c2', name: 'look', arguments: '{broken' },
          ],
        },
        { role: 'tool', content: '{"found":1}', callId: 'c1' },
        { role: 'tool', content: 'no JSON', callId: 'c2' },
        { role: 'tool', content: 'The call was not allowed.', callId: 'c3' },
        { role: 'tool', content: 'a', callId: 'c4' },
      ],
    });
    expect(left).toEqual([]);
  });

  test('has tools, limits, the form, and the tag, and a choice of tools only where there are tools', () => {
    const look = { type: 'function', name: 'look', description: 'Looks.', inputSchema: SCHEMA };
    const { question } = asked({
      ...{ tools: [look], toolChoice: { type: 'tool', toolName: 'look' }, maxOutputTokens: 9, stopSequences: ['END'] },
      responseFormat: { type: 'json', schema: SCHEMA },
      providerOptions: { everturn: { tag: 'aside', train: false } },
    });
    expect(question).toEqual({
      messages: [{ role: 'user', content: 'Hello' }],
      tools: [{ name: 'look', description: 'Looks.', parameters: SCHEMA }],
      ...{ call: 'look', form: SCHEMA, maxTokens: 9, stop: ['END'], tag: 'aside', train: false },
    });
    const callOf = (type: 'auto' | 'none' | 'required') => asked({ tools: [look], toolChoice: { type } }).question.call;
    expect([callOf('auto'), callOf('none'), callOf('required')]).toEqual([undefined, false, true]);
    expect(asked({ toolChoice: { type: 'required' } }).question).not.toHaveProperty('call');
    expect(asked({ responseFormat: { type: 'json' } }).question.form).toBe(true);
  });

  test('says what it leaves out: what the run decides, of tools, of a form, options of others, headers, an abort', () => {
    const look = { type: 'function', name: 'look', inputSchema: SCHEMA };
    const { question, left } = questionOf({
      ...{ prompt: HELLO, temperature: 0, seed: 1, topP: undefined },
      tools: [
        { type: 'provider', name: 'search' },
        { ...look, strict: true, inputExamples: [{ input: { n: 1 } }] },
      ],
      responseFormat: { type: 'json', schema: SCHEMA, name: 'number', description: 'One.' },
      providerOptions: { openai: { user: 'x' } },
      headers: { 'x-title': 'mine', 'user-agent': 'ai/6' },
      abortSignal: new AbortController().signal,
    } as CallOptions);
    expect(question).toEqual({
      messages: [{ role: 'user', content: 'Hello' }],
      ...{ tools: [{ name: 'look', description: '', parameters: SCHEMA }], form: SCHEMA },
    });
    expect(left.map((sentence) => sentence.split(/ (?:is|are) left out/)[0])).toEqual([
      ...['temperature', 'seed', 'The tool search', 'strict of the tool look', 'inputExamples of the tool look'],
      ...['responseFormat.name', 'responseFormat.description', 'providerOptions.openai', 'The header x-title'],
      'abortSignal',
    ]);
  });

  test('says nothing of what asks for nothing, and of what the SDK itself adds', () => {
    const look = { type: 'function', name: 'look', inputSchema: SCHEMA, strict: false, inputExamples: [] };
    const headers = { 'User-Agent': 'ai/6', 'x-none': undefined };
    expect(asked({ tools: [look], headers, responseFormat: { type: 'json' } }).left).toEqual([]);
  });

  test('with a tag that is none is refused by ask, in its words', async () => {
    const { own, task } = withReplies('Hi');
    const providerOptions = { everturn: { tag: 7 } };
    await expect(own.doGenerate({ prompt: HELLO, providerOptions })).rejects.toThrow('tag is wrong: it takes a text');
    expect(task.asked).toEqual([]);
  });

  test.each([
    ['user', { type: 'file', mediaType: 'image/png', data: 'AAAA' }],
    ['assistant', { type: 'file', mediaType: 'image/png', data: 'AAAA' }],
    ['tool', { type: 'tool-result', toolCallId: 'c', output: { type: 'content', value: [{ type: 'file' }] } }],
  ] as const)('refuses a file in a message of role %s by name', (role, part) => {
    expect(() => asked({ prompt: [{ role, content: [part] }] })).toThrow(
      `A message of role ${role} has a part of type file, and a run's model takes text alone: leave it out.`,
    );
  });
});

describe('a reply as one of the AI SDK', () => {
  const REPLY = { text: 'Look.', reasoning: 'Hm.', calls: [{ name: 'look', arguments: { n: 1 } }], usage: USAGE };
  const CONTENT = [
    { type: 'reasoning', text: 'Hm.' },
    { type: 'text', text: 'Look.' },
    { type: 'tool-call', toolCallId: 'call_1_1', toolName: 'look', input: '{"n":1}' },
  ];

  test('has its reasoning, text and calls, its end and its tokens, in both versions of the specification', async () => {
    expect(await withReplies(REPLY).own.doGenerate({ prompt: HELLO })).toEqual({
      ...{ content: CONTENT, warnings: [], response: { id: 'reply-1' } },
      finishReason: { unified: 'tool-calls', raw: 'stop' },
      usage: {
        inputTokens: { total: 10, noCache: 6, cacheRead: 4, cacheWrite: undefined },
        outputTokens: { total: 7, text: 5, reasoning: 2 },
      },
    });
    const old = model(fakeTask({ replies: [{ ...REPLY, finish: 'length' }] }), { specification: 'v2' });
    expect(old.specificationVersion).toBe('v2');
    expect(await old.doGenerate({ prompt: HELLO })).toEqual({
      ...{ content: CONTENT, warnings: [], response: { id: 'reply-1' }, finishReason: 'length' },
      usage: { inputTokens: 10, outputTokens: 7, totalTokens: 17, reasoningTokens: 2, cachedInputTokens: 4 },
    });
  });

  test('that was called with text that is no JSON comes with that text', async () => {
    const { own } = withReplies({ calls: [{ name: 'look', arguments: '{broken' }] });
    expect((await own.doGenerate({ prompt: HELLO })).content).toMatchObject([{ input: '{broken' }]);
  });

  test('is not asked for once its signal is aborted', async () => {
    const { own, task } = withReplies('Hi');
    await expect(own.doGenerate({ prompt: HELLO, abortSignal: AbortSignal.abort() })).rejects.toThrow('abort');
    expect(task.asked).toEqual([]);
  });

  test('is streamed whole, in the parts of a stream', async () => {
    const parts = [];
    for await (const part of (await withReplies(REPLY).own.doStream({ prompt: HELLO })).stream) parts.push(part);
    expect(parts.map(({ type }) => type)).toEqual([
      ...['stream-start', 'response-metadata', 'reasoning-start', 'reasoning-delta', 'reasoning-end'],
      ...['text-start', 'text-delta', 'text-end', 'tool-call', 'finish'],
    ]);
    expect(parts.filter((part) => 'delta' in part).map(({ id, delta }) => [id, delta])).toEqual([
      ['0', 'Hm.'],
      ['1', 'Look.'],
    ]);
    expect(parts.at(-1)).toMatchObject({
      finishReason: { unified: 'tool-calls' },
      usage: { inputTokens: { total: 10 } },
    });
  });
});
