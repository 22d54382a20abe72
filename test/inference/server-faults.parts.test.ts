// Whatever a server does, the failure has a name, says whether another try can help, and shows the server's words
// but never a key. Nothing here retries.

import type { Socket } from 'node:net';
import { gzipSync } from 'node:zlib';
import { afterEach, describe, expect, test } from 'vitest';
import type { TokenBackend, GenerateRequest, Reply } from '../../inference/backend.ts';
import { createTokenBackend } from '../support/kinds.ts';
import { openHttp } from '../../inference/http/http.ts';
import { aRequest, undisturbed } from '../contract/backend.ts';
import { backendOf, closeAll, serverAndBackend, serverOf } from '../support/fleet-rig.ts';
import type { Fault, ModelServer } from '../support/model-server.ts';
import { freePort } from '../../local/machine/ports.ts';

const KEY = 'sk-very-secret-1234567890';
const KINDS = ['sglang', 'vllm'] as const;

let server: ModelServer;
let backend: TokenBackend;

afterEach(closeAll);

async function open(kind: (typeof KINDS)[number], more: object = {}): Promise<TokenBackend> {
  ({ server, backend } = await serverAndBackend({ kind, ...more }));
  return backend;
}

const ask = async (changes: Partial<GenerateRequest> = {}): Promise<Reply> =>
  backend.generate(await aRequest(backend, 'What is 2 + 2?', { maxNewTokens: 4, ...changes }), undisturbed());

const said = (status: number, message = 'the words', headers = {}): Fault => ({
  status,
  body: { error: { message, type: 'x', param: null, code: status } },
  headers,
});

const inTheMiddle = (end: (socket: Socket) => void): Fault => ({
  act(request, response) {
    response.writeHead(200, { 'content-length': '1000' });
    response.write('{"choices":', () => setTimeout(() => end(request.socket), 20));
  },
});
/** Those that can be tried again; others, by their words and their status: server-words.jsonl. */
const FAULTS: [string, Fault, string][] = [
  ['an error within a 200', { status: 200, body: { error: 'overloaded' } }, 'server-busy'],
  ['an error as an answer', { status: 200, body: { object: 'error', code: 500, message: 'dead' } }, 'server-error'],
  ['a reset', { act: (request) => request.socket.resetAndDestroy() }, 'server-reset'],
  ['a reset in the middle of the body', inTheMiddle((socket) => socket.resetAndDestroy()), 'server-reset'],
  ['an end in the middle of the body', inTheMiddle((socket) => socket.end()), 'server-reset'],
  ...[[], null, undefined].map((choices): [string, Fault, string] => [
    `choices of ${JSON.stringify(choices)}`,
    { status: 200, body: { id: 'x', choices, meta_info: choices } },
    'server-busy',
  ]),
];

describe('a failing server', () => {
  test.each(KINDS)('of %s has its fault named, and answers the next time', async (kind) => {
    await open(kind);
    for (const [name, fault, reason] of FAULTS) {
      if (kind === 'sglang' && name.startsWith('choices')) continue;
      server.fail(fault);
      await expect(ask(), name).rejects.toMatchObject({ name: 'ModelError', reason, retryable: true });
      expect(await ask()).toMatchObject({ server: server.url });
    }
    server.fail({ status: 307, headers: { location: 'http://elsewhere/' } });
    await expect(ask()).rejects.toMatchObject({ reason: 'server-redirects', retryable: false });
  });

  test('waits as long as a busy server says, not for ever, and as usual if that is no time ahead', async () => {
    await open('sglang');
    const waits: [Record<string, string>, number | undefined][] = [
      [{ 'retry-after': '7' }, 7000],
      [{ 'retry-after': '0.001' }, 1],
      [{ 'retry-after': '99999999' }, 600_000],
      [{ 'retry-after-ms': '6000', 'retry-after': '1' }, 6000],
      [{ 'retry-after-ms': '250.5' }, 251],
      [{ 'retry-after-ms': '0', 'retry-after': '1' }, 1000],
      ...['soon', '', '0', '0.0', '-1', 'Wed, 21 Oct 2015 07:28:00 GMT'].map(
        (wait): [Record<string, string>, undefined] => [{ 'retry-after': wait }, undefined],
      ),
      [{ 'retry-after-ms': '-20' }, undefined],
    ];
    for (const [headers, retryAfterMs] of waits) {
      const within = { status: 200, body: { error: { code: '429' } }, headers };
      server.fail(said(429, 'slow down', headers), said(500, '', headers), within);
      for (const reason of ['server-busy', 'server-error', 'server-busy'])
        await expect(ask(), JSON.stringify(headers)).rejects.toMatchObject({ reason, retryable: true, retryAfterMs });
      // Three failures in a row would open its circuit.
      await ask();
    }
  });

  test('a server that nobody runs is unreachable, now and later', async () => {
    const nobody = await freePort([]);
    const opening = createTokenBackend(`sglang:http://127.0.0.1:${nobody}`, { tokenizer: null, log: () => undefined });
    await expect(opening).rejects.toMatchObject({ name: 'ModelError', reason: 'server-unreachable', retryable: true });
  });

  test('sends the key that an environment variable holds, and never says it', async () => {
    process.env['TEST_KEY_OF_SERVER'] = KEY;
    server = await serverOf({ kind: 'vllm', apiKey: KEY });
    backend = await backendOf(server, { apiKeyEnv: 'TEST_KEY_OF_SERVER' });
    expect(server.seen.every(({ headers }) => headers.authorization === `Bearer ${KEY}`)).toBe(true);
    server.fail(said(401, `Incorrect API key provided: ${KEY}. Or is it ${KEY}?`));
    const error = (await ask().catch((e: unknown) => e)) as Error;
    expect(error).toMatchObject({ reason: 'server-auth', retryable: false });
    expect(error.message).toContain('Incorrect API key provided: [key]');
    expect(JSON.stringify([error, error.message, String(error.cause), error.stack])).not.toContain(KEY);
    process.env['TEST_KEY_OF_SERVER'] = `wrong-${KEY}`;
    const wrong = backendOf(server, { apiKeyEnv: 'TEST_KEY_OF_SERVER' });
    const refusal = (await wrong.catch((e: unknown) => e)) as Error;
    expect(refusal).toMatchObject({ reason: 'server-auth', retryable: false });
    expect(refusal.message).not.toContain(KEY);
    delete process.env['TEST_KEY_OF_SERVER'];
    await expect(backendOf(server, { apiKeyEnv: 'TEST_KEY_OF_SERVER' })).rejects.toMatchObject({
      reason: 'no-api-key',
    });
  });

  test('every phase of a request has its limit', async () => {
    server = await serverOf({ kind: 'openai' });
    const http = openHttp({ url: server.url, apiKey: null });
    const hang: Fault = { act: () => undefined };
    const drip: Fault = {
      act(_, response) {
        response.writeHead(200);
        const timer = setInterval(() => response.write(' '), 20);
        response.on('close', () => clearInterval(timer));
      },
    };
    const stop: Fault = { act: (_, response) => void response.writeHead(200).write('{') };
    const times = { connectMs: 1000, firstByteMs: 60_000, betweenBytesMs: 60_000, totalMs: 60_000 };
    for (const [fault, limits, words] of [
      [hang, { firstByteMs: 100 }, 'did not begin to answer'],
      [stop, { betweenBytesMs: 100 }, 'stopped in the middle'],
      [drip, { totalMs: 300 }, 'had not answered after 0.3 s'],
    ] as const) {
      server.fail(fault);
      const asked = http.post('/v1/chat/completions', {}, { timeouts: { ...times, ...limits } });
      await expect(asked).rejects.toMatchObject({
        reason: 'server-timeout',
        retryable: true,
        message: expect.stringContaining(words),
      });
    }
    await http.close();
  });

  test('an answer has its size, also one that was compressed to little', async () => {
    server = await serverOf({ kind: 'openai' });
    const http = openHttp({ url: server.url, apiKey: null, maxBodyBytes: 100_000 });
    const large = JSON.stringify('x'.repeat(1_000_000));
    const bytes = (body: Buffer | string, headers = {}): Fault => ({
      act: (_, response) => void response.writeHead(200, headers).end(body),
    });
    server.fail(
      bytes(large),
      bytes(gzipSync(large), { 'content-encoding': 'gzip' }),
      bytes(gzipSync('{"fine":true}'), { 'content-encoding': 'gzip' }),
      bytes('nonsense', { 'content-encoding': 'gzip' }),
    );
    const send = () => http.post('/v1/chat/completions', {});
    await expect(send()).rejects.toMatchObject({ reason: 'reply-too-large', retryable: false });
    await expect(send()).rejects.toMatchObject({ reason: 'reply-too-large', retryable: false });
    expect(await send()).toEqual({ fine: true });
    await expect(send()).rejects.toMatchObject({ reason: 'reply-malformed', retryable: true });
    await http.close();
  });

  for (const shape of [{ kind: 'sglang' }, { kind: 'vllm' }, { kind: 'vllm', scaleOut: false }] as const) {
    test(`an aborted request ends on the server too: ${JSON.stringify(shape)}`, async () => {
      await open(shape.kind, { ...shape, msPerToken: 5 });
      const controller = new AbortController();
      const request = await aRequest(backend, 'What?', { maxNewTokens: 400, stopTokenIds: [] });
      const asked = backend.generate(request, { signal: controller.signal });
      await expect.poll(() => server.running()).toBe(1);
      controller.abort(new Error('enough'));
      await expect(asked).rejects.toThrow('enough');
      await expect.poll(() => server.running()).toBe(0);
      await expect.poll(() => server.seen.filter(({ path }) => path.includes('abort')).length).toBe(1);
      expect(server.aborted).toHaveLength(1);
    });
  }

  test('what a server aborted goes on from there, and nothing at all is another try', async () => {
    await open('sglang', { msPerToken: 5 });
    const asked = ask({ maxNewTokens: 400, stopTokenIds: [] });
    await expect.poll(() => server.running()).toBe(1);
    await expect.poll(() => server.engine.log.at(-1)!.outputs.length).toBeGreaterThan(0);
    server.engine.abort(null);
    const { outputIds, finish, logprobs } = await asked;
    expect(finish).toBe('abort');
    expect(outputIds.length).toBeGreaterThan(0);
    expect(logprobs).toHaveLength(outputIds.length);
    const empty = { finish_reason: { type: 'abort', message: 'Aborted', status_code: null, err_type: null } };
    server.fail({ status: 200, body: { text: '', meta_info: { ...empty, weight_version: 'default' } } });
    await expect(ask()).rejects.toMatchObject({ reason: 'server-aborted', retryable: true });
    const full = { finish_reason: { type: 'length', length: 0 }, output_token_logprobs: [] };
    server.fail({ status: 200, body: { text: '', output_ids: [], meta_info: full } });
    await expect(ask()).rejects.toMatchObject({ reason: 'context-length', retryable: false });
  });
});
