// Requests to models beside the run's own reach a real HTTP server with their key, whole and as streams.

import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { passOn } from '../../inference/side-models.ts';

const NAMED = [{ type: 'message_start', id: 1 }, { type: 'message_stop' }];
const PLAIN = [{ choices: [{ index: 0, delta: { content: 'a' } }] }];
/** By the model that is asked for. */
const REPLIES: Readonly<Record<string, string>> = {
  named: NAMED.map((one) => `event: ${one.type}\ndata: ${JSON.stringify(one)}\n\n`).join(''),
  plain: `data: ${JSON.stringify(PLAIN[0])}\n\ndata: [DONE]\n\n`,
  half: `data: ${JSON.stringify(PLAIN[0])}\n\n`,
  failed: `${'data: {"choices":[]}\n\n'}data: {"error":{"message":"out of plums","code":400}}\n\n`,
  ended: `data: {"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}\n\n`,
  whole: '{"id":"x"}',
};
const asked: { readonly key: string | undefined; readonly model: string }[] = [];
const server = createServer(async (request, response) => {
  let text = '';
  for await (const part of request) text += String(part);
  const { model } = JSON.parse(text) as { model: string };
  asked.push({ key: request.headers.authorization, model });
  if (model !== 'broken') return response.end(REPLIES[model]);
  response.write(REPLIES['plain']);
  response.socket?.destroy();
});
let url = '';
beforeAll(async () => {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`;
  process.env['SIDE_TEST_API_KEY'] = 'sk-side';
});
afterAll(() => {
  delete process.env['SIDE_TEST_API_KEY'];
  server.close();
});

const ask = (model: string, more: object = {}, key?: string) =>
  passOn(
    { name: 'side', url, model, ...(key && { apiKeyEnv: key }) },
    '/chat/completions',
    { model: 'side', messages: [], ...more },
    new AbortController().signal,
  );

describe('a model beside the run’s own', () => {
  test.each(['named', 'plain', 'ended'])('a stream is passed on with its names and its end: %s', async (model) => {
    expect(await ask(model, { stream: true })).toBe(REPLIES[model]);
  });

  test('a stream without an end is no reply, though its connection closed well', async () => {
    await expect(ask('half', { stream: true })).rejects.toMatchObject({ reason: 'server-reset', retryable: true });
  });

  test('a stream that breaks off, or has a failure in it, is no reply', async () => {
    await expect(ask('broken', { stream: true })).rejects.toMatchObject({ retryable: true });
    await expect(ask('failed', { stream: true })).rejects.toThrow('out of plums');
  });

  test('a key is sent where one is named, and a server that gives no stream is not taken for one', async () => {
    expect(await ask('whole', {}, 'SIDE_TEST_API_KEY')).toBe('{"id":"x"}');
    expect(await ask('whole', { stream: true })).toBe('{"id":"x"}');
    expect(asked.slice(-2)).toEqual([
      { key: 'Bearer sk-side', model: 'whole' },
      { key: undefined, model: 'whole' },
    ]);
  });
});
