// A real S3 server over a folder: versitygw (Apache-2.0), built once from Go modules into the cache, as a process that a
// test kills, freezes and starts again. Needs a file system with extended attributes.

import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { copyFileSync, existsSync, mkdirSync, mkdtempSync, renameSync, rmSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { AwsClient } from 'aws4fetch';
import { freePort } from '../../machine/ports.ts';
import { bucketEnvironment } from './s3-server.ts';

const VERSION = '1.8.0';
const PACKAGE = 'github.com/versity/versitygw/cmd/versitygw';

/** Minutes the first time; needs Go. */
async function gatewayBinary(): Promise<string> {
  const cache = process.env['EVERTURN_CACHE'] ?? join(homedir(), '.cache', 'everturn');
  const folder = join(cache, `versitygw-${VERSION}`);
  const path = join(folder, 'versitygw');
  if (existsSync(path)) return path;
  mkdirSync(folder, { recursive: true });
  const work = mkdtempSync(join(folder, 'build-'));
  try {
    for (const name of ['go.mod', 'go.sum'])
      copyFileSync(join(import.meta.dirname, '../bucket/versitygw', name), join(work, name));
    const env = { ...process.env, CGO_ENABLED: '0', GOFLAGS: '' };
    const flags = ['build', '-trimpath', '-ldflags', '-s -w', '-o', join(work, 'versitygw'), PACKAGE];
    await promisify(execFile)('go', flags, { cwd: work, env });
    renameSync(join(work, 'versitygw'), path);
  } finally {
    rmSync(work, { recursive: true, force: true });
  }
  return path;
}

export interface Gateway {
  readonly url: string;
  readonly env: Readonly<Record<string, string>>;
  pid(): number | undefined;
  start(): Promise<void>;
  kill(): Promise<void>;
}

/** Serves `folder`, and makes the bucket `bucket` if it is not there. */
export async function openGateway(folder: string): Promise<Gateway> {
  const binary = await gatewayBinary();
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
