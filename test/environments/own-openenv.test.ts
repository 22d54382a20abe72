// OpenEnv servers behind an address: a session is one WebSocket, an answer becomes an action by the schema, and a session
// that is lost ends its rollout by name.

import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { EnvironmentRecord } from '../../domain/environment.ts';
import type { JsonObject } from '../../domain/json.ts';
import type { OwnEnvironments } from '../../environments/index.ts';
import { actionForm, actionOf, observationText } from '../../environments/own/openenv-action.ts';
import { createOwnEnvironments, describeEnvironment } from '../../environments/own/own-environments.ts';
import { parseSpec } from '../../environments/own/spec.ts';
import { until } from '../support/until.ts';
import { GUESS_SCHEMA, openEnvServer } from './own/openenv-server.ts';
import { moveOf, NEVER, playOwn, rolloutOf } from './own/rollouts.ts';
import { frame } from './own/web-socket-server.ts';

let server: Awaited<ReturnType<typeof openEnvServer>>;
const opened: OwnEnvironments[] = [];
beforeEach(async () => {
  server = await openEnvServer();
});
afterEach(async () => {
  await Promise.all(opened.splice(0).map((own) => own.close()));
  await server.close();
});

const open = (): OwnEnvironments => {
  const own = createOwnEnvironments({ log: () => undefined, permitted: ({ spec }) => spec });
  opened.push(own);
  return own;
};
const described = async (text: string): Promise<EnvironmentRecord> =>
  (await describeEnvironment(parseSpec(text, '/'), () => undefined)).record;
const game = async (options = '', row: JsonObject = { name: 'g' }) => {
  const record = await described(`${server.url}#openenv${options}`);
  const environment = open().open(record, '/');
  return { record, environment, rollout: rolloutOf(record, row) };
};
const LOST = { reason: 'environment-lost', retryable: false };
/** Higher and lower until it is found. */
async function numberOf(rollout: ReturnType<typeof rolloutOf>): Promise<number> {
  const record = await described(`${server.url}#openenv`);
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
    const { record, environment, rollout } = await game('&idleSeconds=30&timeoutSeconds=5');
    expect(record).toMatchObject({
      ...{ name: 'guess-environment', version: '1.2', door: 'url', state: 'held', claimed: true },
      ...{ begins: true, ends: true, idleSeconds: 30, timeoutSeconds: 5 },
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
    expect(server.seen.at(-1)).toEqual({ type: 'close', data: {} });
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
      await expect(ask()).rejects.toMatchObject({ reason: 'environment-unreachable', retryable: true });
      await expect(ask()).rejects.toMatchObject(LOST);
    }
  });

  test('that goes away between two turns has lost its session as well', async () => {
    const { environment, rollout } = await game();
    const { turns, rollout: played } = await playOwn(environment, rollout, ['0']);
    await server.close();
    const ask = environment.respond(moveOf(played, '1', turns), { signal: NEVER });
    await expect(ask).rejects.toMatchObject({ reason: expect.stringMatching(/lost|unreachable/) });
  });

  test.each([
    ['sends more than a reply may hold', 'environment-too-large', () => frame(1, Buffer.alloc(2 << 20, 'x'))],
    ['announces more than may be read', 'environment-unreachable', () => head(2 ** 30)],
    ['sends no JSON', 'environment-broken', () => frame(1, Buffer.from('Welcome!'))],
    ['sends NaN', 'environment-broken', () => message('{"observation": {}, "reward": NaN, "done": false}')],
    ['sends a reward that is none', 'environment-broken', () => message('{"observation": {}, "reward": "much"}')],
    ['sends a reward beyond all bounds', 'environment-broken', () => message('{"observation": {}, "reward": 1e300}')],
    ['sends no observation', 'environment-broken', () => message('{"reward": 1}')],
    ['fails in its step', 'environment-error', () => error('EXECUTION_ERROR')],
    ['breaks the protocol', 'environment-unreachable', () => Buffer.from([0xff, 0xff, 0xff])],
    ['says nothing', 'environment-timeout', () => Buffer.alloc(0)],
  ])('that %s fails the call as %s', async (_, reason, bytes) => {
    const { environment, rollout } = await game('&timeoutSeconds=3');
    const { turns, rollout: played } = await playOwn(environment, rollout, ['0']);
    server.faults.step = (peer) => peer.raw(bytes());
    const ask = () => environment.respond(moveOf(played, '1', turns), { signal: NEVER });
    await expect(ask()).rejects.toMatchObject({ reason });
    await expect(ask()).rejects.toMatchObject(LOST);
    await until('the connection is gone', async () => server.open() === 0 || undefined, 30_000);
  });

  test('may send pings and messages in pieces', async () => {
    const { environment, rollout } = await game();
    const { turns, rollout: played } = await playOwn(environment, rollout, ['0']);
    server.faults.step = (peer) => {
      const text = Buffer.from('{"type":"observation","data":{"observation":{"text":"é"},"reward":true}}');
      peer.ping();
      peer.raw(frame(1, text.subarray(0, 57), false));
      peer.ping();
      peer.raw(frame(0, text.subarray(57)));
    };
    expect(await environment.respond(moveOf(played, '1', turns), { signal: NEVER })).toEqual({
      reward: 1,
      messages: [{ role: 'user', content: 'é' }],
    });
    await until('the pings are answered', async () => server.pongs() === 2 || undefined, 30_000);
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

  test('of an older version, which does not say who it is, has a name by its address', async () => {
    server.faults.metadata = undefined;
    const { record } = await game();
    expect(record).toMatchObject({ name: expect.stringMatching(/^openenv-[0-9a-f]{12}$/), version: 'claimed' });
  });

  test.each([
    ['#openenv&action=gues', 'no field "gues"'],
    ['#openenv&idleSeconds=never', 'idleSeconds=never'],
    ['#openenv&what=1', 'the option "what=1"'],
    ['#slime&action=guess', 'the option "action=guess"'],
    ['/nothing-here#openenv', undefined],
  ])('is refused at start where its address cannot be meant: %s', async (rest, says) => {
    const url = says === undefined ? 'http://127.0.0.1:9' : server.url;
    const refused = await described(`${url}${rest}`).catch((error: unknown) => error as Error);
    expect(refused).toBeInstanceOf(Error);
    expect((refused as Error).message).toContain(says ?? 'cannot be reached');
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

const schemaOf = (properties: JsonObject, required: string[] = Object.keys(properties), $defs: JsonObject = {}) =>
  ({ type: 'object', properties: { metadata: { type: 'object' }, ...properties }, required, $defs }) as JsonObject;
const MOVE = schemaOf({ action: { $ref: '#/$defs/Move' } }, undefined, {
  Move: { type: 'string', enum: ['UP', 'DOWN', 'LEFT', 'LEFT_UP'] },
});
const PLACE = schemaOf({ x: { type: 'integer' }, y: { type: 'integer' } });

describe('an answer', () => {
  test.each<[string, JsonObject, string, unknown]>([
    ['the whole text of a text', schemaOf({ message: { type: 'string' } }), ' [crane] \n', { message: '[crane]' }],
    ['without the thinking', schemaOf({ message: { type: 'string' } }), '<think>[a]</think>\n[b]', { message: '[b]' }],
    ['a JSON object of its fields', schemaOf({ message: { type: 'string' } }), '{"message": "x"}', { message: 'x' }],
    ['text, if its JSON has other fields', schemaOf({ code: { type: 'string' } }), '{"a": 1}', { code: '{"a": 1}' }],
    ['the last number', schemaOf({ action: { type: 'integer' } }), 'Not 3, but -12.', { action: -12 }],
    ['the last member of a list', MOVE, 'Not up; left_up', { action: 'LEFT_UP' }],
    ['the last member as a whole', MOVE, 'Go down, uphill', { action: 'DOWN' }],
    ['true or false', schemaOf({ stop: { type: 'boolean' } }), 'It is not false: True.', { stop: true }],
    [
      'an optional field, if it is the only one',
      schemaOf({ code: { type: 'string' } }, []),
      'x = 1',
      { code: 'x = 1' },
    ],
    ['one object of several fields', PLACE, 'I go to\n```json\n{"x": 1, "y": 2}\n```', { x: 1, y: 2 }],
    ['an object among words', PLACE, 'So {"x": 1, "y": 2}.', { x: 1, y: 2 }],
    ['no action without a number', schemaOf({ action: { type: 'integer' } }), 'none', undefined],
    ['no action without a member', MOVE, 'sideways', undefined],
    ['no action without true or false', schemaOf({ stop: { type: 'boolean' } }), 'perhaps', undefined],
    ['no action of words for several fields', PLACE, '1, 2', undefined],
    ['no action nested too deep', PLACE, `{"x": ${'['.repeat(99)}${']'.repeat(99)}}`, undefined],
  ])('is %s', (_, schema, answer, action) => {
    const found = actionOf(answer, actionForm(schema, undefined)!);
    expect('action' in found ? found.action : undefined).toEqual(action);
    if ('fault' in found) expect(found.fault).toMatch(/Reply with/);
  });

  test('of a megabyte is read in bounded time', () => {
    for (const piece of ['{', '[', '```', '1', 'up', '</think>', 'UPUP_']) {
      const answer = piece.repeat((1 << 20) / piece.length);
      for (const schema of [MOVE, PLACE, schemaOf({ action: { type: 'number' } })])
        actionOf(answer, actionForm(schema, undefined)!);
    }
  });
});

describe('an observation', () => {
  test.each<[JsonObject, string[] | undefined, string]>([
    [{ text: 'Hi', more: null, list: [] }, undefined, 'Hi'],
    [{ text: 'Hi', n: 0 }, undefined, '{"text":"Hi","n":0}'],
    [{ messages: [{ content: 'a' }, { content: 'b', sender_id: 1 }] }, undefined, 'a\nb'],
    [{ prompt: 'P', messages: [{ content: 'a' }], n: 1 }, ['messages', 'prompt'], 'a\n\nP'],
    [{ prompt: '', n: 1 }, ['prompt', 'missing'], ''],
    [{}, undefined, ''],
  ])('is shown as text: %j', (observation, show, text) => {
    expect(observationText(observation, show)).toBe(text);
  });
});
