// The installation of the image `worker`, without what runs a model in the worker itself: a copy of the built one, less the
// packages that the Dockerfile takes out. It plays models of servers; a rollout of an embedded one waits, and loses nothing.

import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Connection } from '@temporalio/client';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { ROOT } from '../house/tree.ts';
import { type Everturn, openEverturn, type Running } from '../support/everturn.ts';
import { type ModelServer, modelServer } from '../support/model-server.ts';
import { openNamespace } from '../support/namespace.ts';
import { until } from '../support/until.ts';

const DATA = join(ROOT, 'examples/arithmetic.jsonl');
const WITHOUT = /rm -rf (.+)\n/
  .exec(readFileSync(join(ROOT, 'Dockerfile'), 'utf8').split(' AS build-without-models\n')[1]!)![1]!
  .split(' ');

/** Every package that is left is a link, and finds its own ones where it really is. */
function installed(): string {
  const app = mkdtempSync(join(tmpdir(), 'everturn-app-'));
  for (const name of ['dist', 'package.json']) cpSync(join(ROOT, name), join(app, name), { recursive: true });
  const scopes = ['', ...readdirSync(join(ROOT, 'node_modules')).filter((name) => name.startsWith('@'))];
  for (const scope of scopes.filter((name) => !WITHOUT.includes(name))) {
    mkdirSync(join(app, 'node_modules', scope), { recursive: true });
    for (const name of readdirSync(join(ROOT, 'node_modules', scope)).filter((one) => !/^[.@]/.test(one))) {
      const path = join(scope, name);
      if (!WITHOUT.includes(path)) symlinkSync(join(ROOT, 'node_modules', path), join(app, 'node_modules', path));
    }
  }
  return app;
}

let connection: Connection;
let app: string;
let everturn: Everturn;
let server: ModelServer;
const workers: Running[] = [];

beforeAll(async () => {
  const address = inject('temporalAddress');
  const namespace = `without-models-${process.pid}-${Date.now()}`;
  connection = await Connection.connect({ address });
  await openNamespace(connection, namespace);
  app = installed();
  server = await modelServer({ kind: 'sglang', length: 2048 });
  everturn = openEverturn({ TEMPORAL_ADDRESS: address, TEMPORAL_NAMESPACE: namespace });
});
afterAll(async () => {
  for (const { child } of workers) child.kill('SIGKILL');
  await everturn.close();
  await server.close();
  await connection.close();
  rmSync(app, { recursive: true, force: true });
});

const run = (...args: string[]) =>
  everturn.run('run', DATA, '--limit', '3', '--num-turns', '2', '--max-new-tokens', '16', ...args);

describe('an installation without embedded models', { timeout: 600_000 }, () => {
  test('plays a model on a server with its exact tokens, and lets a rollout of an embedded one wait for another worker', async () => {
    const worker = everturn.startFrom(app, 'worker');
    workers.push(worker);
    const ofServer = ['--model', `sglang:${server.url}`, '--tokenizer', join(ROOT, 'models/tiny')];
    const served = await run('--name', 'served', ...ofServer);
    expect(served.code, served.stderr).toBe(0);
    expect((await everturn.run('check', 'served')).code).toBe(0);

    const begun = await run('--name', 'embedded', '--model', 'tiny', '--detach');
    expect(begun.code, begun.stderr).toBe(0);
    const why = async () => (await everturn.run('why', 'embedded', 'arith-0001')).stdout;
    const said = await until('a reason', async () => {
      const text = await why();
      return text.includes('no-embedded-models') ? text : undefined;
    });
    expect(said).toContain('A worker of the image worker-cpu');
    // `status` waits half a second for the server, which a busy machine may need more often than once.
    await until(
      'a status that says so',
      async () => {
        const status = await everturn.run('status', 'embedded', '--json');
        return (JSON.parse(status.stdout) as { waitingFor: string | null }).waitingFor?.includes('worker-cpu');
      },
      180_000,
    );
    const refused = await everturn.startFrom(app, 'run', DATA, '--name', 'here', '--model', 'tiny').ended;
    expect(refused).toMatchObject({ code: 5, stderr: expect.stringContaining('worker-cpu') });
    expect(worker.output()).not.toMatch(/Cannot find|ERR_MODULE_NOT_FOUND/);

    // Replaced, as an operator does: beside it, each turn would have to find the other one by chance.
    worker.child.kill('SIGTERM');
    expect(await worker.ended).toMatchObject({ code: 0 });
    workers.push(everturn.start('worker'));
    expect((await everturn.run('status', 'embedded', '--follow')).code).toBe(0);
    const checked = await everturn.run('check', 'embedded', '--json');
    expect(checked.code, checked.stdout).toBe(0);
  });
});
