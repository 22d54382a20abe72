// The door of an address, reward servers by the adapter of the examples, and servers that fail.

import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { EnvironmentRecord } from '../../domain/rollout/environment.ts';
import { listenHttp } from '../support/http-listener.ts';
import { describeUnless, NO_PYTHON } from '../support/needs.ts';
import { guess } from './own/guess.ts';
import { ownRig } from './own/own-rig.ts';
import { moveOf, NEVER, playOwn, rolloutOf } from './own/rollouts.ts';

const ADAPTER = join(import.meta.dirname, '../../examples/environments/reward_server.py');
const { folder, described, open, serve } = ownRig();
const own = open();
const respond = (record: EnvironmentRecord, answer = '1', row = { name: 'g0' }) =>
  own.open(record, folder).respond(moveOf(rolloutOf(record, row), answer), { signal: NEVER });

describeUnless(NO_PYTHON)('an adapter', () => {
  test.each([
    [
      'openrlhf',
      (body: unknown) => ({ rewards: [(body as { query: string[] }).query[0]!.length], extra_logs: { a: [2] } }),
    ],
    ['slime', (body: unknown) => (body as { prompt: string; response: string }).response.length],
  ])('of reward servers gives their number as the reward: %s', async (shape, reply) => {
    const server = await serve({}, undefined, reply);
    const record = await described(`python3 ${ADAPTER} ${shape} ${server.url}`);
    expect(record).toMatchObject({ name: expect.stringContaining(shape), state: 'none', processes: 32 });
    expect(await respond(record, 'four')).toEqual(
      shape === 'slime'
        ? { reward: 4, done: true }
        : { reward: 'Which number?four'.length, metrics: { a: 2 }, done: true },
    );
  });

  test('of a NeMo Gym server seeds a session, and gives the reward of /verify; a failed judge of its is no reward', async () => {
    const seen: { path: string; cookie: string | undefined; body: Record<string, unknown> }[] = [];
    const gym = await listenHttp((request, response) => {
      const parts: Buffer[] = [];
      request.on('data', (part: Buffer) => parts.push(part));
      request.on('end', () => {
        const body = JSON.parse(Buffer.concat(parts).toString('utf8')) as Record<string, unknown>;
        seen.push({ path: request.url!, cookie: request.headers.cookie, body });
        if (request.url === '/seed_session') return response.setHeader('set-cookie', 'session=abc; path=/').end('{}');
        const failed = body['expected_answer'] === 'broken' ? { _ng_failure_class: 'judge_failed' } : {};
        response.end(JSON.stringify({ ...body, reward: 0.25, reward_components: { form: 1 }, ...failed }));
      });
    });
    try {
      const record = await described(`python3 ${ADAPTER} nemo-gym ${gym.url}`);
      expect(record).toMatchObject({ begins: true, state: 'none' });
      const input = [{ role: 'user', content: 'Which letter?' }];
      const of = (expected: string) =>
        rolloutOf(record, { responses_create_params: { input }, expected_answer: expected });
      const { begun, replies: said } = await playOwn(own.open(record, folder), of('B'), ['It is B.']);
      expect(begun).toEqual({ messages: input });
      expect(said).toEqual([{ reward: 0.25, metrics: { form: 1 }, done: true }]);
      expect(seen.map(({ path, cookie }) => [path, cookie])).toEqual([
        ['/seed_session', undefined],
        ['/verify', 'session=abc'],
      ]);
      expect(seen[1]!.body).toMatchObject({
        expected_answer: 'B',
        responses_create_params: { input },
        response: { object: 'response', output: [{ type: 'message', content: [{ text: 'It is B.' }] }] },
      });
      await expect(playOwn(own.open(record, folder), of('broken'), ['B'])).rejects.toMatchObject({
        reason: 'environment-error',
      });
    } finally {
      gym.close();
    }
  });
});

describe('an address', () => {
  test('whose server has other code than the run is not used', async () => {
    const [server, other] = [await serve(guess('none'), 'abc'), await serve(guess('none'), 'def')];
    const record = { ...(await described(server.url)), spec: [other.url] };
    await expect(respond(record)).rejects.toMatchObject({ reason: 'environment-mismatch' });
  });

  test.each([
    [503, 'environment-unreachable', true],
    [429, 'environment-unreachable', true],
    [404, 'environment-error', false],
    [302, 'environment-error', false],
  ])('that answers with status %i fails the call by name', async (status, reason, retryable) => {
    const server = await serve(guess('none'), 'abc');
    const record = await described(server.url);
    server.fault = (response) => void response.writeHead(status, { location: server.url }).end('no');
    await expect(respond(record)).rejects.toMatchObject({ reason, retryable });
  });

  test('that hangs, or never ends its reply, fails the call by name', async () => {
    const server = await serve(guess('none'), 'abc');
    const record = await described(server.url);
    server.fault = () => undefined;
    await expect(respond({ ...record, timeoutSeconds: 1 })).rejects.toMatchObject({ reason: 'environment-timeout' });
    server.fault = (response) => {
      const more = () => {
        if (response.writable) response.write('x'.repeat(1 << 16), more);
      };
      more();
    };
    await expect(respond(record)).rejects.toMatchObject({ reason: 'environment-too-large' });
  });

  test('that nobody serves, and one with a live state, are refused at start', async () => {
    await expect(described('http://127.0.0.1:9/v1')).rejects.toMatchObject({ reason: 'environment-unreachable' });
    const server = await serve(guess('replay'), 'abc');
    await expect(described(server.url)).rejects.toThrow('is one of: none, value, held');
    await expect(described(`${server.url}#gym`)).rejects.toThrow('has #gym, which no server gets');
  });
});
