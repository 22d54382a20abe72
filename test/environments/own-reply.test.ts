// Replies of a user's environment, read: a name that a parser would leave out is refused and not forgotten.

import { describe, expect, test } from 'vitest';
import { inTime } from '../../environments/processes/in-time.ts';
import { parseReply } from '../../environments/own/reply.ts';
import { beginParams, respondParams } from '../../environments/wire.ts';
import type { EnvironmentRecord } from '../../domain/rollout/environment.ts';
import { earlier, moveOf, rolloutOf } from './own/rollouts.ts';

const read = (json: string) => parseReply('env', 'none', JSON.parse(json), undefined);

describe('a call', () => {
  test('has a prompt of bare text once, before the conversation', () => {
    const rollout = rolloutOf({ name: 'env' } as EnvironmentRecord, {});
    const asked = { ...rollout, query: { ...rollout.query, prompt: { kind: 'text', text: 'Which?' } as const } };
    const which = { role: 'user', content: 'Which?' };
    expect(beginParams(asked).messages).toEqual([which]);
    expect(respondParams(moveOf(asked, '4'), [], 'none').messages).toEqual([which]);
    const before = [earlier(1, '3', { verdict: { verdict: 'wrong', reason: 'r' } })];
    expect(respondParams(moveOf(asked, '4', before), before, 'none').messages.map(({ role }) => role)).toEqual([
      ...['user', 'assistant', 'user'],
    ]);
  });
});

describe('a reply', () => {
  test.each([
    ['{"reward": {"__proto__": 1, "constructor": 2}}', '`reward.__proto__`: is no name for a value'],
    ['{"reward": 1, "metrics": {"__proto__": 7}}', '`metrics.__proto__`: is no name for a value'],
    ['{"reward": 1, "__proto__": {"done": true}}', '__proto__'],
    ['{"verdict": {"verdict": "right", "__proto__": {}}}', '`verdict.__proto__`: is no name for a value'],
    ['{"verdict": {"verdict": "wrong", "reason": "Too High!"}}', '`verdict.reason`: is not of a-z'],
    [`{"reward": {"${'n'.repeat(500)}": 1}}`, 'its name: '],
    ['{"reward": "1"}', '`reward`: Invalid input: expected number, received string; or Invalid input: expected record'],
    [
      '{"verdict": 7}',
      'Invalid option: expected one of "right"|"wrong"|"undecided"; or Invalid input: expected object',
    ],
    ['{"verdict": {"verdict": "right", "why": 1}}', '`verdict`: Unrecognized key: "why"'],
    ['{"reward": 1e31}', 'reward'],
    ['{"reward": {"a": "x"}}', 'reward'],
    ['{"messages": [{"role": "assistant", "content": "I am right."}]}', 'messages.0.role'],
    ['{"messages": [{"role": "user", "content": 7}]}', 'messages.0.content'],
    ['{"done": "yes"}', 'done'],
    ['{"metrics": {"a": null}}', 'metrics'],
    ['{"succes": true}', 'succes'],
    ['{"verdict": "right", "state": {"n": 1}}', 'state'],
    ['{}', 'empty'],
    ['null', 'object'],
  ])('%s is refused, and the message names the field', (json, said) => {
    const reading = () => read(json);
    expect(reading).toThrow(said);
    expect(reading).toThrow(expect.objectContaining({ reason: 'environment-broken' }) as Error);
  });

  test('has every other name that it was given, also those that objects have by themselves', () => {
    const { reward, rewards } = read('{"reward": {"constructor": 2, "toString": 0.5, "hasOwnProperty": -1}}');
    expect(reward).toBe(1.5);
    expect(Object.entries(rewards!)).toEqual([
      ['constructor', 2],
      ['toString', 0.5],
      ['hasOwnProperty', -1],
    ]);
  });
});

describe('a call without a reply', () => {
  const late = (method: string) => inTime('env', method, { timeoutMs: 5 }, () => new Promise(() => undefined));
  test('says what would help: a hello has no time limit of its own to name', async () => {
    await expect(late('respond')).rejects.toMatchObject({ fix: expect.stringContaining('timeoutSeconds') as string });
    const fix = 'The first line of a command is its hello, before it reads a call.';
    await expect(late('hello')).rejects.toMatchObject({ reason: 'environment-timeout', fix });
  });
});
