// OpenEnv servers by the adapter of the examples: a session is one WebSocket, and a session that is lost ends its
// rollout by name.

import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { JsonObject } from '../../domain/text/json.ts';
import { until } from '../support/until.ts';
import { GUESS_SCHEMA, openEnvServer } from './own/openenv-server.ts';
import { ownRig } from './own/own-rig.ts';
import { moveOf, NEVER, playOwn, rolloutOf } from './own/rollouts.ts';
import { frame } from './own/web-socket-server.ts';

const ADAPTER = join(import.meta.dirname, '../../examples/environments/openenv.mjs');
const { described, open } = ownRig();
let server: Awaited<ReturnType<typeof openEnvServer>>;
beforeEach(async () => {
  server = await openEnvServer();
});
afterEach(() => server.close());

const game = async (options = '', row: JsonObject = { name: 'g' }) => {
  const record = await described(`node ${ADAPTER} ${server.url} ${options}`);
  const environment = open().open(record, '/');
  return { record, environment, rollout: rolloutOf(record, row) };
};
const LOST = { reason: 'environment-lost', retryable: false };
/** Higher and lower until it is found. */
async function numberOf(rollout: ReturnType<typeof rolloutOf>): Promise<number> {
  const record = await described(`node ${ADAPTER} ${server.url}`);
  const own = open();
  const { turns } = await playOwn(
    own.open(record, '/'),
    { ...rollout, sample: 9 },
    Array.from({ length: 20 }, (_, i) => `I say ${i + 1}`),
  );
  await own.close();
  return turns.length;
}

describe('a server of OpenEnv', () => {
  test('says its name, version and action, and holds a session for each rollout', async () => {
    const { record, environment, rollout } = await game('--idle-seconds 30 --timeout-seconds 5');
    expect(record).toMatchObject({
      ...{ name: 'guess-environment', version: '1.2', door: 'command', state: 'held', processes: 32 },
      ...{ begins: true, ends: true, idleSeconds: 30, timeoutSeconds: 15 },
    });
    const number = await numberOf(rollout);
    const low = number === 1 ? '20' : '1';
    const { begun, replies, turns } = await playOwn(environment, rollout, [
      `Perhaps ${low}.`,
      'I have no idea.',
      `<think>3?</think> It is ${number}`,
    ]);
    expect(begun!.messages).toEqual([{ role: 'user', content: 'Which number?\n\nI think of a number from 1 to 20.' }]);
    expect(replies).toEqual([
      { reward: -0.125, messages: [{ role: 'user', content: low === '1' ? 'Higher.' : 'Lower.' }] },
      {
        reward: 0,
        metrics: { bad_action: 1 },
        messages: [{ role: 'user', content: 'Your reply is no action. Reply with an integer.' }],
      },
      { reward: 0.5, done: true },
    ]);
    for (let n = 0; n < 2; n++) await environment.end!({ rollout, before: async () => turns }, { signal: NEVER });
    await until('the session is closed', async () => server.sessions() === 0 || undefined, 30_000);
    expect(server.seen.at(-1)).toMatchObject({ type: 'close' });
  });

  test('gets the same seed for all samples of a query, and what the row says of the reset', async () => {
    const { environment, rollout } = await game('', { name: 'g', reset: { level: 3 } });
    await environment.begin!(rollout, { signal: NEVER });
    await environment.begin!({ ...rollout, sample: 1 }, { signal: NEVER });
    await environment.begin!({ ...rollout, query: { ...rollout.query, queryId: 'other' } }, { signal: NEVER });
    const [one, two, other] = server.seen.map(({ data }) => data!);
    expect(one).toMatchObject({ level: 3, episode_id: 'r/q/0' });
    expect(two!['seed']).toBe(one!['seed']);
    expect(other!['seed']).not.toBe(one!['seed']);
  });

  test('plays many rollouts at once, each in its own session', async () => {
    const { environment, record } = await game();
    const all = await Promise.all(
      Array.from({ length: 12 }, async (_, i) => {
        const rollout = rolloutOf(record, { name: `g${i}` }, `g${i}`);
        const { replies } = await playOwn(
          environment,
          rollout,
          Array.from({ length: 20 }, (__, n) => `${n + 1}`),
        );
        return [replies.length, replies.at(-1)!.reward, replies.at(-1)!.done];
      }),
    );
    for (const [turns, reward, done] of all) expect([reward, done]).toEqual([1 / Number(turns), true]);
    expect(new Set(all.map(([turns]) => turns)).size).toBeGreaterThan(3);
    expect(server.sessions()).toBe(12);
  });

  test('answers the same turn again as before, and in another worker the session is lost', async () => {
    const { environment, record, rollout } = await game();
    const { turns, replies, rollout: played } = await playOwn(environment, rollout, ['0', '-1']);
    const again = moveOf(played, '-1', turns.slice(0, 1));
    expect(await environment.respond(again, { signal: NEVER })).toEqual(replies[1]);
    const next = moveOf(played, '2', turns);
    await expect(open().open(record, '/').respond(next, { signal: NEVER })).rejects.toMatchObject(LOST);
  });

  test('that closes or cuts a connection has lost its session, and none takes its place', async () => {
    for (const fault of ['close', 'destroy'] as const) {
      const { environment, rollout } = await game();
      const { turns, rollout: played } = await playOwn(environment, rollout, ['0']);
      server.faults.step = (peer) => peer[fault]();
      const ask = () => environment.respond(moveOf(played, '1', turns), { signal: NEVER });
      await expect(ask()).rejects.toMatchObject(LOST);
    }
  });

  test.each([
    ['sends more than a reply may hold', 'environment-error', () => frame(1, Buffer.alloc(2 << 20, 'x'))],
    ['announces more than may be read', 'environment-lost', () => head(2 ** 30)],
    ['sends NaN', 'environment-error', () => message('{"observation": {}, "reward": NaN, "done": false}')],
    ['sends no observation', 'environment-error', () => message('{"reward": 1}')],
    ['fails in its step', 'environment-error', () => error('EXECUTION_ERROR')],
    ['breaks the protocol', 'environment-lost', () => Buffer.from([0xff, 0xff, 0xff])],
    ['says nothing', 'environment-lost', () => Buffer.alloc(0)],
  ])('that %s fails the call as %s', async (_, reason, bytes) => {
    const { environment, rollout } = await game('--timeout-seconds 3');
    const { turns, rollout: played } = await playOwn(environment, rollout, ['0']);
    server.faults.step = (peer) => peer.raw(bytes());
    const ask = () => environment.respond(moveOf(played, '1', turns), { signal: NEVER });
    await expect(ask()).rejects.toMatchObject({ reason });
    await expect(ask()).rejects.toMatchObject(LOST);
    await until('the connection is gone', async () => server.open() === 0 || undefined, 30_000);
  });

  test('that refuses an action of the model says why to the model, and the session goes on', async () => {
    server.faults.schema = { ...GUESS_SCHEMA, properties: { guess: { type: 'string' } } };
    const { environment, rollout } = await game();
    const { replies } = await playOwn(environment, rollout, ['seven', '{"guess": 0}']);
    expect(replies[0]).toMatchObject({
      reward: 0,
      messages: [{ content: 'Your action is not valid: guess: Input should be a valid integer.' }],
    });
    expect(replies[1]).toMatchObject({ reward: -0.125 });
  });

  test('without a free session is waited for', async () => {
    server.faults.most = 1;
    const { environment, record, rollout } = await game();
    await environment.begin!(rollout, { signal: NEVER });
    const other = rolloutOf(record, { name: 'h' }, 'h');
    const begin = () => environment.begin!(other, { signal: NEVER });
    await expect(begin()).rejects.toMatchObject({
      reason: 'environment-not-served',
      retryable: true,
      retryAfterMs: 2000,
    });
    await environment.end!({ rollout, before: async () => [] }, { signal: NEVER });
    await until('the session is free', async () => server.sessions() === 0 || undefined, 30_000);
    await begin();
  });

  test('whose action is another one than the run’s is not played', async () => {
    const { environment, rollout } = await game();
    server.faults.schema = { ...GUESS_SCHEMA, title: 'Other' };
    const begin = environment.begin!(rollout, { signal: NEVER });
    await expect(begin).rejects.toMatchObject({ reason: 'environment-mismatch', retryable: false });
  });

  test.each([
    ['--action gues', 'no field "gues"'],
    ['--idle-seconds never', 'idleSeconds'],
    ['--what 1', 'ended with exit code 1'],
  ])('is refused at start where its options cannot be meant: %s', async (options, says) => {
    await expect(described(`node ${ADAPTER} ${server.url} ${options}`)).rejects.toThrow(says);
  });
});

/** Of a text of so many bytes. */
const head = (bytes: number): Buffer => {
  const size = Buffer.alloc(8);
  size.writeBigUInt64BE(BigInt(bytes));
  return Buffer.concat([Buffer.from([0x81, 127]), size]);
};
const message = (data: string): Buffer => frame(1, Buffer.from(`{"type": "observation", "data": ${data}}`));
const error = (code: string): Buffer =>
  frame(1, Buffer.from(JSON.stringify({ type: 'error', data: { message: 'It broke.', code } })));
