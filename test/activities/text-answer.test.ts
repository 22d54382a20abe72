// A turn of a model that takes messages and gives text: one request with the whole conversation, and a record without
// ids, whatever chunks the run asks for.

import { MockActivityEnvironment } from '@temporalio/testing';
import { describe, expect, test } from 'vitest';
import type { ActivityDeps } from '../../activities/deps.ts';
import { requestInText } from '../../activities/agent-prompt.ts';
import { createActivities } from '../../activities/index.ts';
import { DEFAULT_SETTINGS } from '../../domain/rollout/settings.ts';
import { ModelError } from '../../domain/errors/errors.ts';
import type { TurnRecord } from '../../domain/rollout/turn.ts';
import type { AskedRequest } from '../../domain/agent/conversation.ts';
import type { Stored } from '../../records/store.ts';
import { scriptedTextBackend } from '../support/scripted-model.ts';
import { heldStore } from '../support/held-store.ts';

const ID = { out: '/runs', run: 'r', query: 'q', sample: 0, attempt: 1 };
const prompt = { kind: 'messages', messages: [{ role: 'user', content: '2 + 2?' }] };

async function play(turn: number, settings: object = {}, answer: () => string = () => 'It is 4.') {
  const backend = scriptedTextBackend(answer);
  const stored: TurnRecord[] = [];
  const earlier = { turn: 1, answer: 'It is 5.', outputIds: [], contextIds: [], finish: 'stop' };
  const deps = {
    openStore: () =>
      heldStore(
        {
          turn: (number) => (number < turn ? { ...earlier, turn: number } : undefined),
          verdict: () => ({ verdict: 'wrong' }),
          rollout: () => ({ query: { prompt }, settings: { ...DEFAULT_SETTINGS, seed: 1, ...settings } }),
        },
        { turn: stored },
      ),
    isStopping: () => Promise.resolve(false),
    backend: () => Promise.resolve(backend),
    now: () => 5,
  };
  const { generate } = createActivities(deps as unknown as ActivityDeps);
  const ran = new MockActivityEnvironment().run(generate as never, { rollout: ID, turn }) as Promise<unknown>;
  return { result: await ran.catch((error: unknown) => error), requests: backend.requests, record: stored[0]! };
}

describe('a turn of a text backend', () => {
  test('is recorded without ids, logprobs, versions, and what they would be of', async () => {
    const { record, result } = await play(1);
    expect(record).toEqual({
      turn: 1,
      contextIds: [],
      contextText: 'user: 2 + 2?\n',
      outputIds: [],
      logprobs: [],
      outputText: 'It is 4.',
      answer: 'It is 4.',
      finish: 'stop',
      versions: [],
      versionStart: 0,
      versionEnd: 0,
      contextLength: 0,
      maxNewTokens: DEFAULT_SETTINGS.maxNewTokens,
      seed: expect.any(Number),
      previous: 'h0',
      attempt: 1,
      startedAt: 5,
      finishedAt: 5,
      model: 'scripted-text',
      server: 'http://scripted',
      trainable: false,
    });
    expect(result).toMatchObject({ noRoom: false, outputTokens: null, contextTokens: null });
  });

  test.each(['seed', 'delta'])('asks once with the whole conversation and the whole budget (%s)', async (feedback) => {
    const { requests, record } = await play(3, { feedback, newTokensPerChunk: 2, maxNewTokens: 70 });
    expect(requests).toHaveLength(1);
    expect(requests[0]!.maxNewTokens).toBe(70);
    expect(requests[0]!.messages.map(({ role }) => role)).toEqual(['user', 'assistant', 'user', 'assistant', 'user']);
    expect(requests[0]).not.toHaveProperty('contextIds');
    expect(record.contextText).toBe("\nuser: Unfortunately your answer is wrong. Let's try again.\n");
  });

  test('has no room where its server says so, and a prompt that does not fit is an error', async () => {
    const full = () => {
      throw new ModelError('too long', { reason: 'context-length' });
    };
    expect((await play(2, {}, full)).result).toEqual({ noRoom: true, contextTokens: 0 });
    expect((await play(1, {}, full)).result).toMatchObject({ type: 'context-length', nonRetryable: true });
  });

  test('of an agent sends back with each call the fields that the endpoint gave with it, once', () => {
    const add = (id: string, value: unknown) => ({ id, name: 'add', arguments: value });
    const more = (word: string) => ({ more: { extra_content: { signature: word } } });
    const toolCalls = [
      { ...add('x', '{"a": 1}'), ...more('one') },
      { ...add('y', '{"a":2}'), ...more('two') },
      { ...add('z', ''), ...more('three') },
    ];
    const calls = [add('mine-2', { a: 2 }), add('mine-1', { a: 1 }), add('mine-3', {}), add('mine-4', { a: 1 })];
    const request = {
      messages: [{ role: 'assistant', text: '', calls }],
      tools: [],
      limits: {},
    } as unknown as AskedRequest;
    const { messages } = requestInText(request, [{ record: { toolCalls } }] as unknown as Stored<TurnRecord>[]);
    const sent = messages[0]!.toolCalls!.map((call) => [call.id, call.more]);
    expect(sent).toEqual([
      ['mine-2', { extra_content: { signature: 'two' } }],
      ['mine-1', { extra_content: { signature: 'one' } }],
      ['mine-3', { extra_content: { signature: 'three' } }],
      ['mine-4', undefined],
    ]);
  });
});
