// Replies that a client reads in part before it resets the connection: all of each had left for it. Asked again, whole or
// streamed, with and without the words of a library, they are the same call; what cannot be known is a new one.

import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { afterEach, describe, expect, test } from 'vitest';
import { createEndpoint } from '../../endpoint/endpoint.ts';
import { listenAt, type Listening } from '../../endpoint/http.ts';
import { until } from '../support/until.ts';
import { recorded, replyOf } from './recorded-agents.ts';

const KEY = 'secret-of-this-attempt';
const [CALL] = recorded('openai-python');
let server: Listening | undefined;
const sockets: Socket[] = [];
afterEach(async () => {
  for (const socket of sockets.splice(0)) socket.destroy();
  await server?.close();
});

async function open() {
  const asked: string[] = [];
  /** Connections that are open, as the server sees them. */
  const there = new Set<Socket>();
  const endpoint = createEndpoint({
    ...{ key: KEY, model: 'tiny', recorded: [], maxCalls: 100 },
    onReward: () => ({ took: {} }),
    onCut: () => undefined,
    count: () => Promise.resolve(null),
    async answer({ call }) {
      asked.push(call.id);
      return replyOf(call.id, CALL!);
    },
  });
  server = await listenAt((message, response, path) => {
    there.add(message.socket);
    message.socket.once('close', () => there.delete(message.socket));
    return endpoint.answer(message, response, path);
  });
  return { asked, there, endpoint };
}

interface Asking {
  readonly stream?: boolean;
  readonly headers?: Readonly<Record<string, string>>;
  readonly text?: string;
}

function asking({ stream = false, headers = {}, text = 'Hello.' }: Asking): string {
  const body = JSON.stringify({ stream, messages: [{ role: 'user', content: text }] });
  const lines = { host: '127.0.0.1', authorization: `Bearer ${KEY}`, 'content-length': `${body.length}`, ...headers };
  const head = Object.entries(lines).map(([name, value]) => `${name}: ${value}\r\n`);
  return `POST /v1/chat/completions HTTP/1.1\r\n${head.join('')}\r\n${body}`;
}

async function dial(): Promise<Socket> {
  const socket = connect(Number(new URL(server!.url).port), '127.0.0.1');
  socket.on('error', () => undefined);
  sockets.push(socket);
  await once(socket, 'connect');
  return socket;
}

/** The first 20 bytes of the reply, and no more. */
async function torn(of: Asking, socket?: Socket): Promise<Socket> {
  const own = socket ?? (await dial());
  own.write(asking(of));
  await until('20 bytes', () => own.read(20) as Buffer | null);
  return own;
}

const left = (socket: Socket, there: ReadonlySet<Socket>) => {
  socket.resetAndDestroy();
  return until('the server has seen it', () => there.size === 0 || undefined);
};

/** The id of the call whose reply is read to its end. */
async function read(of: Asking): Promise<string> {
  const { stream = false, headers = {}, text = 'Hello.' } = of;
  const response = await fetch(`${server!.url}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${KEY}`, connection: 'close', ...headers },
    body: JSON.stringify({ stream, messages: [{ role: 'user', content: text }] }),
  });
  await response.text();
  return response.headers.get('x-everturn-call')!;
}

describe('a reply of which 20 bytes were read', () => {
  test.each([
    [false, {}],
    [true, {}],
    [false, { 'x-stainless-retry-count': '1' }],
    [true, { 'x-stainless-retry-count': '1' }],
    [false, { 'x-stainless-retry-count': '0' }],
  ])('is sent again as the same call after a reset: streamed %s, with %j', async (stream, headers) => {
    const { asked, there, endpoint } = await open();
    await left(await torn({ stream }), there);
    expect([await read({ stream, headers })]).toEqual(asked);
    expect(endpoint.abandoned()).toEqual([]);
    // The next one is a call of its own.
    expect(await read({ stream })).toBe(asked[1]);
  });

  test.each([false, true])(
    'is sent again over any connection to a library that says so: streamed %s',
    async (stream) => {
      const { asked } = await open();
      await torn({ stream });
      expect(await read({ stream, headers: { 'x-stainless-retry-count': '2' } })).toBe(asked[0]);
      expect(asked).toHaveLength(1);
    },
  );

  test('is the last one where a library says that it asks again, and equal ones arrived before it', async () => {
    const { asked } = await open();
    await read({});
    await torn({});
    expect(await read({ headers: { 'x-stainless-retry-count': '1' } })).toBe(asked[1]);
    expect(asked).toHaveLength(2);
  });

  test('is sent again to a client that names the call by a key', async () => {
    const { asked } = await open();
    const [one, other] = [{ headers: { 'idempotency-key': 'a' } }, { headers: { 'idempotency-key': 'b' } }];
    await torn(one);
    expect(await read(other)).toBe(asked[1]);
    expect(await read(one)).toBe(asked[0]);
    expect(asked).toHaveLength(2);
  });

  test('is another call’s where other words are asked, and none where the connection has asked again since', async () => {
    const { asked, there } = await open();
    await left(await torn({}), there);
    expect(await read({ text: 'Bye.' })).toBe(asked[1]);
    const socket = await torn({ text: 'One.' });
    await until('the rest', () => (socket.read() as Buffer | null)?.includes('}]') ?? undefined);
    await torn({ text: 'Two.' }, socket);
    await left(socket, there);
    expect(await read({ text: 'One.' })).toBe(asked[4]);
    expect(await read({ text: 'Two.' })).toBe(asked[3]);
  });

  test('counts as given where nobody asks again', async () => {
    const { asked, there, endpoint } = await open();
    await left(await torn({}), there);
    expect([endpoint.last(), endpoint.abandoned()]).toEqual([asked[0], []]);
  });
});
