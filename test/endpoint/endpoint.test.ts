// An agent's endpoint by HTTP: replies from records, calls joined after broken connections, streams, refusals.

import { connect } from 'node:net';
import { afterEach, describe, expect, test } from 'vitest';
import { tooLong } from '../../domain/agent/program.ts';
import type { JsonObject } from '../../domain/text/json.ts';
import type { RecordedReply } from '../../endpoint/agents.ts';
import type { EndpointOptions } from '../../endpoint/endpoint.ts';
import { until } from '../support/until.ts';
import { openEndpoint, type OpenEndpoint } from './open-endpoint.ts';
import { recorded, replyOf } from './recorded-agents.ts';

const KEY = 'secret-of-this-attempt';
const CALLS = recorded('openai-python');
let endpoint: OpenEndpoint | undefined;
afterEach(() => endpoint?.close());

/** Each new call gets the reply of its place in the recording; all of them are kept, as an endpoint's owner keeps them. */
async function open(records: RecordedReply[], more: Partial<EndpointOptions> = {}): Promise<{ asked: string[] }> {
  const asked: string[] = [];
  endpoint = await openEndpoint({
    key: KEY,
    model: 'tiny',
    recorded: [...records],
    onReward: () => ({ took: {} }),
    maxCalls: 100,
    onCut: () => undefined,
    async answer({ call }, request, dialect) {
      asked.push(call.id);
      const turn = request.messages.filter(({ role }) => role === 'assistant').length;
      const reply = replyOf(call.id, CALLS[turn]!);
      records.push({ hash: call.hash, occurrence: call.occurrence, request, dialect, reply });
      return reply;
    },
    ...more,
  });
  return { asked };
}

const post = (body: unknown, headers: Record<string, string> = {}, signal?: AbortSignal) =>
  fetch(`${endpoint!.url}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${KEY}`, ...headers },
    body: typeof body === 'string' || body instanceof Uint8Array ? body : JSON.stringify(body),
    ...(signal && { signal }),
  });

interface Whole {
  choices: { message: { content: string; tool_calls?: { id: string }[] }; finish_reason: string }[];
}

/** A program with a loop of its own: it adds until the model calls no more. */
async function agent(calls = Infinity, echo: JsonObject = {}): Promise<{ said: string; replayed: (string | null)[] }> {
  const messages: unknown[] = [{ role: 'user', content: 'Do 3 sums.' }];
  const replayed: (string | null)[] = [];
  for (let made = 0; made < calls; made++) {
    const response = await post({ messages });
    replayed.push(response.headers.get('x-everturn-replayed'));
    const { message } = ((await response.json()) as Whole).choices[0]!;
    if (!message.tool_calls) return { said: message.content, replayed };
    messages.push({ ...message, ...echo }, { role: 'tool', tool_call_id: message.tool_calls[0]!.id, content: '6' });
  }
  return { said: '', replayed };
}

describe('an endpoint', () => {
  test('knows a reply by the ids of its calls, where the text beside them was not sent back', async () => {
    const [whole, bare] = [await open([]), await agent()];
    await endpoint!.close();
    const dropped = await open([]);
    expect(await agent(Infinity, { content: null })).toEqual(bare);
    expect(dropped.asked).toEqual(whole.asked);
    await endpoint!.close();
    const edited = await open([]);
    await agent(Infinity, { content: 'Let me multiply.' });
    expect(edited.asked.slice(1)).not.toContain(whole.asked[1]);
  });

  test('answers an agent that runs again from the records, and only what is left from the model', async () => {
    const records: RecordedReply[] = [];
    const first = await open(records);
    await agent(2);
    await endpoint!.close();
    const second = await open(records);
    expect(endpoint!.abandoned()).toEqual(first.asked);
    expect(await agent()).toEqual({ said: '  The answer is 42. \n', replayed: ['1', '1', null, null] });
    expect(endpoint!.abandoned()).toEqual([]);
    expect([first.asked.length, second.asked.length]).toEqual([2, 2]);
  });

  test('gives a call whose connection broke its reply once the client asks again', async () => {
    let begin = (): void => undefined;
    const begun = new Promise<void>((resolve) => (begin = resolve));
    let finish = (): void => undefined;
    const finished = new Promise<void>((resolve) => (finish = resolve));
    let asked = 0;
    await open([], {
      async answer({ call }) {
        asked++;
        begin();
        await finished;
        return replyOf(call.id, CALLS[3]!);
      },
    });
    const body = { messages: [{ role: 'user', content: 'Hello.' }] };
    const leaving = new AbortController();
    const left = post(body, {}, leaving.signal).catch(() => 'left');
    await begun;
    leaving.abort();
    expect(await left).toBe('left');
    const again = post(body, { 'x-stainless-retry-count': '1' });
    finish();
    expect((await again).headers.get('x-everturn-replayed')).toBe('1');
    expect(asked).toBe(1);
  });

  test('takes equal calls side by side as so many calls', async () => {
    let asked = 0;
    let all = (): void => undefined;
    const four = new Promise<void>((resolve) => (all = resolve));
    await open([], {
      async answer({ call }) {
        if (++asked === 4) all();
        await four;
        return replyOf(call.id, CALLS[3]!);
      },
    });
    const body = { messages: [{ role: 'user', content: 'Hello.' }] };
    const ids = (await Promise.all([1, 2, 3, 4].map(() => post(body)))).map(({ headers }) =>
      headers.get('x-everturn-call'),
    );
    expect(new Set(ids).size).toBe(4);
  });

  test('streams a reply as one sum of events, with comments while it waits', async () => {
    let finish = (): void => undefined;
    const finished = new Promise<void>((resolve) => (finish = resolve));
    await open([], {
      keepAliveMs: 20,
      async answer({ call }) {
        await finished;
        return replyOf(call.id, CALLS[0]!);
      },
    });
    const response = await post({ messages: [{ role: 'user', content: 'Hello.' }], stream: true });
    finish();
    const text = await response.text();
    expect(text).toMatch(/^(?:: keep-alive\n\n)+data: /);
    expect(text.endsWith('data: [DONE]\n\n')).toBe(true);
    const chunks = text.split('\n\n').filter((one) => one.startsWith('data: {'));
    const deltas = chunks.map(
      (one) => (JSON.parse(one.slice(6)) as { choices: [{ delta: JsonObject }] }).choices[0].delta,
    );
    expect(deltas.map(({ content }) => content ?? '').join('')).toBe('  Step 1: “naïve”.\n\n');
  });

  test('refuses a body that no context could hold in each dialect’s own form, before it is parsed, and goes on', async () => {
    const cuts: string[] = [];
    const { asked } = await open([], { contextLength: 1000, onCut: (cut) => cuts.push(cut) });
    const most = 2 ** 20 + 32 * 1000;
    // It is no JSON, and nobody has seen that.
    const body = 'x'.repeat(most + 1);
    const ask = (path: string, given: string | ReadableStream) =>
      fetch(`${endpoint!.url}/v1${path}`, {
        method: 'POST',
        headers: { 'x-api-key': KEY },
        body: given,
        duplex: 'half',
      });
    const message =
      'the request has more than 1000 tokens; prompt is too long: more than 1000 tokens > 1000 maximum; ' +
      `this model's maximum context length is 1000 tokens, of at most 32 bytes each, and it has more than ${most} bytes`;
    for (const path of ['/chat/completions', '/responses']) {
      for (const given of [body, new Blob([body]).stream()]) {
        const refused = await ask(path, given);
        const error = { message, type: 'invalid_request_error', param: '', code: 'context_length_exceeded' };
        expect([refused.status, await refused.json()]).toEqual([400, { error }]);
        expect(refused.headers.get('x-should-retry')).toBe('false');
      }
    }
    const refused = await ask('/messages', body);
    const error = { type: 'invalid_request_error', message };
    expect([refused.status, await refused.json()]).toEqual([400, { type: 'error', error, request_id: null }]);
    expect(cuts).toEqual(Array(5).fill('context-length'));
    expect((await ask('/messages/count_tokens', body)).status).toBe(400);
    expect([cuts.length, asked]).toEqual([5, []]);
  });

  test('reads on while a client sends what is refused, and then answers on the same connection', async () => {
    await open([], { contextLength: 1000 });
    const { port } = new URL(endpoint!.url);
    const socket = connect(Number(port), '127.0.0.1');
    const size = 8 * 2 ** 20;
    const head = `host: 127.0.0.1\r\nx-api-key: ${KEY}\r\n`;
    socket.write(`POST /v1/chat/completions HTTP/1.1\r\n${head}content-length: ${size}\r\n\r\n`);
    let said = '';
    socket.on('data', (part: Buffer) => (said += part.toString()));
    await until('the refusal', () => said.startsWith('HTTP/1.1 400') || undefined);
    socket.write('x'.repeat(size));
    socket.write(`GET /v1/models HTTP/1.1\r\n${head}\r\n`);
    await until('the models', () => said.includes('HTTP/1.1 200') || undefined);
    socket.destroy();
  });

  test('takes a reward that every reader takes alike, and says of any other one what is wrong', async () => {
    const posted: unknown[] = [];
    await open([], { onReward: (value) => ({ took: { count: posted.push(value) } }) });
    const reward = async (body: string | Buffer) => {
      const headers = { authorization: `Bearer ${KEY}` };
      const response = await fetch(`${endpoint!.url}/v1/reward`, { method: 'POST', headers, body });
      return [response.status, await response.text()] as const;
    };
    expect((await reward(`{"answer": "${'x'.repeat(2 ** 20)}"}`))[0]).toBe(413);
    expect(await reward('{"reward": 1}')).toEqual([200, '{"ok":true,"count":1}']);
    expect(await reward('{"reward": 1, "reward": 0}')).toEqual([400, expect.stringContaining('twice in one object')]);
    expect(await reward(Buffer.from('{"reward": 1, "rewards": {"\xe9": 1}}', 'latin1'))).toEqual([
      400,
      expect.stringContaining('is no UTF-8'),
    ]);
    expect(posted).toEqual([{ reward: 1 }]);
  });

  test('says in words that clients know that a context is too long, and by a status that none retries that calls are used up', async () => {
    const tooMuch = { refused: 'context-length', message: tooLong(8015, 1498) } as const;
    await open([], { maxCalls: 3, answer: () => Promise.resolve(tooMuch) });
    const ask = async (path: string, body: object) => {
      const response = await fetch(`${endpoint!.url}/v1${path}`, {
        method: 'POST',
        headers: { 'x-api-key': KEY },
        body: JSON.stringify(body),
      });
      const { error } = (await response.json()) as { error: Record<string, string> };
      return [response.status, error['code'] ?? error['type'], error['message']] as const;
    };
    const messages = [{ role: 'user', content: 'Hello.' }];
    const said = expect.stringMatching(
      /prompt is too long: 8015 tokens > 1498 maximum.*maximum context length is 1498 tokens/,
    ) as string;
    expect(await ask('/chat/completions', { messages })).toEqual([400, 'context_length_exceeded', said]);
    expect(await ask('/responses', { input: 'Hello!' })).toEqual([400, 'context_length_exceeded', said]);
    expect(await ask('/messages', { messages, max_tokens: 9 })).toEqual([400, 'invalid_request_error', said]);
    expect((await ask('/chat/completions', { messages: [...messages, ...messages] })).slice(0, 2)).toEqual([
      404,
      'max-calls',
    ]);
    expect((await ask('/messages', { messages: [...messages, ...messages, ...messages] })).slice(0, 2)).toEqual([
      404,
      'not_found_error',
    ]);
  });

  test('gives a reply of this rollout again as a response, by its id', async () => {
    await open([]);
    const headers = { 'x-api-key': KEY };
    const asked = { method: 'POST', headers, body: JSON.stringify({ input: 'Do 3 sums.' }) };
    const whole = (await (await fetch(`${endpoint!.url}/v1/responses`, asked)).json()) as { id: string };
    const get = (id: string) => fetch(`${endpoint!.url}/v1/responses/${id}`, { headers });
    expect(await (await get(whole.id)).json()).toEqual(whole);
    for (const id of [`${whole.id}0`, whole.id.replace('resp', 'msg'), 'resp_000000000000000000aa', ''])
      expect((await get(id)).status).toBe(404);
  });

  test('names the run’s model, whichever a client asks for before it begins', async () => {
    await open([]);
    const get = (path: string) =>
      fetch(`${endpoint!.url}/v1/models${path}`, { headers: { 'x-api-key': KEY } }).then((reply) => reply.json());
    expect(await get('')).toMatchObject({ object: 'list', data: [{ id: 'tiny', object: 'model' }] });
    expect(await get('/tiny')).toMatchObject({ id: 'tiny', object: 'model', type: 'model' });
    expect(await get('/Qwen/Qwen3%2D8B')).toMatchObject({ id: 'Qwen/Qwen3-8B' });
    expect(await get('/50%')).toMatchObject({ id: '50%' });
  });

  test('refuses by name, so that no client tries again: another key, host or path, and what is not to be honoured or counted', async () => {
    const { asked } = await open([]);
    const body = { messages: [{ role: 'user', content: 'Hello.' }] };
    const refused = [
      await post(body, { authorization: 'Bearer another' }),
      await fetch(`${endpoint!.url}/v1/embeddings`, { method: 'POST', headers: { 'x-api-key': KEY } }),
      await post({ ...body, n: 2 }),
      await post('{"messages":[],"messages":[]}'),
      await post('hello'),
      await post(Buffer.from('{"messages":[{"role":"user","content":"\xe9"}]}', 'latin1')),
      await fetch(`${endpoint!.url}/v1/messages/count_tokens`, {
        method: 'POST',
        headers: { 'x-api-key': KEY },
        body: JSON.stringify(body),
      }),
    ];
    expect(refused.map(({ status }) => status)).toEqual([401, 404, 400, 400, 400, 400, 404]);
    expect(refused.map(({ headers }) => headers.get('x-should-retry'))).toEqual(refused.map(() => 'false'));
    expect(await refused[2]!.json()).toMatchObject({ error: { code: 'unsupported-field', param: 'n' } });
    expect(asked).toEqual([]);
  });
});
