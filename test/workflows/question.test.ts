// What a function asks, checked where the types of its module are not: in its run, and in a test of its own.

import { describe, expect, test } from 'vitest';
import { agent, fakeTask, type Question, type Task } from '../../workflows/agent-function.ts';

const USER = { role: 'user', content: 'Hello' } as const;
const SCHEMA = { type: 'object' };
const WHOLE: Question = {
  messages: [
    { role: 'system', content: '' },
    USER,
    { role: 'assistant', content: '', calls: [{ id: 'c1', name: 'look', arguments: '{broken' }] },
    { role: 'tool', content: '1', callId: 'c1' },
  ],
  tools: [{ name: 'look', description: '', parameters: SCHEMA }],
  ...{ maxTokens: 9, stop: ['END'], form: SCHEMA, call: 'look', tag: ' main ', train: false },
};

/** Each time the same function, in a run and in a test. */
async function refused(play: (task: Task) => Promise<unknown>): Promise<unknown> {
  const said = async (asked: Promise<unknown>) =>
    asked.then(
      () => 'played',
      ({ message }: Error) => message,
    );
  const input = { row: {}, seed: 1, key: 'k', maxCalls: 1 };
  const own = agent(async (task) => void (await play(task)));
  const inRun = await said(own(input));
  expect(await said(play(fakeTask({ replies: ['Hi'] })))).toBe(inRun);
  return inRun;
}

describe('a question of a function', () => {
  test.each([
    ['no message', [], 'messages is wrong: it takes a list of at least one message'],
    ['no messages', {}, 'messages is wrong: it takes a list of at least one message'],
    ['nothing', undefined, 'the question is wrong: it takes a text, a list of messages, or an object of messages,'],
    ['a number', 7, 'the question is wrong'],
    [
      'another role',
      [USER, { role: 'robot', content: 'x' }],
      'messages[1].role is wrong: it takes one of system, user,',
    ],
    [
      'content that is no text',
      [{ role: 'user', content: [{ type: 'text' }] }],
      'messages[0].content is wrong: it takes a',
    ],
    ['no content', [{ role: 'user' }], 'messages[0].content is wrong: it takes a text'],
    ['a message that is a text', ['Hello'], 'messages[0] is wrong: it takes {role, content}'],
    [
      'a call without a name',
      [{ role: 'assistant', content: '', calls: [{ id: 'a', arguments: {} }] }],
      'messages[0].calls[0].name is',
    ],
    ['a result of a number', [{ role: 'tool', content: '', callId: 1 }], 'messages[0].callId is wrong'],
    [
      'a tool without parameters',
      { ...WHOLE, tools: [{ name: 'a', description: '' }] },
      'tools[0].parameters is wrong: it takes an object',
    ],
    ['a limit of no token', { ...WHOLE, maxTokens: 0 }, 'maxTokens is wrong: it takes a whole number above 0'],
    ['a stop that is one text', { ...WHOLE, stop: 'END' }, 'stop is wrong: it takes a list of texts'],
    ['an empty stop', { ...WHOLE, stop: [''] }, 'stop[0] is wrong: it takes a text that is not empty'],
    ['a form by name', { ...WHOLE, form: 'json' }, 'form is wrong: it takes a JSON schema, or true'],
    ['a call of nothing', { ...WHOLE, call: '' }, 'call is wrong'],
    [
      'a tag that is too long',
      { ...WHOLE, tag: 'x'.repeat(101) },
      'tag is wrong: it takes a text of 1 to 100 characters',
    ],
    ['a tag that steers a terminal', { ...WHOLE, tag: 'a\u001b[31m' }, 'tag is wrong'],
    ['a train that is no truth', { ...WHOLE, train: 0 }, 'train is wrong: it takes true or false'],
    ['a field that is none', { ...WHOLE, max_tokens: 9 }, 'max_tokens is no field of a question: leave it out'],
  ])('with %s is refused by its field, before it is a call', async (_, question, words) => {
    expect(await refused(({ ask }) => ask(question as Question))).toContain(words);
  });

  test('that is right is asked, with fields of its own beside those of messages and tools', async () => {
    const own = { ...WHOLE.tools![0]!, execute: () => 7 };
    const task = fakeTask({ replies: ['a', 'b', 'c', 'd'] });
    for (const question of ['', [{ ...USER, name: 'me' }], WHOLE, { ...WHOLE, tools: [own], call: undefined }])
      await task.ask(question as Question);
    expect(task.asked).toHaveLength(4);
  });
});

describe('a reward that a function gives', () => {
  test.each([
    ['to no reply', 'nobody', 1, 'reward: "nobody" is the id of no reply.'],
    ['to a call that it did not make', 'reply-2', 1, 'reward: "reply-2" is the id of no reply.'],
  ])('%s is refused', async (_, id, value, words) => {
    expect(await refused(async ({ reward }) => reward({ id }, value))).toBe(words);
  });

  test.each([
    [Number.NaN, 'reward: NaN is no finite number.'],
    [1e39, 'reward: 1e+39 is beyond 3.4e38, where float32 ends.'],
  ])('of %s is refused', async (value, words) => {
    const { ask, reward } = fakeTask({ replies: ['Hi'] });
    const reply = await ask('Hello');
    expect(() => reward(reply, value)).toThrow(new TypeError(words));
  });
});
