// Another kind of server under TEMPORAL_ADDRESS ends a connection for good; one that is away, or a proxy's word for it, does not.

import { createServer as createHttp } from 'node:http';
import { createServer as createHttp2 } from 'node:http2';
import { type AddressInfo, createServer, type Server } from 'node:net';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { connect } from '../../client/temporal/connection.ts';
import { otherSpeech } from '../../client/temporal/greeting.ts';

const open: { close(): unknown }[] = [];
afterEach(() => {
  vi.unstubAllEnvs();
  for (const one of open.splice(0)) one.close();
});

async function at(server: Server): Promise<string> {
  open.push(server);
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
  return `127.0.0.1:${(server.address() as AddressInfo).port}`;
}
const saying = (first: string | Buffer) =>
  at(
    createServer((socket) => {
      socket.on('error', () => undefined);
      socket.once('data', () => socket.end(first));
    }),
  );

describe('what a server speaks', () => {
  test.each([
    ['HTTP/1', 'HTTP/1.1 400 Bad Request\r\n\r\n'],
    ['HTTP/1', 'HTTP/1.0 505 Version\r\n\r\n'],
    ['no HTTP/2', '<!DOCTYPE HTML>'],
    ['no HTTP/2', '-ERR unknown command\r\n'],
    ['TLS', Buffer.from([0x15, 3, 1, 0, 2, 2, 70])],
  ])('is %s where it answers %j', async (speech, answer) => {
    expect(await otherSpeech(await saying(answer))).toBe(speech);
  });

  test.each([
    ['a proxy without a server behind', 'HTTP/1.1 503 Service Unavailable\r\n\r\n'],
    ['a server that goes down', ''],
    ['an answer that is cut', 'HT'],
  ])('is not known of %s, which may come back', async (_, answer) => {
    expect(await otherSpeech(await saying(answer))).toBeUndefined();
  });

  test('is not known where nobody listens, and right where it is HTTP/2', async () => {
    const gone = await at(createServer());
    open.pop()!.close();
    expect(await otherSpeech(gone)).toBeUndefined();
    expect(await otherSpeech(await at(createHttp2() as unknown as Server))).toBeUndefined();
  });

  test('is the error of a connection to a server of web pages', async () => {
    const address = await at(createHttp((_, response) => response.end('hello')));
    vi.stubEnv('TEMPORAL_ADDRESS', address);
    await expect(connect(undefined, { firstMs: 300 })).rejects.toMatchObject({
      reason: 'not-temporal',
      retryable: false,
      message: `The server at ${address} is not a Temporal server: it speaks HTTP/1.`,
    });
  }, 60_000);

  test.each(['TEMPORAL_TLS', 'TEMPORAL_API_KEY'])(
    'is named where %s asks for TLS, and the server has none',
    async (name) => {
      vi.stubEnv('TEMPORAL_ADDRESS', await at(createHttp2() as unknown as Server));
      vi.stubEnv(name, 'true');
      await expect(connect(undefined, { firstMs: 300 })).rejects.toMatchObject({
        reason: 'not-temporal',
        message: expect.stringMatching(/it speaks HTTP\/2 without TLS\.$/),
        fix: expect.stringContaining('TEMPORAL_TLS=false'),
      });
    },
    60_000,
  );
});
