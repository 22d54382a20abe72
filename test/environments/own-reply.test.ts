// Replies of a user's environment, read: a name that a parser would leave out is refused and not forgotten.

import { describe, expect, test } from 'vitest';
import { inTime } from '../../environments/processes/line-process.ts';
import { parseReply } from '../../environments/own/reply.ts';
import { beginParams, respondParams } from '../../environments/wire.ts';
import type { EnvironmentRecord } from '../../domain/rollout/environment.ts';
import { rowsOf } from '../support/rows.ts';
import { earlier, moveOf, rolloutOf } from './own/rollouts.ts';

const settings = { rewardScaling: 0.5, rewardBias: 0.2, turnDiscount: 1 };
const read = (json: string, answer = 'a\u{1f600}cd') =>
  parseReply('env', 'none', JSON.parse(json), undefined, { answer, settings });

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
  test.each(rowsOf<{ reply: string; said: string }>('./replies.jsonl', import.meta.url))(
    '$reply is refused, and the message names the field',
    ({ reply, said }) => {
      const reading = () => read(reply);
      expect(reading).toThrow(said);
      expect(reading).toThrow(expect.objectContaining({ reason: 'environment-broken' }) as Error);
    },
  );

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

describe('a reply on parts of an answer', () => {
  const spans = '"credit": [{"from": 0, "to": 1, "reward": 0.25}, {"from": 1, "to": 4, "reward": -0, "train": false}]';
  const credit = [
    { from: 0, to: 1, reward: 0.25 },
    { from: 1, to: 4, reward: 0, train: false },
  ];

  test('adds the rewards of its spans to its own, to that of its verdict, or to none', () => {
    expect(read(`{"reward": {"form": 2, "length": -1}, ${spans}}`)).toMatchObject({ reward: 1.25, base: 1, credit });
    expect(read(`{"verdict": "right", ${spans}}`)).toMatchObject({ reward: 0.65, base: 0.4, credit });
    expect(read(`{"verdict": "wrong", ${spans}, "train": false}`)).toMatchObject({ reward: -0.35, train: false });
    expect(read(`{${spans}}`)).toEqual({ reward: 0.25, base: 0, credit, done: true });
  });

  test('has no reward of its own where it masks alone, and where it could not judge', () => {
    const mask = '"credit": [{"from": 0, "to": 4, "train": false}]';
    const masked = [{ from: 0, to: 4, train: false }];
    expect(read(`{"verdict": "right", ${mask}}`)).toEqual({
      verdict: { verdict: 'right', reason: 'environment' },
      credit: masked,
    });
    expect(read(`{"verdict": "undecided", ${spans}}`)).not.toHaveProperty('reward');
    expect(read('{"verdict": "right", "credit": [], "train": true}', '')).toEqual(read('{"verdict": "right"}'));
  });

  test.each([`{"verdict": "right", ${spans}}`, '{"verdict": "right", "train": false}'])(
    'is refused of an environment whose hello says nothing of it: %s',
    (json) => {
      const reading = () => parseReply('env', 'none', JSON.parse(json), undefined);
      expect(reading).toThrow('its hello says no `credits`');
    },
  );
});

describe('a call without a reply', () => {
  const late = (method: string) => inTime('env', method, { timeoutMs: 5 }, () => new Promise(() => undefined));
  test('says what would help: a hello has no time limit of its own to name', async () => {
    await expect(late('respond')).rejects.toMatchObject({ fix: expect.stringContaining('timeoutSeconds') as string });
    const fix = 'The first line of a command is its hello, before it reads a call.';
    await expect(late('hello')).rejects.toMatchObject({ reason: 'environment-timeout', fix });
  });
});
