// Requests that name a model beside the run's own are passed on, on every path, and are no calls of the run's.

import { request } from 'node:http';
import { afterEach, describe, expect, test } from 'vitest';
import { ModelError } from '../../domain/errors/errors.ts';
import type { AskSide } from '../../endpoint/agents.ts';
import { type OpenEndpoint, openEndpoint } from './open-endpoint.ts';

const KEY = 'secret-of-this-attempt';
let endpoint: OpenEndpoint | undefined;
afterEach(() => endpoint?.close());

async function open(side: AskSide) {
  endpoint = await openEndpoint({
    ...{ key: KEY, model: 'tiny', recorded: [], maxCalls: 0, onReward: () => ({ took: {} }), onCut: () => undefined },
    ...{ sideModels: [{ name: 'embed', url: 'http://a/v1' }], side },
    answer: () => Promise.reject(new Error('the run was asked')),
  });
  return async (path: string, body: object) => {
    const headers = { 'x-api-key': KEY };
    const response = await fetch(`${endpoint!.url}/v1${path}`, { method: 'POST', headers, body: JSON.stringify(body) });
    return [response.status, response.headers.get('x-should-retry'), await response.json()] as const;
  };
}

describe('a request that names a model beside the run’s own', () => {
  test('is passed on as it is, and counts as no call; another name is the run’s', async () => {
    const asked: unknown[] = [];
    const post = await open(async (to, path, body) => {
      asked.push([to.name, path, body]);
      return '{"data":[]}';
    });
    const embedding = { model: 'embed', input: ['a'], wibble: 1 };
    const chat = { model: 'embed', messages: [{ role: 'wizard', content: 7 }], n: 2 };
    expect(await post('/embeddings', embedding)).toEqual([200, null, { data: [] }]);
    expect(await post('/chat/completions', chat)).toEqual([200, null, { data: [] }]);
    expect(asked).toEqual([
      ['embed', '/embeddings', embedding],
      ['embed', '/chat/completions', chat],
    ]);
    expect((await post('/embeddings', { ...embedding, model: 'other' }))[0]).toBe(404);
    expect(
      (await post('/chat/completions', { messages: [{ role: 'user', content: 'Hello.' }], model: 'tiny' }))[0],
    ).toBe(404);
    expect(asked).toHaveLength(2);
  });

  test.each(['/../admin', '/a/../../admin', '//admin', '/./a', '/%2e%2e/admin', '/a b'])(
    'is passed on to no path outside the address: %s',
    async (path) => {
      let asked = 0;
      await open(async () => String(++asked));
      // A client of its own: fetch asks for another path.
      const status = await new Promise((resolve, reject) => {
        const { port } = new URL(endpoint!.url);
        const options = { port, path: encodeURI(`/v1${path}`).replace('%252e%252e', '%2e%2e'), method: 'POST' };
        request({ ...options, headers: { 'x-api-key': KEY } }, ({ statusCode }) => resolve(statusCode))
          .on('error', reject)
          .end('{"model":"embed"}');
      });
      expect([status, asked]).toEqual([404, 0]);
    },
  );

  test('is answered by a stream where it asks for one', async () => {
    await open(async () => 'event: ping\ndata: {}\n\n');
    const [headers, body] = [{ 'x-api-key': KEY }, JSON.stringify({ model: 'embed', stream: true, messages: [] })];
    const reply = await fetch(`${endpoint!.url}/v1/messages`, { method: 'POST', headers, body });
    expect([reply.headers.get('content-type'), await reply.text()]).toEqual([
      'text/event-stream',
      'event: ping\ndata: {}\n\n',
    ]);
  });

  test('fails so that it is asked again where that may help, and else not', async () => {
    let error = new ModelError('away', { reason: 'server-error', retryable: true });
    const post = await open(() => Promise.reject(error));
    expect((await post('/embeddings', { model: 'embed' })).slice(0, 2)).toEqual([502, null]);
    error = new ModelError('full', { reason: 'server-busy', retryable: true });
    expect((await post('/embeddings', { model: 'embed' })).slice(0, 2)).toEqual([429, null]);
    error = new ModelError('no such model', { reason: 'request-refused' });
    expect((await post('/embeddings', { model: 'embed' })).slice(0, 2)).toEqual([400, 'false']);
  });
});
