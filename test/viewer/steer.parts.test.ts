// Acts from the page: done as the command line does them, and refused from everybody but our own page.

import { existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { STEERING } from '../../records/format/layout.ts';
import { commandOf, type SteerReply, type SteerRequest, steerRequest } from '../../viewer/model/steer.ts';
import { serveView, type ViewServer } from '../../viewer/server.ts';
import { RUN } from '../records/play.ts';
import { ask, playSome, steeredBy, type ViewRig, viewRig } from './rig.ts';

const TOKEN = 'a-token-of-this-session';
const KEY = 'the-key-of-the-printed-address';

let rig: ViewRig;
let server: ViewServer;
let commands: (readonly string[])[];
beforeEach(async () => {
  rig = await viewRig();
  commands = [];
  await playSome(rig.store);
  server = await rig.serve(TOKEN, { script: '', style: '' }, steeredBy(rig, KEY, commands));
});
afterEach(() => rig.close());

const port = () => new URL(server.url).port;
const VERDICT: SteerRequest = {
  act: 'verdict',
  run: RUN,
  query: 'a1',
  sample: 0,
  attempt: 1,
  turn: 1,
  verdict: 'right',
  reason: 'equivalent',
};

interface Sent {
  readonly method?: string;
  readonly path?: string;
  /** Undefined takes the header away. */
  readonly headers?: Readonly<Record<string, string | undefined>>;
  readonly body?: string;
}

function post({ method = 'POST', path = '/api/act', headers = {}, body = JSON.stringify(VERDICT) }: Sent = {}) {
  const all = {
    host: `127.0.0.1:${port()}`,
    origin: `http://127.0.0.1:${port()}`,
    cookie: `everturn-view-${port()}=${TOKEN}`,
    'x-everturn-steer': KEY,
    'content-type': 'application/json',
    ...headers,
  };
  const given = Object.entries(all).filter((entry): entry is [string, string] => entry[1] !== undefined);
  const isBare = method === 'GET' || method === 'OPTIONS';
  return ask(server, path, { method, headers: Object.fromEntries(given), ...(!isBare && { body }) });
}

const recorded = () => (existsSync(join(rig.out, RUN, STEERING)) ? readdirSync(join(rig.out, RUN, STEERING)) : []);

describe('an act from the page', () => {
  test('is recorded as the command line records it, and the page shows it', async () => {
    const { status, text } = await post();
    expect(status).toBe(200);
    const reply = JSON.parse(text) as SteerReply;
    expect(reply).toMatchObject({ ok: true });
    expect(reply.said).toContain('Recorded: ana says that turn 1 of a1 is right (equivalent); the judge said wrong');
    expect(recorded()).toHaveLength(1);
    const { acts } = await rig.api.rollout(RUN, { query: 'a1', sample: 0, attempt: 1 }, { filter: '', sort: '' });
    expect(acts.map(({ act }) => [act.act, act.by, act.via])).toEqual([['verdict', 'ana', 'view']]);
  });

  test('says why it was not done, and what to do', async () => {
    const late = await post({ body: JSON.stringify({ ...VERDICT, turn: 9 }) });
    expect(JSON.parse(late.text)).toMatchObject({
      ok: false,
      said: expect.stringContaining('Give a turn from 1 to 3') as string,
    });
    expect(recorded()).toEqual([]);
  });

  const evil: readonly (readonly [string, number, () => Sent])[] = [
    [
      'DNS rebinding: another name',
      421,
      () => ({ headers: { host: `evil.example:${port()}`, origin: `http://evil.example:${port()}` } }),
    ],
    ['DNS rebinding with our origin', 421, () => ({ headers: { host: 'evil.example' } })],
    ['CSRF: another site’s page', 403, () => ({ headers: { origin: 'http://evil.example' } })],
    ['CSRF: a page without an origin', 403, () => ({ headers: { origin: 'null' } })],
    ['a request that names no origin', 403, () => ({ headers: { origin: undefined } })],
    ['another port of this machine', 403, () => ({ headers: { origin: 'http://127.0.0.1:1' } })],
    ['our origin over TLS', 403, () => ({ headers: { origin: `https://127.0.0.1:${port()}` } })],
    ['a request that the browser calls cross-site', 403, () => ({ headers: { 'sec-fetch-site': 'cross-site' } })],
    ['a request that the browser calls same-site', 403, () => ({ headers: { 'sec-fetch-site': 'same-site' } })],
    ['a second user without the token', 401, () => ({ headers: { cookie: undefined } })],
    ['a second user with a guess', 401, () => ({ headers: { cookie: `everturn-view-${port()}=${TOKEN}x` } })],
    [
      'the token in the address of the act',
      401,
      () => ({ path: `/api/act?token=${TOKEN}`, headers: { cookie: undefined } }),
    ],
    ['a stolen cookie without the key', 403, () => ({ headers: { 'x-everturn-steer': undefined } })],
    ['a wrong key', 403, () => ({ headers: { 'x-everturn-steer': `${KEY}x` } })],
    ['the token as the key', 403, () => ({ headers: { 'x-everturn-steer': TOKEN } })],
    ['a form', 415, () => ({ headers: { 'content-type': 'application/x-www-form-urlencoded' } })],
    ['text that a page may send without asking', 415, () => ({ headers: { 'content-type': 'text/plain' } })],
    ['no type', 415, () => ({ headers: { 'content-type': undefined } })],
    ['GET', 405, () => ({ method: 'GET' })],
    ['PUT', 405, () => ({ method: 'PUT' })],
    ['a preflight', 405, () => ({ method: 'OPTIONS' })],
    ['another path', 405, () => ({ path: '/api/act/' })],
    ['another path that is encoded', 405, () => ({ path: '/api/%61ct' })],
    ['a POST that reads', 405, () => ({ path: '/api/runs' })],
    ['no JSON', 400, () => ({ body: 'act=verdict' })],
    ['a list', 400, () => ({ body: '[]' })],
    ['an act that does not exist', 400, () => ({ body: JSON.stringify({ ...VERDICT, act: 'export' }) })],
    ['an act of the prototype', 400, () => ({ body: JSON.stringify({ ...VERDICT, act: '__proto__' }) })],
    ['a field too many', 400, () => ({ body: JSON.stringify({ ...VERDICT, out: '/etc' }) })],
    ['a number as a text', 400, () => ({ body: JSON.stringify({ ...VERDICT, turn: '1' }) })],
    ['half a turn', 400, () => ({ body: JSON.stringify({ ...VERDICT, turn: 1.5 }) })],
    ['a pause of one rollout', 400, () => ({ body: JSON.stringify({ ...VERDICT, act: 'pause' }) })],
    ['a verdict on a run', 400, () => ({ body: JSON.stringify({ act: 'verdict', run: RUN }) })],
    ['a list as a text', 400, () => ({ body: JSON.stringify({ ...VERDICT, query: ['a1'] }) })],
    ['a megabyte', 413, () => ({ body: JSON.stringify({ ...VERDICT, reason: 'x'.repeat(1 << 20) }) })],
  ];
  test.each(evil)('is refused: %s', async (_, status, sent) => {
    const reply = await post(sent());
    expect(reply.status).toBe(status);
    expect(reply.headers['access-control-allow-origin']).toBeUndefined();
    expect([commands, recorded()]).toEqual([[], []]);
  });

  test('reaches no run outside of the folder', async () => {
    const outside = mkdtempSync(join(tmpdir(), 'everturn-outside-'));
    try {
      for (const run of ['..', '../x', `${outside}`, 'r1/../r1', '%2e%2e', '', '\0', '--out=/'])
        expect((await post({ body: JSON.stringify({ ...VERDICT, run }) })).status).toBe(404);
      expect(commands).toEqual([]);
      expect([readdirSync(outside), recorded()]).toEqual([[], []]);
    } finally {
      rmSync(outside, { recursive: true });
    }
  });

  test('needs its server to be started for it: without, a POST is refused', async () => {
    const plain = await rig.serve(TOKEN);
    const headers = {
      cookie: `everturn-view-${new URL(plain.url).port}=${TOKEN}`,
      'x-everturn-steer': KEY,
      'content-type': 'application/json',
    };
    expect((await ask(plain, '/api/act', { method: 'POST', headers })).status).toBe(405);
    expect((await ask(plain, '/api/act', { headers })).status).toBe(404);
  });

  test('the pages of a server that steers need the token too', async () => {
    for (const path of ['/', '/api/runs', '/page.js']) expect((await ask(server, path)).status).toBe(401);
    await expect(
      serveView({
        api: rig.api,
        assets: {},
        port: 0,
        token: null,
        steering: { key: KEY, has: () => true, act: () => Promise.reject() },
      }),
    ).rejects.toThrow('token');
  });
});

describe('the command of an act', () => {
  const text = fc.oneof(fc.string(), fc.constantFrom('--out=/etc', '--', '-h', '--help', '', '$(id)', "';id;'", '\n'));
  const on = { run: text, query: text, sample: fc.nat(), attempt: fc.integer({ min: 1, max: 9 }) };
  const some = fc.oneof(
    fc.record({
      ...on,
      act: fc.constant('verdict' as const),
      turn: fc.integer({ min: 1, max: 99 }),
      verdict: fc.constantFrom('right' as const, 'wrong' as const),
      reason: text,
    }),
    fc.record({ ...on, act: fc.constant('note' as const), turn: fc.nat(), text }),
  );

  test('has its own options alone: no text becomes one', () => {
    const known = /^--(?:sample|attempt|turn|reason)=/;
    fc.assert(
      fc.property(some, (request) => {
        expect(steerRequest(JSON.parse(JSON.stringify(request)))).toEqual(request);
        const [, ...rest] = commandOf(request);
        const end = rest.indexOf('--');
        for (const option of rest.slice(0, end)) expect(option).toMatch(known);
        expect(rest.slice(end + 1, end + 3)).toEqual([request.run, request.query]);
      }),
    );
  });
});
