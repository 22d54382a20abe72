// Requests that are refused while they are sent: a client that sends on is not cut off, and reads the reply when it has sent.

import { once } from 'node:events';
import { connect } from 'node:net';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { until } from '../support/until.ts';
import { KEY } from './ask-endpoint.ts';
import { openEndpoint, type OpenEndpoint } from './open-endpoint.ts';

let endpoint: OpenEndpoint;
beforeAll(async () => {
  endpoint = await openEndpoint({
    ...{ key: KEY, model: 'tiny', recorded: [], maxCalls: 100, contextLength: 10 },
    onReward: () => ({ took: {} }),
    onCut: () => undefined,
    answer: () => Promise.reject(new Error('no call is asked')),
  });
});
afterAll(() => endpoint.close());

/** Status and message of a reply that comes before the body is sent; rejects if the body is not taken behind it. */
async function exchange(path: string, key: string, body: string, ...headers: string[]): Promise<[number, string]> {
  const { hostname: host, port } = new URL(endpoint.url);
  const socket = connect({ port: Number(port), host, allowHalfOpen: true }).setEncoding('utf8');
  const closed = once(socket, 'close');
  let text = '';
  socket.on('data', (part: string) => (text += part));
  const length = `content-length: ${body.length}`;
  const head = [`POST ${path} HTTP/1.1`, `host: ${host}`, `x-api-key: ${key}`, length, 'connection: close', ...headers];
  socket.write(`${head.join('\r\n')}\r\n\r\n`);
  await until('the reply', () => /"message":.*}/.test(text) || undefined);
  socket.end(body);
  await closed;
  const { error } = JSON.parse(text.slice(text.indexOf('{'), text.lastIndexOf('}') + 1)) as { error: Error };
  return [Number(/^HTTP\/1.1 (\d+)/.exec(text)?.[1]), error.message];
}

describe('a request that is refused while it is sent', () => {
  test.each([
    ['/v1/reward', KEY, 413, 'the request has more than 1048576 bytes, the most that are read'],
    ['/v1/chat/completions', KEY, 400, 'this model’s maximum context length is 10 tokens'],
    ['/v1/messages/count_tokens', KEY, 400, 'this model’s maximum context length is 10 tokens'],
    ['/v1/chat/completions', 'wrong', 401, 'the key is not that of this attempt'],
    ['/v1/nothing', KEY, 404, 'there is no /v1/nothing'],
  ])('has its reply, and is taken to its end: %s, %s', async (path, key, status, words) => {
    const [is, said] = await exchange(path, key, `{"reward": "${'x'.repeat(2 * 2 ** 20)}"}`);
    expect([is, said.replace("'", '’')]).toEqual([status, expect.stringContaining(words)]);
  });

  test('has words where a header has a control character', async () => {
    const refused = await exchange('/v1/chat/completions', KEY, 'x'.repeat(2 ** 20), 'x-everturn-tag: a\u001b[31m');
    expect(refused).toEqual([400, 'a header has a character that none may have, such as a control character']);
  });
});
