import { createServer } from 'node:net';
import { once } from 'node:events';
import { statSync } from 'node:fs';
import { describe, expect, onTestFinished, test } from 'vitest';
import { isServing, startDevServer, type DevServer, type DevServerOptions } from '../../../local/service/dev-server.ts';
import { isAlive } from '../../../local/machine/process.ts';
import { fakeTemporal, openWorkflowIds, program, serverIn, startWorkflow } from './support.ts';
import { listeningOf } from '../../support/listening-ports.ts';
import { testFolder } from '../../support/scratch-folder.ts';

async function started(wanted: DevServerOptions): Promise<DevServer> {
  const server = await startDevServer(wanted);
  onTestFinished(() => server.stop());
  return server;
}

describe('the development server', () => {
  test('serves clients and the UI on loopback only, and what it knew outlives kill -9', async () => {
    const wanted = await serverIn(testFolder());
    const server = await started(wanted);
    expect((await fetch(server.uiAddress!)).status).toBe(200);
    const listening = listeningOf([server.id.pid]);
    expect(listening.length).toBeGreaterThan(0);
    expect(listening.filter(({ isLoopback }) => !isLoopback)).toEqual([]);
    await startWorkflow(server.address, 'kept');

    process.kill(server.id.pid, 'SIGKILL');
    expect(await server.exited).toBe('killed by signal 9');

    const again = await started(wanted);
    expect(again.address).toBe(server.address);
    expect(await openWorkflowIds(again.address)).toEqual(['kept']);
    await again.stop();
    expect(isAlive(again.id)).toBe(false);
    expect(await isServing(again.address)).toBe(false);
    expect(statSync(wanted.logFile).size).toBeGreaterThan(0);
  });

  test('refuses a port on which somebody listens, instead of taking them for the server', async () => {
    const wanted = await serverIn(testFolder());
    const stranger = createServer().listen(wanted.port, '127.0.0.1');
    onTestFinished(() => void stranger.close());
    await once(stranger, 'listening');
    await expect(startDevServer(wanted)).rejects.toThrow(`Port ${wanted.port} on 127.0.0.1 is taken`);
  });

  test('shows the end of its own log when the server dies at the start', async () => {
    const folder = testFolder();
    const binary = program(folder, 'temporal', 'echo "disk is full" >&2; exit 4');
    const start = startDevServer(await serverIn(folder, { binary }));
    await expect(start).rejects.toThrow(/ended with exit code 4[^]*disk is full/);
  });

  test('gives up on a server that never serves, and leaves no process', async () => {
    const folder = testFolder();
    const binary = program(folder, 'temporal', 'exec sleep 600');
    const spawned: { pid: number; startTime: string }[] = [];
    const wanted = await serverIn(folder, { binary, readyWithinMs: 300, onSpawned: (id) => spawned.push(id) });
    await expect(startDevServer(wanted)).rejects.toThrow(/did not answer SERVING within 0\.3 s/);
    expect(spawned.map(isAlive)).toEqual([false]);
  });

  test('is not waited for any longer once the caller stops', async () => {
    const folder = testFolder();
    const binary = fakeTemporal(folder);
    program(folder, 'temporal', 'exec sleep 600');
    const start = startDevServer(await serverIn(folder, { binary, signal: AbortSignal.timeout(200) }));
    await expect(start).rejects.toThrow(/did not answer/);
  });
});
