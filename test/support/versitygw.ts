// A real S3 server over a folder: versitygw (Apache-2.0), built once from Go modules into the cache, as a process that a
// test kills, freezes and starts again. Needs a file system with extended attributes.

import { type ChildProcess, spawn } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { AwsClient } from 'aws4fetch';
import { freePort } from '../../local/machine/ports.ts';
import { goBinaries } from './go-binaries.ts';
import { bucketEnvironment } from './s3-server.ts';

const MODULES = {
  folder: join(import.meta.dirname, '../real/bucket/versitygw'),
  name: 'versitygw-1.8.0',
  packages: { 'github.com/versity/versitygw/cmd/versitygw': 'versitygw' },
};

export interface Gateway {
  readonly url: string;
  readonly env: Readonly<Record<string, string>>;
  pid(): number | undefined;
  start(): Promise<void>;
  kill(): Promise<void>;
}

/** Serves `folder`, and makes the bucket `bucket` if it is not there. */
export async function openGateway(folder: string): Promise<Gateway> {
  const binary = join(await goBinaries(MODULES), 'versitygw');
  mkdirSync(join(folder, 'bucket'), { recursive: true });
  const port = await freePort([]);
  const url = `http://127.0.0.1:${port}`;
  let child: ChildProcess | undefined;
  let ended = Promise.resolve();
  const gateway: Gateway = {
    url,
    env: bucketEnvironment(url),
    pid: () => child?.pid,
    async start() {
      const args = ['--port', `127.0.0.1:${port}`, 'posix', folder];
      const life = spawn(binary, args, {
        env: { ...process.env, ROOT_ACCESS_KEY: 'test', ROOT_SECRET_KEY: 'testsecret' },
        stdio: 'ignore',
      });
      child = life;
      ended = new Promise((done) => life.once('exit', () => done()));
      const client = new AwsClient({ accessKeyId: 'test', secretAccessKey: 'testsecret', service: 's3', retries: 0 });
      const answers = () =>
        client.fetch(`${url}/bucket?list-type=2&max-keys=1`).then(
          ({ ok }) => ok,
          () => false,
        );
      while (!(await answers())) await sleep(50);
    },
    async kill() {
      if (child?.pid) process.kill(child.pid, 'SIGKILL');
      await ended;
      child = undefined;
    },
  };
  await gateway.start();
  return gateway;
}
