// Sessions by HTTP: one holder each, secrets that open nothing else, ends, and agents that fall silent.

import { afterEach, describe, expect, test } from 'vitest';
import type { AgentAttempt, AgentEnded } from '../../endpoint/agents.ts';
import { serveSessions, type Sessions } from '../../endpoint/sessions.ts';
import { recorded, replyOf } from './recorded-agents.ts';

const KEY = 'key-of-the-operator';
const [CALL] = recorded('openai-python');
let sessions: Sessions | undefined;
afterEach(() => sessions?.close());

const open = async () => {
  sessions = await serveSessions({ host: '127.0.0.1', port: 0, key: KEY, onListening: () => undefined });
};

function offer(query: string, timeoutSeconds = 600, signal = new AbortController().signal): Promise<AgentEnded> {
  const attempt: AgentAttempt = {
    id: { run: 'away', query, sample: 0, attempt: 1 },
    attempt: 1,
    token: 'a'.repeat(32),
    mustBeLast: async () => undefined,
    record: 'e'.repeat(64),
    program: { spec: ['session'], fingerprint: 'f'.repeat(64), timeoutSeconds, maxCalls: 9 },
    row: { question: `What is ${query}?` },
    seed: 7,
    model: 'tiny',
    recorded: [],
    answer: async ({ call }) => replyOf(call.id, CALL!),
    count: async () => null,
    signal,
  };
  const ended = sessions!.play(attempt);
  ended.catch(() => undefined);
  return ended;
}

interface Taken {
  readonly url: string;
  readonly api_key: string;
  readonly query: string;
  readonly row: unknown;
}

const post = (url: string, key: string, body: unknown = {}) =>
  fetch(url, { method: 'POST', headers: { authorization: `Bearer ${key}` }, body: JSON.stringify(body) });
const take = (wanted: unknown = {}, key = KEY) => post(`${sessions!.url}/sessions`, key, wanted);
const taken = async (wanted: unknown = {}) => (await (await take(wanted)).json()) as Taken;
const ask = ({ url, api_key }: Taken, key = api_key) =>
  post(`${url}/v1/chat/completions`, key, { messages: [{ role: 'user', content: 'Do 3 sums.' }] });

describe('a session', () => {
  test('is handed to one agent, which asks the model at its address and says the answer', async () => {
    await open();
    const ended = offer('q1');
    const session = await taken();
    expect(session).toMatchObject({ query: 'q1', row: { question: 'What is q1?' } });
    expect((await take()).status).toBe(204);
    expect((await ask(session)).status).toBe(200);
    expect((await post(`${session.url}/end`, session.api_key, { answer: 42 })).status).toBe(200);
    expect(await ended).toMatchObject({ code: 0, said: { answer: '42' }, abandoned: [] });
    expect((await ask(session)).status).toBe(404);
  });

  test('takes rewards of single calls, by an id of the reply or as the last; the last one counts', async () => {
    await open();
    const ended = offer('q1');
    const session = await taken();
    const reward = async (body: unknown) => {
      const response = await post(`${session.url}/v1/reward`, session.api_key, body);
      return [response.status, await response.text()];
    };
    expect(await reward({ call: 'last', reward: 1 })).toEqual([400, expect.stringContaining('no call has its reply')]);
    const response = await ask(session);
    const { id } = (await response.json()) as { id: string };
    const call = response.headers.get('x-everturn-call')!;
    for (const [name, value] of [
      [id, 0.25],
      [call, -1],
      ['last', 0.5],
    ] as const)
      expect(await reward({ call: name, reward: value })).toEqual([
        200,
        JSON.stringify({ ok: true, call, reward: value }),
      ]);
    for (const [odd, words] of [
      [{ call: 'chatcmpl-00', reward: 1 }, 'is the id of no reply'],
      [{ call: id, reward: 1, turn_rewards: [1], weight: 2 }, '\\"turn_rewards\\", \\"weight\\"'],
      [{ call: id }, 'no finite number'],
      [{ call: 7, reward: 1 }, 'no text'],
      [{ reward: 1, turn_rewards: [1] }, '\\"turn_rewards\\"'],
    ] as const)
      expect(await reward(odd)).toEqual([400, expect.stringContaining(words)]);
    expect(await reward({ reward: 2, rewards: { form: 1 } })).toEqual([
      200,
      '{"ok":true,"reward":2,"rewards":{"form":1}}',
    ]);
    await post(`${session.url}/end`, session.api_key, { answer: 42 });
    expect(await ended).toMatchObject({ said: { answer: '42', reward: 2 }, callRewards: { [call]: 0.5 } });
  });

  test('is found by its query, or waited for', async () => {
    await open();
    void offer('q1');
    expect((await take({ query: 'q2' })).status).toBe(204);
    const waiting = taken({ query: 'q2', wait_seconds: 30 });
    void offer('q2');
    expect((await waiting).query).toBe('q2');
  });

  test('opens to its own secret alone, and is handed out to those with the key of the operator', async () => {
    await open();
    void offer('q1');
    void offer('q2');
    expect((await take({}, 'another')).status).toBe(401);
    const [one, other] = [await taken(), await taken()];
    expect((await ask(one, other.api_key)).status).toBe(401);
    expect((await ask(one, KEY)).status).toBe(401);
    expect((await post(`${one.url}/end`, other.api_key, { reward: 1 })).status).toBe(401);
    expect((await ask(one)).status).toBe(200);
  });

  test('whose body is malformed is told which field, and goes on', async () => {
    await open();
    const ended = offer('q1');
    const bad = await take({ silent_seconds: 'soon' });
    expect([bad.status, await bad.text()]).toEqual([400, expect.stringContaining('silent_seconds')]);
    const session = await taken();
    for (const end of [{ reward: 'much' }, [1], { error: 1 }, { error: 'x', reward: 1 }, { reward: 1, call: 'c' }])
      expect((await post(`${session.url}/end`, session.api_key, end)).status).toBe(400);
    await post(`${session.url}/end`, session.api_key, { reward: 0.5 });
    expect((await ended).said).toEqual({ reward: 0.5 });
  });

  test('of an agent that failed ends with its words', async () => {
    await open();
    const ended = offer('q1');
    const { url, api_key } = await taken();
    await post(`${url}/end`, api_key, { error: 'KeyError: fig' });
    expect(await ended).toMatchObject({ code: 1, tail: 'KeyError: fig' });
  });

  test('ends without its agent: silence is tried again, its time limit and its signal are not', async () => {
    await open();
    const silent = offer('q1');
    const late = offer('q2', 0.5);
    const stop = new AbortController();
    const stopped = offer('q3', 600, stop.signal);
    const session = await taken({ query: 'q1', silent_seconds: 1 });
    await taken({ query: 'q2' });
    await expect(silent).rejects.toMatchObject({ reason: 'agent-silent', retryable: true });
    await expect(late).rejects.toMatchObject({ reason: 'agent-timeout', retryable: false });
    stop.abort(new Error('stop'));
    await expect(stopped).rejects.toThrow('stop');
    expect((await post(`${session.url}/heartbeat`, session.api_key)).status).toBe(404);
  });
});
