// The feed over HTTP: batches as JSON lines, and refusals of everything that a hostile consumer sends.

import { symlinkSync, unlinkSync } from 'node:fs';
import { request as httpRequest } from 'node:http';
import { connect } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type FeedServer, serveFeed } from '../../client/feed/feed-server.ts';
import { expertsFile } from '../../domain/rollout/experts.ts';
import type { NeutralRow } from '../../domain/samples/neutral-row.ts';
import type { Session } from '../../client/temporal/connection.ts';
import { callFeed, entriesOfFeed, feedProgressOf, startFeed } from '../../client/temporal/feed.ts';
import { openFileStore } from '../../records/file-store.ts';
import { makeFeedRun } from '../support/feed-run.ts';
import { openRig, type Rig } from '../support/rig.ts';

const TOKEN = 'a-token-of-this-test';
let rig: Rig;
let server: FeedServer;

beforeAll(async () => {
  rig = await openRig({
    answer: ({ requestId }) => `\\boxed{${requestId.split('/')[2] === '0' ? 4 : 5}}`,
  });
  await rig.startWorker();
  await makeFeedRun(rig.out, 'served', { queries: 12 });
  await rig.client.workflow.start('collection', {
    workflowId: 'served',
    taskQueue: 'everturn',
    args: [{ run: 'served', out: rig.out }],
  });
  server = await serveFeed({
    place: { run: 'served', out: rig.out },
    session: () => ({ client: rig.client, namespace: rig.namespace }) as unknown as Session,
    host: '127.0.0.1',
    port: 0,
    token: TOKEN,
  });
});
afterAll(async () => {
  await server.close();
  await rig.close();
});

interface Answer {
  readonly status: number;
  readonly lines: readonly Record<string, unknown>[];
}

async function post(path: string, body: unknown, headers: Record<string, string> = {}): Promise<Answer> {
  const response = await fetch(`${server.url}${path}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${TOKEN}`, ...headers },
    body: typeof body === 'string' ? body : JSON.stringify(body),
  });
  const text = await response.text();
  const lines = text.split('\n').filter((line) => line !== '');
  return { status: response.status, lines: lines.map((line) => JSON.parse(line) as Record<string, unknown>) };
}

const served = () => ({ run: 'served', out: rig.out });
const status = async (): Promise<unknown> =>
  (await fetch(`${server.url}/status`, { headers: { authorization: `Bearer ${TOKEN}` } })).json();

/** fetch sets its own Host. */
const statusOf = (headers: Record<string, string>): Promise<number | undefined> =>
  new Promise((resolve, reject) => {
    const all = { authorization: `Bearer ${TOKEN}`, ...headers };
    const asked = httpRequest(`${server.url}/status`, { headers: all }, (answer) => {
      answer.resume();
      resolve(answer.statusCode);
    });
    asked.on('error', reject).end();
  });

describe('the feed over HTTP', () => {
  test('gives the bytes of the experts that a row names, and refuses what is no file of these', async () => {
    const store = openFileStore(rig.out, 'served');
    const data = Uint8Array.from({ length: 3000 }, (_, i) => i % 5);
    const path = expertsFile(await store.putExperts(data));
    const get = (name: string, token = TOKEN) =>
      fetch(`${server.url}/${name}`, { headers: { authorization: `Bearer ${token}` } });
    const found = await get(path);
    expect([found.status, found.headers.get('content-type')]).toEqual([200, 'application/octet-stream']);
    expect(Buffer.from(await found.arrayBuffer())).toEqual(Buffer.from(data));
    expect((await get(path, 'another')).status).toBe(401);
    for (const name of [path.replace('-3000', '-3001'), 'experts/../run.json', 'experts/ab/run.json', 'experts'])
      expect([name, (await get(name)).status]).toEqual([name, 404]);
  });

  test('gives a batch as lines: its lease, then each sample of each group as a neutral row', async () => {
    // The oldest groups are given first, of those that have ended: all of them have.
    await startFeed({ client: rig.client, namespace: rig.namespace } as unknown as Session, served());
    await expect.poll(async () => ((await status()) as { ready: number } | null)?.ready, { timeout: 60_000 }).toBe(4);
    const { status: code, lines } = await post('/lease', { consumer: 'trainer', groups: 2, wait: 60 });
    expect(code).toBe(200);
    const [head, ...rows] = lines as [Record<string, unknown>, ...(Record<string, unknown> & NeutralRow)[]];
    expect(head).toMatchObject({ groups: ['q0', 'q1'], rows: 4, version: 0, trained_at: 0, line: 0 });
    expect(rows.map((row) => [row.group, row.id, row.reward])).toEqual([
      ['q0', 'q0', 1],
      ['q0', 'q0@1', -1],
      ['q1', 'q1', 1],
      ['q1', 'q1@1', -1],
    ]);
    for (const row of rows) {
      expect(row).toMatchObject({ group_size: 2, group_success_rate: 0.5, zero_variance: false, staleness: 0 });
      for (const list of [row.response_mask, row.logprobs, row.versions, row.turn_ids])
        expect(list).toHaveLength(row.response_ids.length);
      expect(row.turn_advantages![0]).toBeCloseTo(row.reward, 4);
    }
    expect((await post('/acknowledge', { lease: head['lease'], version: 1 })).lines[0]).toMatchObject({ groups: 2 });
    expect((await post('/version', { version: 1 })).lines[0]).toEqual({ version: 1, already: false });
    expect(await status()).toMatchObject({ trained: 2, trainedInto: 1, version: 1, leases: [] });
  });

  test('refuses a stranger, a foreign path, a wrong method and a web page, and tells none of them anything', async () => {
    expect((await post('/lease', {}, { authorization: 'Bearer wrong' })).status).toBe(401);
    expect((await post('/lease', {}, { authorization: '' })).status).toBe(401);
    expect((await fetch(`${server.url}/status`)).status).toBe(401);
    expect((await post('/lease', {}, { origin: 'http://evil.example' })).status).toBe(403);
    expect(await statusOf({ host: 'evil.example' })).toBe(403);
    expect(await statusOf({ host: '127.0.0.1.evil.example:80' })).toBe(403);
    expect(await statusOf({ host: 'localhost:9999' })).toBe(200);
    expect((await post('/../lease%00', {})).status).toBe(404);
    expect((await post('/constructor', {})).status).toBe(404);
    const get = await fetch(`${server.url}/lease`, { headers: { authorization: `Bearer ${TOKEN}` } });
    expect(get.status).toBe(405);
  });

  test('refuses what does not fit with a reason, and changes nothing', async () => {
    // All that are admitted have ended: the state moves by requests only.
    await expect.poll(async () => ((await status()) as { ready: number }).ready, { timeout: 60_000 }).toBe(4);
    const before = await status();
    for (const [path, body, code, reason] of [
      ['/lease', '{', 400, 'bad-value'],
      ['/lease', '[]', 400, 'bad-value'],
      ['/lease', { consumer: 't', groups: 1, wait: 1e9 }, 400, 'bad-value'],
      ['/lease', { consumer: 't', groups: 1, more: 1 }, 400, 'bad-value'],
      ['/lease', { consumer: 't', groups: 3 }, 400, 'bad-value'],
      ['/lease', '{"consumer":"t","groups":1,"groups":2}', 400, 'bad-value'],
      ['/rewind', '{"version":1,"v\\u0065rsion":0}', 400, 'bad-value'],
      ['/acknowledge', { lease: 'served~1', version: 5 }, 404, 'no-such-lease'],
      ['/acknowledge', { lease: 'other~1', version: 5 }, 404, 'no-such-lease'],
      ['/version', { version: 0 }, 409, 'version-goes-back'],
      ['/version', { version: 2 }, 409, 'step-too-small'],
      ['/version', { version: 3 }, 409, 'version-skips'],
      ['/rewind', { version: 9 }, 409, 'version-goes-back'],
    ] as const) {
      const answer = await post(path, body);
      expect([answer.status, answer.lines[0]!['reason']], `${path} ${JSON.stringify(body)}`).toEqual([code, reason]);
      const { error, fix } = answer.lines[0] as { error: string; fix: string };
      expect([error.length > 0, fix.length > 0, error.endsWith(fix)]).toEqual([true, true, false]);
    }
    expect(await status()).toEqual(before);
  });

  test('reads no more of a large body than it takes', async () => {
    expect((await post('/version', `{"version":1,"x":"${'y'.repeat(100_000)}"}`)).status).toBe(413);
    // One that says it has a gigabyte, and one that does not say.
    const said = await new Promise<number>((resolve) => {
      const headers = { authorization: `Bearer ${TOKEN}`, 'content-length': String(2 ** 30) };
      const sent = httpRequest(`${server.url}/version`, { method: 'POST', headers }, (r) => resolve(r.statusCode!));
      sent.on('error', () => {});
      sent.write('{');
    });
    expect(said).toBe(413);
    const unsaid = await new Promise<number>((resolve) => {
      const headers = { authorization: `Bearer ${TOKEN}` };
      const sent = httpRequest(`${server.url}/version`, { method: 'POST', headers }, (r) => resolve(r.statusCode!));
      sent.on('error', () => {});
      const block = 'y'.repeat(16_384);
      const more = () => {
        while (!sent.destroyed && sent.write(block));
      };
      sent.on('drain', more);
      more();
    });
    expect(unsaid).toBe(413);
  });

  test('takes a bounded number of connections, and goes on when they are gone', async () => {
    const { hostname, port } = new URL(server.url);
    let refused = 0;
    const sockets = Array.from({ length: 300 }, () => {
      const socket = connect(Number(port), hostname);
      socket.on('error', () => {});
      socket.on('close', () => refused++);
      return socket;
    });
    await expect.poll(() => refused, { timeout: 60_000 }).toBeGreaterThanOrEqual(300 - 256);
    for (const socket of sockets) socket.destroy();
    const answered = () => status().then(Boolean, () => false);
    await expect.poll(answered, { timeout: 60_000 }).toBe(true);
  });

  test('offers the groups of a consumer that hangs up again', async () => {
    const { hostname, port } = new URL(server.url);
    for (const request of ['a', 'b'])
      expect(
        (await post('/lease', { consumer: 'holder', groups: 2, wait: 60, request })).lines[0]!['lease'],
      ).toBeTruthy();
    const body = JSON.stringify({ consumer: 'gone', groups: 2, wait: 30 });
    const socket = connect(Number(port), hostname);
    socket.write(
      `POST /lease HTTP/1.1\r\nhost: localhost\r\nauthorization: Bearer ${TOKEN}\r\ncontent-length: ${body.length}\r\n\r\n${body}`,
    );
    // It waits: all that are admitted are leased.
    await sleep(500);
    socket.destroy();
    for (const request of ['a', 'b']) await post('/lease', { consumer: 'holder', groups: 2, request, seconds: 0.1 });
    for (let n = 0; n < 2; n++) {
      const { lines } = await post('/lease', { consumer: 'trainer', groups: 2, wait: 60 });
      expect(lines[0]).toMatchObject({ rows: 4, version: 1 });
    }
  });
});

describe('the entries that a feed counts', () => {
  test('are those of its ledger, and of no other folder or earlier run', async () => {
    const session = { client: rig.client, namespace: rig.namespace } as unknown as Session;
    const place = { run: 'served', out: rig.out };
    await post('/rewind', { version: 0 });
    const entries = await openFileStore(rig.out, 'served').countFeedEntries();
    expect(await entriesOfFeed(session, place, 0)).toBe(entries);
    expect(await entriesOfFeed(session, { ...place, out: '/elsewhere' }, 0)).toBeUndefined();
    expect(await entriesOfFeed(session, place, Date.now() + 60_000)).toBeUndefined();
    expect(await entriesOfFeed(session, { ...place, run: 'nobody' }, 0)).toBeUndefined();
    expect(entries).toBeGreaterThan(0);
  });
});

describe('a feed of this name', () => {
  const session = () => ({ client: rig.client, namespace: rig.namespace }) as unknown as Session;

  test('is not used if it is of a run in another folder, and nothing changes', async () => {
    const before = await status();
    const place = { run: 'served', out: '/elsewhere' };
    const refused = { name: 'UsageError', reason: 'run-elsewhere' };
    await expect(startFeed(session(), place)).rejects.toMatchObject(refused);
    const lease = { consumer: 'stranger', groups: 1 };
    await expect(callFeed(session(), place, 'lease', lease)).rejects.toMatchObject(refused);
    expect(await feedProgressOf(session(), place)).toBeUndefined();
    symlinkSync(rig.out, `${rig.out}-linked`);
    await startFeed(session(), { run: 'served', out: `${rig.out}-linked` });
    unlinkSync(`${rig.out}-linked`);
    expect(await status()).toEqual(before);
  });

  test('is ended, and begun anew, if it is of a run that was removed and made again', async () => {
    await makeFeedRun(rig.out, 'again', { queries: 3 });
    const [removed, made] = [1, 2].map((since) => ({ run: 'again', out: rig.out, since }));
    const handle = rig.client.workflow.getHandle('again/feed');
    await startFeed(session(), removed!);
    const { runId } = await handle.describe();
    await startFeed(session(), removed!);
    expect((await handle.describe()).runId).toBe(runId);
    expect(await feedProgressOf(session(), made!)).toBeUndefined();
    await callFeed(session(), made!, 'rewind', { version: 0 });
    expect((await rig.client.workflow.getHandle('again/feed', runId).describe()).status.name).toBe('TERMINATED');
    expect(await feedProgressOf(session(), made!)).toMatchObject({ total: 3, line: 1 });
    // One that another client started says nothing of itself.
    await handle.terminate();
    const args = [{ run: 'again', out: rig.out }];
    await rig.client.workflow.start('feed', { workflowId: 'again/feed', taskQueue: 'everturn', args });
    expect(await callFeed(session(), made!, 'rewind', { version: 0 })).toMatchObject({ line: 2 });
  });
});
