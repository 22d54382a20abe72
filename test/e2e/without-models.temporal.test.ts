// The installation of the image `worker`, without what runs a model in the worker itself: a copy of the built one, less the
// packages that the Dockerfile takes out. It plays models of servers; a rollout of an embedded one waits, and loses nothing.

import { cpSync, mkdirSync, readdirSync, readFileSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { ROOT } from '../house/tree.ts';
import { type Cluster, openCluster } from '../support/cluster.ts';
import { type ModelServer, modelServer } from '../support/model-server.ts';
import { scratchFolder } from '../support/scratch-folder.ts';
import { until } from '../support/until.ts';

const DATA = join(ROOT, 'examples/arithmetic.jsonl');
const WITHOUT = /rm -rf (.+)\n/
  .exec(readFileSync(join(ROOT, 'Dockerfile'), 'utf8').split(' AS build-without-models\n')[1]!)![1]!
  .split(' ');

/** Every package that is left is a link, and finds its own ones where it really is. */
function install(app: string): void {
  for (const name of ['dist', 'package.json']) cpSync(join(ROOT, name), join(app, name), { recursive: true });
  const scopes = ['', ...readdirSync(join(ROOT, 'node_modules')).filter((name) => name.startsWith('@'))];
  for (const scope of scopes.filter((name) => !WITHOUT.includes(name))) {
    mkdirSync(join(app, 'node_modules', scope), { recursive: true });
    for (const name of readdirSync(join(ROOT, 'node_modules', scope)).filter((one) => !/^[.@]/.test(one))) {
      const path = join(scope, name);
      if (!WITHOUT.includes(path)) symlinkSync(join(ROOT, 'node_modules', path), join(app, 'node_modules', path));
    }
  }
}

const app = scratchFolder();
let cluster: Cluster;
let server: ModelServer;
beforeAll(async () => {
  install(app);
  cluster = await openCluster('without-models');
  server = await modelServer({ kind: 'sglang', length: 2048 });
});
afterAll(async () => {
  await cluster.close();
  await server.close();
});

const run = (...args: string[]) =>
  cluster.everturn.mustCall('run', DATA, '--limit', '3', '--num-turns', '2', '--max-new-tokens', '16', ...args);

describe('an installation without embedded models', { timeout: 600_000 }, () => {
  test('plays a model on a server with its exact tokens, and lets a rollout of an embedded one wait for another worker', async () => {
    const { everturn } = cluster;
    const worker = cluster.keep(everturn.startFrom(app, 'worker'));
    await run('--name', 'served', '--model', `sglang:${server.url}`, '--tokenizer', join(ROOT, 'models/tiny'));
    await everturn.mustCall('check', 'served');

    await run('--name', 'embedded', '--model', 'tiny', '--detach');
    const said = await until('a reason', async () => {
      const text = await everturn.mustCall('why', 'embedded', 'arith-0001');
      return text.includes('no-embedded-models') && text;
    });
    expect(said).toContain('A worker of the image worker-cpu');
    // `status` waits half a second for the server, which a busy machine may need more often than once.
    await until(
      'a status that says so',
      async () => {
        const status = await everturn.mustCall('status', 'embedded', '--json');
        return (JSON.parse(status) as { waitingFor: string | null }).waitingFor?.includes('worker-cpu');
      },
      180_000,
    );
    const refused = await everturn.startFrom(app, 'run', DATA, '--name', 'here', '--model', 'tiny').ended;
    expect(refused).toMatchObject({ code: 5, stderr: expect.stringContaining('worker-cpu') });
    expect(worker.output()).not.toMatch(/Cannot find|ERR_MODULE_NOT_FOUND/);

    // Replaced, as an operator does: beside it, each turn would have to find the other one by chance.
    worker.child.kill('SIGTERM');
    expect(await worker.ended).toMatchObject({ code: 0 });
    cluster.keep(everturn.start('worker'));
    await everturn.mustCall('status', 'embedded', '--follow');
    await everturn.mustCall('check', 'embedded');
  });
});
