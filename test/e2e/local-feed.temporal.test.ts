// The local service serves the feed of every run that it plays: a trainer in Python finds it without `everturn feed`,
// also behind a killed worker, and nobody without its token is served. Real processes: the built command line, its
// service, the shipped model, python3.

import { type ChildProcess, spawn } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, readFileSync, statSync, symlinkSync } from 'node:fs';
import { request as httpRequest } from 'node:http';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { PYTHON } from '../support/needs.ts';
import type { LocalFeedFile } from '../../client/feed/local-feed.ts';
import { type Everturn, openEverturn } from '../support/everturn.ts';
import { until } from '../support/until.ts';

const DATA = join(import.meta.dirname, '../../examples/arithmetic.jsonl');
const PACKAGE = join(import.meta.dirname, '../../python');
const TRAINER = join(import.meta.dirname, 'local_trainer.py');
const [GROUPS, SAMPLES, B] = [6, 2, 2];
const SHAPE = ['--num-turns', '1', '--samples', String(SAMPLES), '--limit', String(GROUPS), '--max-new-tokens', '32'];
const TRAIN = ['--train', '--batch-groups', String(B), '--max-staleness', '9'];

let everturn: Everturn;
const trainers: ChildProcess[] = [];
beforeAll(async () => {
  everturn = openEverturn();
  for (const name of ['one', 'two'])
    await everturn.mustRun('run', DATA, '--name', name, ...SHAPE, ...TRAIN, '--detach');
});
afterAll(async () => {
  for (const child of trainers) child.kill('SIGKILL');
  await everturn?.close();
});

const runs = () => join(everturn.folder, 'runs');
const feedFile = () => join(everturn.folder, 'home/feed.json');
const address = () => JSON.parse(readFileSync(feedFile(), 'utf8')) as LocalFeedFile;

interface Line {
  readonly event: 'begun' | 'leased' | 'step' | 'finished';
  readonly url: string;
  readonly version: number;
  readonly lease: string;
  readonly groups: readonly string[];
  readonly ids: readonly string[];
}

function trainer(run: string, version: number, stop?: 'lease' | 'acknowledge') {
  const args = [TRAINER, runs(), run, String(B), String(version), ...(stop ? [stop] : [])];
  const env = { ...process.env, EVERTURN_HOME: join(everturn.folder, 'home'), PYTHONPATH: PACKAGE };
  const child = spawn(PYTHON!, args, { env, stdio: ['ignore', 'pipe', 'inherit'] });
  trainers.push(child);
  let text = '';
  child.stdout.setEncoding('utf8').on('data', (more: string) => (text += more));
  const lines = () =>
    text
      .split('\n')
      .slice(0, -1)
      .map((line) => JSON.parse(line) as Line);
  const ended = new Promise<number | null>((resolve) => child.once('exit', (code) => resolve(code)));
  const has = (event: Line['event'], n = 1) =>
    until(`the trainer has ${event}`, () => lines().filter((line) => line.event === event).length >= n, 240_000);
  return { child, lines, ended, has };
}

interface Answer {
  readonly status: number;
  readonly said: Record<string, unknown>;
}

/** `path` behind the address, as it is: fetch would resolve its dots. */
function send(path: string, body: unknown, headers: Record<string, string> = {}, method = 'POST'): Promise<Answer> {
  const { url, token } = address();
  const { hostname, port } = new URL(url);
  return new Promise((resolve, reject) => {
    const all = { authorization: `Bearer ${token}`, ...headers };
    const asked = httpRequest({ hostname, port, path, method, headers: all }, (response) => {
      let text = '';
      response.setEncoding('utf8').on('data', (more: string) => (text += more));
      response.on('end', () => {
        const said = JSON.parse(text.split('\n', 1)[0] || 'null') as Record<string, unknown>;
        resolve({ status: response.statusCode!, said });
      });
    });
    asked.on('error', reject);
    asked.end(method === 'GET' ? undefined : typeof body === 'string' ? body : JSON.stringify(body));
  });
}
/** A feed answers nothing for a moment, as null, while the worker that played it is replaced. */
const stateOf = (run: string) =>
  until(`the feed of ${run} answers`, async () => (await send(`/${run}/status`, null, {}, 'GET')).said, 240_000);

describe('the feed of the local service', () => {
  test(
    'trains every group once for a consumer that is killed in a lease, behind a killed worker',
    { timeout: 600_000 },
    async (context) => {
      if (!PYTHON) return context.skip('there is no python3 (EVERTURN_TEST_PYTHON can name one)');
      expect(existsSync(join(runs(), 'one/.feed/server.json'))).toBe(false);
      const first = trainer('one', 0, 'lease');
      await first.has('leased');
      first.child.kill('SIGKILL');
      await first.ended;
      // Trained, as far as the feed knows, and without a checkpoint: the rewind offers it again.
      const second = trainer('one', 0, 'acknowledge');
      await second.has('leased');
      await until('it is acknowledged', async () => (await stateOf('one'))['trained'] === B, 60_000);
      second.child.kill('SIGKILL');
      await second.ended;
      const before = address();
      const third = trainer('one', 0);
      await third.has('step');
      process.kill(everturn.service()!.worker!.pid, 'SIGKILL');
      expect(await third.ended).toBe(0);
      await until('a worker serves again', () => existsSync(feedFile()) && address().token !== before.token, 60_000);

      const steps = third.lines().filter(({ event }) => event === 'step');
      expect(steps.map(({ version }) => version)).toEqual([1, 2, 3]);
      const ids = steps.flatMap((step) => step.ids);
      expect([ids.length, new Set(ids).size]).toEqual([GROUPS * SAMPLES, GROUPS * SAMPLES]);
      expect(third.lines()[0]!.url).toContain(encodeURIComponent(join(runs(), 'one')));
      expect(existsSync(join(runs(), 'one/.feed/server.json'))).toBe(false);
      await everturn.mustCall('check', 'one');
    },
  );

  test('gives each of two consumers groups of its own, and a run by its name as by its folder', async (context) => {
    if (!PYTHON) return context.skip('there is no python3 (EVERTURN_TEST_PYTHON can name one)');
    await until('all have ended', async () => (await stateOf('two'))['ready'] === GROUPS, 240_000);
    const folder = encodeURIComponent(join(runs(), 'two'));
    const lease = { consumer: 'a', groups: B, wait: 30 };
    const asked = (consumer: string) => ({ ...lease, consumer, request: consumer });
    const [a, b] = [await send('/two/lease', asked('a')), await send(`/${folder}/lease`, asked('b'))];
    expect([a.status, b.status]).toEqual([200, 200]);
    const groups = [a, b].flatMap(({ said }) => said['groups'] as string[]);
    expect(new Set(groups).size).toBe(2 * B);
    expect((await stateOf('two'))['leases']).toHaveLength(2);
    // Overdue, a lease ends where others need its groups.
    for (const consumer of ['a', 'b'])
      expect((await send('/two/lease', { ...asked(consumer), seconds: 0.1 })).status).toBe(200);
    expect((await send('/two/lease', asked('the rest'))).status).toBe(200);
    const c = await send('/two/lease', { ...lease, consumer: 'c' });
    expect(c.said['groups']).toEqual(a.said['groups']);
    expect(await send('/two/acknowledge', { lease: a.said['lease'], version: 1 })).toMatchObject({ status: 404 });
    expect(await send('/two/acknowledge', { lease: c.said['lease'], version: 1 })).toMatchObject({ status: 200 });
  });

  test('warns a trainer whose versions no server answers with', async () => {
    const synchronous = ['--train', '--batch-groups', String(B), '--max-staleness', '0', '--detach'];
    await everturn.mustCall('run', DATA, '--name', 'stale', ...SHAPE, ...synchronous);
    await stateOf('stale');
    const warnings = [];
    for (const version of [1, 2]) {
      const { lease } = (await send('/stale/lease', { consumer: 't', groups: B, least: B, wait: 60 })).said;
      expect((await send('/stale/acknowledge', { lease, version })).status).toBe(200);
      warnings.push((await send('/stale/version', { version })).said['warning']);
    }
    expect(warnings).toEqual([
      undefined,
      expect.stringMatching(/trained at version 1, .* is of version 0: older than/),
    ]);
    expect(await everturn.mustCall('status', 'stale')).toContain('A version that no server loads changes no answer.');
    await everturn.mustCall('cancel', 'stale');
  });

  test('refuses a hostile consumer with a reason, and changes nothing', { timeout: 120_000 }, async () => {
    expect(statSync(feedFile()).mode & 0o777).toBe(0o600);
    expect(statSync(join(everturn.folder, 'home')).mode & 0o777).toBe(0o700);
    expect(address().url).toMatch(/^http:\/\/127\.0\.0\.1:\d+$/);
    const elsewhere = join(everturn.folder, 'elsewhere');
    mkdirSync(elsewhere);
    cpSync(join(runs(), 'two'), join(elsewhere, 'two'), { recursive: true });
    symlinkSync(runs(), join(everturn.folder, 'linked'));
    // Trained to its end, it offers the groups of its last step again.
    const { line } = (await send('/one/rewind', { version: 2 })).said;
    const foreign = (await send('/one/lease', { consumer: 't', groups: 1, wait: 30, line })).said['lease'];
    expect(foreign).toMatch(/^one~/);
    const before = [await stateOf('one'), await stateOf('two')];
    const path = (folder: string) => `/${encodeURIComponent(join(everturn.folder, folder))}`;
    for (const [where, body, status, reason, headers] of [
      ['/two/lease', {}, 401, 'no-token', { authorization: '' }],
      ['/two/lease', {}, 403, 'not-allowed', { origin: 'http://evil.example' }],
      ['/nobody/lease', { consumer: 't', groups: 1 }, 404, 'no-such-run'],
      ['/lease', { consumer: 't', groups: 1 }, 404, 'no-such-run'],
      ['/%2Fetc/lease', { consumer: 't', groups: 1 }, 404, 'no-such-run'],
      ['/..%2Ftwo/lease', { consumer: 't', groups: 1 }, 404, 'no-such-run'],
      ['/%00/lease', { consumer: 't', groups: 1 }, 404, 'no-such-run'],
      ['/%E0%A4%A/lease', { consumer: 't', groups: 1 }, 400, 'bad-value'],
      ['/two%2Ffeed/lease', { consumer: 't', groups: 1 }, 404, 'no-such-run'],
      [`${path('elsewhere/two')}/lease`, { consumer: 't', groups: 1 }, 404, 'no-such-run'],
      ['/two/acknowledge', { lease: foreign, version: 1 }, 404, 'no-such-lease'],
      ['/two/version', 'x'.repeat(100_000), 413, 'too-large'],
    ] as const) {
      const { status: found, said } = await send(where, body, headers ?? {});
      expect([found, said['reason']], `${where} ${JSON.stringify(body).slice(0, 60)}`).toEqual([status, reason]);
      expect([String(said['error']).length > 0, String(said['fix']).length > 0]).toEqual([true, true]);
    }
    expect(await send('/two/lease', null, {}, 'GET')).toMatchObject({ status: 405 });
    // A folder behind a link is the same run.
    expect(await send(`${path('linked/two')}/status`, null, {}, 'GET')).toMatchObject({ status: 200 });
    expect([await stateOf('one'), await stateOf('two')]).toEqual(before);
  });

  test('is not the feed of a run of this name in another folder', { timeout: 120_000 }, async () => {
    const refused = await everturn.call('feed', join(everturn.folder, 'elsewhere/two'));
    expect(refused).toMatchObject({ code: 2 });
    expect(refused.stderr).toContain('The feed of another run named "two" is open');
  });

  test('ends with the service, and leaves no address', { timeout: 120_000 }, async () => {
    await everturn.run('down');
    expect(existsSync(feedFile())).toBe(false);
  });
});
