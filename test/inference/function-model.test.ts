// A model that is a function of a program: what it is asked, what it may give, and its failures.

import { describe, expect, test } from 'vitest';
import { DEFAULT_SAMPLING } from '../../domain/rollout/sampling.ts';
import { createBackend, MODEL_FORMS, parseModelSpec } from '../../inference/index.ts';
import {
  functionBackend,
  functionModelName,
  type ModelFunction,
  type ModelRequest,
} from '../../inference/function-model.ts';
import { programEnvironment } from '../../environments/own/function.ts';
import { programTools } from '../../environments/tools/function.ts';
import type { RolloutSettings } from '../../domain/rollout/settings.ts';
import type { ToolSettings } from '../../domain/tools/tool.ts';
import { mustNeedNoProgram } from '../../run/require-worker.ts';
import { undisturbed } from '../contract/backend.ts';

const messages = [{ role: 'user' as const, content: 'What is 1 + 1?' }];
const request = { requestId: 'r/q/0/1', messages, maxNewTokens: 8, sampling: DEFAULT_SAMPLING, seed: 7 };
const ask = (answer: ModelFunction) => functionBackend(answer).generate(request, undisturbed());

describe('a model that is a function of a program', () => {
  test('is asked with the conversation and its limits, and gives a text or a whole answer', async () => {
    const asked: ModelRequest[] = [];
    const two: ModelFunction = (conversation, given) => {
      asked.push(given);
      return `${conversation.length}: 2`;
    };
    expect(await ask(two)).toMatchObject({ text: '1: 2', finish: 'stop', server: null });
    expect(asked[0]).toMatchObject({ requestId: 'r/q/0/1', maxNewTokens: 8, seed: 7, temperature: 1, tools: [] });
    expect(await ask(async () => ({ text: '2', finish: 'length', usage: { output: 8 } }))).toMatchObject({
      ...{ text: '2', finish: 'length', usage: { output: 8 } },
    });
  });

  test('ends the rollout by name for an answer without text, and for an error that does not say that it may pass', async () => {
    await expect(ask(() => undefined as never)).rejects.toMatchObject({ reason: 'model-broken', retryable: false });
    const fail = (more: object) => () => Promise.reject(Object.assign(new Error('busy'), more));
    await expect(ask(fail({}))).rejects.toMatchObject({ reason: 'model-broken', retryable: false });
    await expect(ask(fail({ retryable: true }))).rejects.toMatchObject({ reason: 'model-broken', retryable: true });
  });

  test('ends with its rollout or its program, whether or not it heeds its signal', async () => {
    const stop = new AbortController();
    const never = functionBackend(() => new Promise(() => undefined));
    const given = never.generate(request, { ...undisturbed(), signal: stop.signal });
    stop.abort(new Error('the program stops'));
    await expect(given).rejects.toThrow('the program stops');
  });

  test('is asked again after its time, and its signal says so', async () => {
    const signals: AbortSignal[] = [];
    const never = functionBackend((_, { signal }) => new Promise(() => signals.push(signal)), 0.05);
    const given = never.generate(request, undisturbed());
    await expect(given).rejects.toMatchObject({ reason: 'server-timeout', retryable: true });
    expect(signals.map(({ aborted }) => aborted)).toEqual([true]);
  });

  test.each<[string, object, RegExp]>([
    ['a call without id', { toolCalls: [{ name: 'add', arguments: '{}' }] }, /no right toolCalls/],
    [
      'arguments that are no text',
      { toolCalls: [{ id: '1', name: 'add', arguments: { a: 1 } }] },
      /no right toolCalls/,
    ],
    ['an unknown ending', { finish: 'done' }, /no right finish: it should be one of stop/],
    ['counts of another name', { usage: { prompt_tokens: 3 } }, /prompt_tokens.*in usage/],
    ['a field that it has not', { content: 'x' }, /gave the field content: an answer has text/],
    ['calls in a run without tools', { toolCalls: [{ id: '1', name: 'add', arguments: '{}' }] }, /has none|no tools/],
  ])('is no answer with %s, and the field is named', async (_, more, words) => {
    const refused = await ask(() => ({ text: '2', ...more })).catch((error: Error) => error);
    expect(refused).toMatchObject({ reason: 'model-broken', message: expect.stringMatching(words) });
  });

  test('is asked for by no command: a run of functions is tried again and forked by nobody else', () => {
    const none = { model: 'tiny' } as RolloutSettings;
    expect(() => mustNeedNoProgram(none, 'It')).not.toThrow();
    for (const own of [
      { model: functionModelName(() => '2') },
      { environments: [programEnvironment(() => true).record] },
      { tools: { list: programTools([{ name: 'add', run: () => 1 }]).records } as ToolSettings },
    ])
      expect(() => mustNeedNoProgram({ ...none, ...own }, 'It')).toThrow(/^It has functions of the program/);
  });

  test('has the hash of its text in its name, is taken by no command, and answered by no other worker', async () => {
    const spec = functionModelName(function two() {
      return '2';
    });
    expect(spec).toMatch(/^function:two@[0-9a-f]{12}$/);
    expect(parseModelSpec(spec)).toMatchObject({ scheme: 'function', files: null, servers: [] });
    expect(MODEL_FORMS.join()).not.toContain('function');
    await expect(createBackend(spec, { log: () => undefined })).rejects.toMatchObject({ reason: 'not-allowed' });
  });
});
