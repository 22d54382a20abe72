// The local service with a real server and a scripted worker, each test in its own home.

import { createServer } from 'node:net';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, inject, onTestFinished, test } from 'vitest';
import { isServing } from '../../../local/service/dev-server.ts';
import { homeOf } from '../../../local/service/home.ts';
import { isAlive } from '../../../local/machine/process.ts';
import {
  ensureService,
  type Service,
  type ServiceOptions,
  serviceStatus,
  stopService,
} from '../../../local/service/service.ts';
import { type CodeId, liveState, readState, type ServiceState } from '../../../local/service/state.ts';
import { compiledRoom } from '../../support/compiled.ts';
import { openWorkflowIds, startWorkflow } from './support.ts';
import { testFolder } from '../../support/scratch-folder.ts';
import { until } from '../../support/until.ts';

function service(extra: Record<string, string> = {}, mode = 'works') {
  const folder = testFolder();
  const env = {
    PATH: process.env['PATH'],
    EVERTURN_HOME: join(folder, 'home'),
    EVERTURN_TEMPORAL_CLI: inject('temporalBinary'),
    ...extra,
  };
  const room = compiledRoom('local/machine');
  const options: ServiceOptions = {
    env,
    supervisor: join(compiledRoom('local/service'), 'supervisor.js'),
    worker: { command: process.execPath, args: [join(import.meta.dirname, 'scripted-worker.mjs'), room, mode] },
    code: { version: '1', path: folder, built: 'a' },
  };
  onTestFinished(() => stopService(env).then(() => undefined));
  return { env, options, home: homeOf(env) };
}

function processesOf({ state }: Service): [NonNullable<ServiceState['server']>, NonNullable<ServiceState['worker']>] {
  if (!state.server || !state.worker) throw new Error('a ready service has both');
  return [state.server, state.worker];
}

describe('the local service', () => {
  test('two CLIs at once get one service, a third finds it, and its worker knows no other cluster', async () => {
    const { env, options, home } = service({ TEMPORAL_ADDRESS: 'cloud.example:7233', TEMPORAL_API_KEY: 'secret' });
    const [one, two] = await Promise.all([ensureService(options), ensureService(options)]);
    expect(one.state).toEqual(two.state);
    expect([one.started, two.started].filter(Boolean)).toHaveLength(1);
    expect(await ensureService(options)).toMatchObject({ started: false, address: one.address });
    await until('an answer', () => isServing(one.address));
    expect(serviceStatus(env)).toMatchObject({ up: true, state: { phase: 'ready' } });
    expect(readFileSync(home.workerLog, 'utf8')).toBe(`worker of ${one.address}, api key undefined\n`);

    expect(await stopService(env)).toMatchObject({ phase: 'ready' });
    for (const id of [one.state.supervisor, ...processesOf(one)]) expect(isAlive(id)).toBe(false);
    expect(serviceStatus(env)).toMatchObject({ up: false, state: { phase: 'stopped' } });
    expect(await stopService(env)).toBeUndefined();
  });

  test('whatever is killed is back on the same address with the same workflows', async () => {
    const { options, home } = service();
    // Another test's service would take the usual ones while its server is down.
    for (const port of [7233, 8233]) await occupy(port);
    const up = await ensureService(options);
    const [server, worker] = processesOf(up);
    await startWorkflow(up.address, 'open');
    process.kill(server.pid, 'SIGKILL');
    await until('another server', () => liveState(home)?.server?.pid !== server.pid);
    const again = await ensureService(options);
    expect(again).toMatchObject({ started: false, address: up.address, uiAddress: up.uiAddress });
    expect(await openWorkflowIds(up.address)).toEqual(['open']);

    process.kill(worker.pid, 'SIGKILL');
    await until('another worker', () => liveState(home)?.worker?.pid !== worker.pid);
    expect(await ensureService(options)).toMatchObject({ started: false, address: up.address });
    expect(readFileSync(home.serviceLog, 'utf8')).toMatch(
      /server down: killed by signal 9[^]*worker down: killed by SIGKILL/,
    );

    // A killed supervisor leaves no process.
    const last = await ensureService(options);
    process.kill(last.state.supervisor.pid, 'SIGKILL');
    for (const id of processesOf(last)) await until('the child ends', () => !isAlive(id));
    const next = await ensureService(options);
    expect(next.started).toBe(true);
    expect(await openWorkflowIds(next.address)).toEqual(['open']);
  });

  test('the next service ends children that would not, before it opens the database', async () => {
    const { options } = service({}, 'hangs');
    const up = await ensureService(options);
    const [server, worker] = processesOf(up);
    process.kill(up.state.supervisor.pid, 'SIGKILL');
    await until('its death', () => !isAlive(up.state.supervisor));
    const next = await ensureService(options);
    expect(next.state.server?.pid).not.toBe(server.pid);
    expect([server, worker].map(isAlive)).toEqual([false, false]);
  });

  test('ends by itself, children and all, when nobody needs it', async () => {
    const { env, options, home } = service({ EVERTURN_IDLE_MINUTES: '0.05' });
    const up = await ensureService(options);
    await until('its end', () => !serviceStatus(env).up);
    expect(readState(home)).toMatchObject({ phase: 'stopped', note: expect.stringContaining('no open run') });
    // Its last word is written a moment before it ends.
    await until('the end of all its processes', () => ![up.state.supervisor, ...processesOf(up)].some(isAlive));
  });

  test('takes other ports when somebody has the usual ones, and keeps them next time', async () => {
    const { env, options } = service();
    for (const port of [7233, 8233]) await occupy(port);
    const up = await ensureService(options);
    expect(up.address).not.toBe('127.0.0.1:7233');
    expect(up.uiAddress).not.toBe('http://127.0.0.1:8233');
    await until('an answer', () => isServing(up.address));
    await stopService(env);
    // Another test's service that had them may have ended.
    for (const port of [7233, 8233]) await occupy(port);
    expect(await ensureService(options)).toMatchObject({ address: up.address, uiAddress: up.uiAddress });
  });

  test('a worker that cannot start is an error with its own words, and nothing is left running', async () => {
    const { env, options, home } = service({}, 'crashes');
    const failed = ensureService(options);
    await expect(failed).rejects.toThrow(/the worker failed: ended with exit code 1[^]*the model folder is gone/);
    expect(serviceStatus(env).up).toBe(false);
    expect(readState(home)).toMatchObject({ phase: 'stopped', server: null, worker: null });
  });

  test('a database that cannot be opened is an error with the server’s own words', async () => {
    const { options, home } = service();
    mkdirSync(home.folder, { recursive: true });
    writeFileSync(home.database, 'this is no database, however long one looks at it. '.repeat(100));
    const refusal = () => ensureService(options).then(String, String);
    let said = await refusal();
    // Another test's service can take the usual port between the look and the start.
    for (let n = 0; n < 3 && said.includes('address already in use'); n++) said = await refusal();
    expect(said).toMatch(/the server failed[^]*not a database/);
  });

  test('a service of other code is named, not used; equal code elsewhere uses it, and a new build restarts it', async () => {
    const { options } = service();
    const old = await ensureService(options);
    const own = options.code!;
    const ofOther = (other: Partial<CodeId>) => ensureService({ ...options, code: { ...own, ...other } });
    const refused = `runs everturn 1 from ${own.path}, not`;
    await expect(ofOther({ version: '2' })).rejects.toThrow(`${refused} 2 from ${own.path}.`);
    await expect(ofOther({ path: '/there', built: 'b' })).rejects.toThrow(
      `${refused} 1 from /there; their code differs.`,
    );
    expect(await ofOther({ path: '/there' })).toMatchObject({ started: false, address: old.address });
    const fresh = await ofOther({ built: 'b' });
    expect(fresh.started).toBe(true);
    expect(isAlive(old.state.supervisor)).toBe(false);
  });

  test('a wrong idle limit is the user’s error', async () => {
    const { options } = service({ EVERTURN_IDLE_MINUTES: 'soon' });
    await expect(ensureService(options)).rejects.toThrow('EVERTURN_IDLE_MINUTES is "soon"');
  });
});

async function occupy(port: number): Promise<void> {
  const server = createServer();
  // Taken by somebody else already is as good.
  await new Promise<void>((resolve) => server.once('error', () => resolve()).listen(port, '127.0.0.1', resolve));
  onTestFinished(() => void server.close());
}
