// The viewer over HTTP: it answers its own pages under its own name, and nothing else.

import { execFile, execFileSync } from 'node:child_process';
import { connect } from 'node:net';
import { mkdirSync, renameSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { rolloutFolder } from '../../records/format/layout.ts';
import type { SearchMessage } from '../../viewer/model/messages.ts';
import type { ViewServer } from '../../viewer/server.ts';
import { RUN } from '../records/play.ts';
import { ask, playSome, question, type ViewRig, viewRig } from './rig.ts';

let rig: ViewRig;
let server: ViewServer;
const portOf = (server: ViewServer) => new URL(server.url).port;

beforeEach(async () => {
  rig = await viewRig();
  await playSome(rig.store);
  server = await rig.serve();
});
afterEach(() => rig.close());

const PLACE = { query: 'a1', sample: 0, attempt: 1 };
const ALL = { filter: '', sort: '' };
const ROLLOUT = question('rollout', RUN, PLACE, ALL);
const TOKENS = question('tokens', RUN, PLACE, 1);

describe('the viewer’s server', () => {
  test('serves the page, its script and its style under one strict policy', async () => {
    const replies = await Promise.all(['/', '/page.js', '/page.css', '/api/runs'].map((path) => ask(server, path)));
    expect(replies.map(({ status }) => status)).toEqual([200, 200, 200, 200]);
    for (const { headers } of replies) {
      const policy = String(headers['content-security-policy']);
      expect(policy).toContain("default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'");
      expect(policy).not.toMatch(/unsafe|\*|https?:/);
      expect(headers['x-content-type-options']).toBe('nosniff');
      expect(headers['access-control-allow-origin']).toBeUndefined();
    }
  });

  test.each([
    'evil.example',
    'evil.example:{port}',
    '127.0.0.1',
    '127.0.0.1:1',
    '127.0.0.1.evil.example:{port}',
    '0.0.0.0:{port}',
    'localhost.:{port}',
    ' ',
  ])('refuses the name %j: DNS rebinding', async (host) => {
    const headers = { host: host.replace('{port}', portOf(server)) };
    for (const path of ['/', '/api/runs', ROLLOUT]) {
      const reply = await ask(server, path, { headers });
      expect(reply.status).toBe(421);
      expect(reply.text).not.toContain(RUN);
    }
  });

  test('refuses a request that gives a header twice which decides who asks', async () => {
    const own = `127.0.0.1:${portOf(server)}`;
    for (const twice of [`Host: ${own}`, 'Host: evil.example', 'Origin: http://evil.example', 'Cookie: a=b']) {
      const all = `Host: ${own}\r\nOrigin: http://${own}\r\nCookie: c=d\r\n${twice}\r\nConnection: close`;
      const said = await new Promise<string>((resolve) => {
        let text = '';
        const socket = connect(Number(portOf(server)), '127.0.0.1', () =>
          socket.write(`GET / HTTP/1.1\r\n${all}\r\n\r\n`),
        );
        socket.on('data', (data) => (text += data.toString('latin1'))).on('close', () => resolve(text));
      });
      expect(said, twice).toMatch(/^HTTP\/1\.1 400 /);
    }
  });

  test('answers to 127.0.0.1 and localhost', async () => {
    for (const name of ['127.0.0.1', 'localhost', 'LOCALHOST', '[::1]']) {
      expect((await ask(server, '/api/runs', { headers: { host: `${name}:${portOf(server)}` } })).status).toBe(200);
    }
  });

  test.each(['POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'])('refuses %s: it only reads', async (method) => {
    expect((await ask(server, '/api/runs', { method })).status).toBe(405);
  });

  test('refuses what another site’s page asks for, and lets its links open the front page', async () => {
    const cross = { 'sec-fetch-site': 'cross-site' };
    expect((await ask(server, '/api/runs', { headers: cross })).status).toBe(403);
    expect((await ask(server, '/page.js', { headers: { 'sec-fetch-site': 'same-site' } })).status).toBe(403);
    expect((await ask(server, '/api/runs', { headers: { origin: 'http://evil.example' } })).status).toBe(403);
    expect((await ask(server, '/api/runs', { headers: { origin: 'null' } })).status).toBe(403);
    expect((await ask(server, '/', { headers: cross })).status).toBe(200);
  });

  test('serves no file by its path', async () => {
    writeFileSync(join(rig.out, 'secret.txt'), 'SECRET');
    writeFileSync(join(rig.out, RUN, 'secret.txt'), 'SECRET');
    const up = ['..', '%2e%2e', '%2e%2e%2f%2e%2e', '..%5c..', '....', '%00', '/etc/passwd'];
    const paths = [
      ...up.map((part) => `/${part}/etc/passwd`),
      ...up.map((part) => `/api/run/${part}`),
      ...up.map((part) => question('run', part)),
      ...up.map((part) => question('run', `${RUN}/${part}/secret.txt`)),
      ...up.map((part) => question('rollout', RUN, { ...PLACE, query: part }, ALL)),
      `/api/run/${RUN}/secret.txt`,
      question('run', 'secret.txt'),
      '//etc/passwd',
      'http://evil.example/',
      '/page.js/../../package.json',
      '/__proto__',
      '/api/constructor',
    ];
    for (const path of paths) {
      const reply = await ask(server, path);
      expect([path, reply.status >= 400 && reply.status < 500]).toEqual([path, true]);
      expect(reply.text).not.toMatch(/SECRET|root:x|"name": "everturn"/);
    }
  });

  test('follows no symbolic link: a planted one serves nothing of another place', async () => {
    const other = await viewRig();
    await playSome(other.store);
    symlinkSync(join(other.out, RUN), join(rig.out, 'linked'));
    expect((await ask(server, '/api/runs')).text).not.toContain('linked');
    expect((await ask(server, question('run', 'linked'))).status).toBe(404);

    const turn = join(rig.out, RUN, rolloutFolder({ query: 'a1', sample: 0, attempt: 1 }), 'turn-001.json');
    renameSync(turn, `${turn}.kept`);
    symlinkSync(`${turn}.kept`, turn);
    const reply = await ask(server, ROLLOUT);
    expect(reply.status).toBe(500);
    expect(reply.text).toContain('symbolic link');
    expect((await ask(server, TOKENS)).status).toBe(500);
    const search = async () => JSON.parse((await ask(server, question('search', RUN, 'it'))).text) as SearchMessage;
    await expect.poll(search, { timeout: 60_000 }).toMatchObject({ done: true, unread: 1 });
    const found = await search();
    expect(found.hits.filter(({ query, turn }) => query === 'a1' && turn !== null)).toEqual([]);
    expect(found.hits.length).toBeGreaterThan(0);

    mkdirSync(join(rig.out, 'fake'));
    symlinkSync('/etc/passwd', join(rig.out, 'fake', 'run.json'));
    expect((await ask(server, '/api/runs')).text).not.toContain('root:x');
    await other.close();
  });

  test.each([
    ['rows', ALL, -1, 100],
    ['rows', ALL, 1e9 + 1, 100],
    ['rows', ALL, 0, 501],
    ['rows', ALL, 0, 'x'],
    ['rows', ALL, 0],
    ['rows', ALL, 0, 100, 1],
    ['rows', { ...ALL, filter: 'a'.repeat(2001) }, 0, 100],
    ['rows', { ...ALL, __proto__: null, other: 1 }, 0, 100],
    ['search'],
    ['search', ''],
    ['search', 'a'.repeat(501)],
  ] as const)('says what is wrong with a question for %s of %.60j', async (name, ...args) => {
    const reply = await ask(server, question(name, RUN, ...args));
    expect(reply.status).toBe(400);
    expect(JSON.parse(reply.text)).toHaveProperty('error');
  });

  test.each(['x', '{}', '[', '', '[["r1"]]'])('says what is wrong with the arguments %j', async (args) => {
    expect((await ask(server, `/api/run?args=${encodeURIComponent(args)}`)).status).toBe(400);
  });

  test('with a token, answers only who has it', async () => {
    const guarded = await rig.serve('s3cret-token');
    expect(guarded.url).toContain('?token=s3cret-token');
    for (const path of ['/', '/page.js', '/api/runs', '/?token=wrong', '/api/runs?token=s3cret-token']) {
      const reply = await ask(guarded, path);
      expect([path, reply.status]).toEqual([path, 401]);
      expect(reply.text).not.toContain(RUN);
    }
    const welcome = await ask(guarded, '/?token=s3cret-token');
    expect([welcome.status, welcome.headers['location']]).toEqual([303, '/']);
    const [cookie = ''] = welcome.headers['set-cookie'] as string[];
    expect(cookie).toMatch(/HttpOnly; SameSite=Strict/);
    const headers = { cookie: cookie.split(';')[0]! };
    expect((await ask(guarded, '/api/runs', { headers })).status).toBe(200);
    expect((await ask(guarded, '/api/runs', { headers: { cookie: headers.cookie.slice(0, -1) } })).status).toBe(401);
  });

  test('refuses another user of this machine, except one who has a token', async ({ skip }) => {
    skip(process.platform !== 'linux' || process.getuid?.() !== 0, 'only root on Linux can be another user');
    const guarded = await rig.serve('s3cret-token');
    const stranger = async (url: string): Promise<string | undefined> => {
      const script = `require('http').get('${url}', (r) => { console.log(r.statusCode); r.resume(); })`;
      const node = ['-i', process.execPath, '-e', script];
      // A node below /root is not everybody's to run.
      return promisify(execFile)('/usr/bin/env', node, { uid: 54_321, gid: 54_321 }).then(
        ({ stdout }) => stdout.trim(),
        () => undefined,
      );
    };
    expect(await stranger(server.url)).toBeOneOf(['403', undefined]);
    expect(await stranger(guarded.url)).toBeOneOf(['303', undefined]);
    expect((await ask(server, '/api/runs')).status).toBe(200);
  });

  test('changes nothing in the folder', async () => {
    const state = () => execFileSync('find', [rig.out, '-printf', '%P %s %T@\n'], { encoding: 'utf8' });
    const before = state();
    for (const path of ['/api/runs', question('run', RUN), question('rows', RUN, ALL, 0, 100), ROLLOUT, TOKENS]) {
      expect((await ask(server, path)).status).toBe(200);
    }
    expect(state()).toBe(before);
  });
});
