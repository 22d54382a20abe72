// The web UI, and whatever else of the local Temporal server speaks HTTP, against a page that had its own name resolved
// to this machine, a page that makes the browser ask, and another user of this machine. Each is tried for real.

import { execFile } from 'node:child_process';
import { request } from 'node:http';
import { connect } from 'node:net';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type DevServer, startDevServer } from '../../local/service/dev-server.ts';
import { serverIn } from '../local/service/support.ts';
import { listeningOf } from '../support/listening-ports.ts';
import { scratchFolder } from '../support/scratch-folder.ts';

const folder = scratchFolder();
let server: DevServer;
let port: number;
beforeAll(async () => {
  const options = await serverIn(folder);
  port = options.uiPort!;
  server = await startDevServer(options);
});
afterAll(() => server.stop());

interface Asked {
  readonly method?: string;
  readonly path?: string;
  readonly at?: number;
  readonly headers?: Record<string, string>;
}

async function status({ method = 'GET', path = '/api/v1/namespaces', at = port, headers = {} }: Asked) {
  const asked = request({ host: '127.0.0.1', port: at, method, path, headers, agent: false });
  const code = await new Promise<number>((resolve, reject) => {
    asked.on('response', (reply) => (reply.resume(), resolve(reply.statusCode!))).on('error', reject);
    asked.end(method === 'POST' ? '{}' : undefined);
  });
  return code;
}

const own = (): string => `127.0.0.1:${port}`;

describe('the local UI', () => {
  test('answers its own page: the pages, the questions that they ask, and links that lead to them', async () => {
    // Its first questions to the server may come too early.
    await expect.poll(() => status({ headers: { host: own() } })).toBe(200);
    for (const path of ['/', '/namespaces/default/workflows', '/api/v1/namespaces', '/api/v1/settings']) {
      for (const host of [own(), `localhost:${port}`, `[::1]:${port}`, `LOCALHOST:${port}`])
        expect(await status({ path, headers: { host } }), `${host}${path}`).toBe(200);
    }
    const ours = { host: own(), origin: `http://${own()}`, 'sec-fetch-site': 'same-origin' };
    expect(await status({ headers: ours })).toBe(200);
    const link = { 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'navigate', 'sec-fetch-dest': 'document' };
    expect(await status({ path: '/', headers: { host: own(), ...link } })).toBe(200);
  });

  test('refuses every request that names another host', async () => {
    const hosts = [
      'evil.example',
      `evil.example:${port}`,
      `127.0.0.1.evil.example:${port}`,
      `localhost.evil.example:${port}`,
      `localhost:${port + 1}`,
      'localhost',
      '127.0.0.1',
      `127.0.0.2:${port}`,
      `0.0.0.0:${port}`,
      `127.0.0.1:${port}@evil.example`,
      `localhost.:${port}`,
      `evil.example,127.0.0.1:${port}`,
    ];
    for (const host of hosts)
      for (const path of ['/', '/api/v1/namespaces'])
        expect(await status({ path, headers: { host } }), `${host} ${path}`).toBe(403);
    const forwarded = { host: 'evil.example', 'x-forwarded-host': own(), forwarded: `host=${own()}` };
    expect(await status({ headers: forwarded })).toBe(403);
  });

  test('refuses a request without a host, with two, and one whose target names another', async () => {
    expect(await raw('GET /api/v1/namespaces HTTP/1.0\r\n\r\n')).not.toMatch(/ 200 |namespaceInfo/);
    const absolute = `GET http://evil.example/api/v1/namespaces HTTP/1.1\r\nHost: ${own()}\r\nConnection: close\r\n\r\n`;
    expect(await raw(absolute)).not.toMatch(/ 200 |namespaceInfo/);
    const two = `GET /api/v1/namespaces HTTP/1.1\r\nHost: evil.example\r\nHost: ${own()}\r\nConnection: close\r\n\r\n`;
    expect(await raw(two)).not.toMatch(/ 200 |namespaceInfo/);
    const more = [`Host: evil.example`, `host: ${own()}`, 'Origin: http://evil.example', 'Sec-Fetch-Site: none'];
    for (const header of more) {
      const twice = `Host: ${own()}\r\nOrigin: http://${own()}\r\nSec-Fetch-Site: same-origin\r\n${header}`;
      expect(await raw(`GET / HTTP/1.1\r\n${twice}\r\nConnection: close\r\n\r\n`), header).toMatch(
        /^HTTP\/1.1 40[03] /,
      );
    }
  });

  test('refuses what another page makes a browser ask, whatever it changes', async () => {
    for (const method of ['POST', 'PUT', 'DELETE', 'PATCH', 'GET', 'OPTIONS'])
      for (const origin of [
        'http://evil.example',
        'null',
        'http://localhost:3000',
        `https://${own()}`,
        `http://${own()}.evil`,
      ])
        expect(await status({ method, headers: { host: own(), origin } }), `${method} ${origin}`).toBe(403);
    for (const site of ['cross-site', 'same-site']) {
      expect(await status({ method: 'POST', headers: { host: own(), 'sec-fetch-site': site } })).toBe(403);
      expect(await status({ headers: { host: own(), 'sec-fetch-site': site, 'sec-fetch-mode': 'no-cors' } })).toBe(403);
    }
  });

  test('is no page in the frame of another', async () => {
    const reply = await fetch(server.uiAddress!);
    expect(reply.headers.get('x-frame-options')).toBe('DENY');
  });

  test('is the only HTTP of that server that a page can reach by name', async ({ skip }) => {
    skip(process.platform !== 'linux', 'this system is not Linux');
    const open = listeningOf([server.id.pid]);
    expect(open.length).toBeGreaterThan(2);
    for (const { host, port: at } of open) {
      // Nobody finds one of 16 million addresses by trying.
      if (host !== '127.0.0.1') continue;
      for (const path of ['/api/v1/namespaces', '/api/v1/namespaces/default/workflows', '/namespaces']) {
        const answer = await status({ path, at, headers: { host: `evil.example:${at}` } }).catch(() => 'no HTTP');
        expect([403, 404, 'no HTTP'], `${at}${path}: ${answer}`).toContain(answer);
      }
    }
    expect(open.filter(({ host }) => host !== '127.0.0.1')).toHaveLength(1);
  });

  test('refuses another user of this machine', async ({ skip }) => {
    skip(process.platform !== 'linux' || process.getuid?.() !== 0, 'only root on Linux can be another user');
    const script = `require('http').get('http://${own()}/api/v1/namespaces', r => { console.log(r.statusCode); r.resume() })`;
    const ask = (uid: number) =>
      promisify(execFile)('/usr/bin/env', ['-i', process.execPath, '-e', script], { uid, gid: uid });
    // A node below /root is not everybody's to run.
    const other = await ask(54_321).catch(() => undefined);
    if (other) expect(other.stdout.trim()).toBe('403');
    expect((await ask(0)).stdout.trim()).toBe('200');
  });
});

function raw(text: string): Promise<string> {
  return new Promise((resolve) => {
    let said = '';
    const socket = connect(port, '127.0.0.1', () => socket.write(text));
    socket.setTimeout(5000, () => socket.destroy());
    socket.on('data', (data) => (said += data.toString('latin1')));
    socket.on('error', () => undefined).on('close', () => resolve(said));
  });
}
