// Code of a program as environment and tools: what it may return, its time, and its failures.

import { describe, expect, test } from 'vitest';
import type { JsonObject } from '../../domain/text/json.ts';
import type { Move } from '../../environments/environment.ts';
import {
  type EnvironmentFunction,
  type EnvironmentFunctions,
  programEnvironment,
} from '../../environments/own/function.ts';
import { programTools, type ToolFunction } from '../../environments/tools/function.ts';

const signal = new AbortController().signal;
const row = { id: 'q', question: 'What is 1 + 1?', answer: '2' };
const move = (answer: string): Move => ({
  rollout: {
    ...{ run: 'r', sample: 0, attempt: 1, settings: { seed: 1 } as never },
    query: { queryId: 'q', prompt: { kind: 'text', text: row.question }, task: 'math', solutions: [], row } as never,
  },
  ...{ turn: 1, answer, cut: false, before: async () => [] },
});
const reply = (given: EnvironmentFunction | EnvironmentFunctions, answer = '2') =>
  programEnvironment(given).environment.respond(move(answer), { signal });

describe('an environment that is a function', () => {
  test('judges the row by true and false, rewards by a number, and replies by an object', async () => {
    const isRight: EnvironmentFunction = ({ answer }, said) => said === answer;
    expect(await reply(isRight)).toMatchObject({ verdict: { verdict: 'right' } });
    expect(await reply(isRight, '3')).toMatchObject({ verdict: { verdict: 'wrong' } });
    expect(await reply(async () => 0.5)).toMatchObject({ reward: 0.5 });
    const whole = { reward: 1, done: true, messages: [{ role: 'user', content: 'Well done.' }] };
    expect(await reply(() => whole)).toMatchObject(whole);
  });

  test('places rewards in the answer where it says that it does', async () => {
    const credit = [{ from: 0, to: 1, reward: 0.5 }];
    const respond = () => ({ reward: 1, credit });
    expect(programEnvironment({ credits: true, respond }).record).toMatchObject({ credits: true });
    expect(await reply({ credits: true, respond })).toMatchObject({ reward: 1.5, base: 1, credit });
    await expect(reply({ respond })).rejects.toThrow('its hello says no `credits`');
    const none = () => ({ reward: 1, credit: [{ ...credit[0], reward: undefined }] });
    await expect(reply({ credits: true, respond: none })).rejects.toThrow('holds undefined');
  });

  test('is known by its name and its text', () => {
    const checkAnswer: EnvironmentFunction = () => true;
    const { record } = programEnvironment(checkAnswer);
    expect(record).toMatchObject({ name: 'check-answer', door: 'function', state: 'none', begins: false, ends: false });
    const long = Object.defineProperty(() => true, 'name', { value: `${'a'.repeat(63)} b` });
    expect(programEnvironment(long).record.name).toBe('a'.repeat(63));
    expect(programEnvironment(checkAnswer).record.fingerprint).toBe(record.fingerprint);
    expect(programEnvironment({ name: 'check-answer', respond: () => true }).record.fingerprint).not.toBe(
      record.fingerprint,
    );
  });

  test.each([
    ['a reward that is no number', () => Number.NaN, 'environment-broken'],
    ['an unknown field', () => ({ rewrad: 1 }), 'environment-broken'],
    ['more than 1 MiB', () => ({ reward: 1, metrics: { said: 'x'.repeat(2 << 20) } }), 'environment-too-large'],
    [
      'an error of its own',
      () => {
        throw new Error('no such word');
      },
      'environment-error',
    ],
  ])('fails by name for %s', async (_, respond, reason) => {
    await expect(reply({ respond })).rejects.toMatchObject({ reason, retryable: false });
  });

  test('has its time limit, whether or not it heeds its signal', async () => {
    const respond = (): Promise<unknown> => new Promise(() => undefined);
    await expect(reply({ respond, timeoutSeconds: 0.05 })).rejects.toMatchObject({ reason: 'environment-timeout' });
  });

  test.each<[string, object]>([
    ['no `respond`', {}],
    ['a number in its place', 7 as never],
    ['a name that is none', { name: 'My Game', respond: () => 1 }],
    ['a state that lives in the process', { state: 'held', respond: () => 1 }],
    ['a field that it has not', { respond: () => 1, timeout: 4 }],
  ])('is refused with %s', (_, given) => {
    expect(() => programEnvironment(given as never)).toThrow(expect.objectContaining({ reason: 'environment-broken' }));
  });
});

describe('tools that are functions', () => {
  const add: ToolFunction = {
    name: 'add',
    effect: 'pure',
    parameters: { type: 'object', properties: { a: { type: 'number' }, b: { type: 'number' } }, required: ['a', 'b'] },
    run: ({ a, b }) => Number(a) + Number(b),
  };
  const call = (tool: ToolFunction, given: JsonObject = {}) => {
    const { records, door } = programTools([tool]);
    return door.call(records[0]!, { arguments: given, key: 'k', signal, before: async () => undefined }, '');
  };

  test('give their text, or an error, which the model is told', async () => {
    expect(await call(add, { a: 2, b: 3 })).toEqual({ text: '5', outcome: 'ok' });
    expect(await call({ ...add, run: () => ({ sum: 5 }) })).toEqual({ text: '{"sum":5}', outcome: 'ok' });
    const fail = () => Promise.reject(new Error('no such page'));
    expect(await call({ ...add, run: fail })).toMatchObject({ text: 'no such page', outcome: 'failed' });
  });

  test('time out by their own limit, and an outage is no result', async () => {
    const hang = () => new Promise(() => undefined);
    expect(await call({ ...add, timeoutSeconds: 0.05, run: hang })).toMatchObject({ outcome: 'timed-out' });
    const own = { ...add, name: 'own', timeoutSeconds: 5 };
    expect(programTools([add, own], 7).records.map(({ timeoutSeconds }) => timeoutSeconds)).toEqual([7, 5]);
    const away = () => Promise.reject(Object.assign(new Error('no network'), { outage: true }));
    await expect(call({ ...add, run: away })).rejects.toMatchObject({ reason: 'tool-unavailable', retryable: true });
  });

  test('are refused by name and field', () => {
    expect(() => programTools([{ ...add, name: 'a b' }])).toThrow(/a b of this program.*`name`/);
    expect(() => programTools([{ ...add, run: undefined as never }])).toThrow(/no function `run`/);
    expect(() => programTools([add, null as never])).toThrow(/tool 2 .* no object/);
    expect(() => programTools({ add } as never)).toThrow(/`tools` is no list/);
  });
});
