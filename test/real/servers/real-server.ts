// A real inference server on this machine: installed once into a cache folder, started on the tiny model, killed.

import { spawn, spawnSync, type ChildProcess } from 'node:child_process';
import { createWriteStream, mkdirSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { TINY_FOLDER } from '../../support/tiny.ts';
import { freePort } from '../../../local/machine/ports.ts';

export type RealKind = 'vllm' | 'sglang';

export interface RealServer {
  readonly url: string;
  /** Its parsed answer; throws where it is not 2xx. */
  call(method: 'GET' | 'POST', path: string, body?: unknown): Promise<unknown>;
  /** At once, as a crash would. */
  kill(): Promise<void>;
}

const CACHE = process.env['EVERTURN_SERVERS_CACHE'] ?? join(homedir(), '.cache', 'everturn', 'servers');
const PATIENCE_MS = 900_000;

export interface Start {
  readonly args?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
}

/**
 * The first or second of its kind. `EVERTURN_TEST_VLLM_URL`, `EVERTURN_TEST_SGLANG_URL`: one or two, with a comma, that
 * run already and are left running.
 */
export async function realServer(
  kind: RealKind,
  place: 1 | 2,
  { args = [], env = {} }: Start = {},
): Promise<RealServer> {
  const running = process.env[`EVERTURN_TEST_${kind.toUpperCase()}_URL`]?.split(',')[place - 1];
  if (running) return { url: running, call: caller(running), kill: async () => undefined };
  const here = import.meta.dirname;
  const installed = spawnSync(join(here, 'install.sh'), [kind, CACHE], { stdio: 'inherit' });
  if (installed.status !== 0) throw new Error(`${kind} could not be installed into ${CACHE}`);
  const port = await freePort([]);
  const log = join(CACHE, `${kind}-${place}.log`);
  mkdirSync(CACHE, { recursive: true });
  // A group of its own: both start processes that outlive them.
  const child = spawn(join(here, 'start.sh'), [kind, CACHE, TINY_FOLDER, String(port), ...args], {
    env: { ...process.env, ...env },
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const out = createWriteStream(log);
  child.stdout.pipe(out, { end: false });
  child.stderr.pipe(out, { end: false });
  const url = `http://127.0.0.1:${port}`;
  const call = caller(url);
  const kill = () => killGroup(child);
  // Nothing of it outlives the tests, however they end.
  process.once('exit', () => {
    if (child.exitCode === null && child.signalCode === null) process.kill(-child.pid!, 'SIGKILL');
  });
  for (const until = Date.now() + PATIENCE_MS; ; await sleep(1000)) {
    if (child.exitCode !== null) throw new Error(`${kind} ended with ${child.exitCode}; see ${log}`);
    if (await call('GET', '/v1/models').catch(() => null)) break;
    if (Date.now() < until) continue;
    await kill();
    throw new Error(`${kind} did not start; see ${log}`);
  }
  return { url, call, kill };
}

function caller(url: string): RealServer['call'] {
  return async (method, path, body) => {
    const init =
      body === undefined ? {} : { body: JSON.stringify(body), headers: { 'content-type': 'application/json' } };
    const answer = await fetch(`${url}${path}`, { method, ...init });
    const text = await answer.text();
    if (!answer.ok) throw new Error(`${path}: ${answer.status} ${text.slice(0, 300)}`);
    try {
      return JSON.parse(text) as unknown;
    } catch {
      return text;
    }
  };
}

async function killGroup(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const gone = new Promise((resolve) => child.once('exit', resolve));
  process.kill(-child.pid!, 'SIGKILL');
  await gone;
}
