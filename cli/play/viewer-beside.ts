// The viewer beside the local service: a demo on a terminal starts one in the background, as the service is, so that the run's
// page has an address beside Temporal's. It ends with the service. One that already shows this folder is taken. Without one
// nothing is lost: the caller names the command.

import { spawn } from 'node:child_process';
import { closeSync, openSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { packageRoot } from '../../local/machine/package-root.ts';
import { hasUi, homeOf } from '../../local/service/home.ts';
import type { Environment } from '../../local/machine/user-folders.ts';
import { liveState } from '../../local/service/state.ts';
import { isOnDisk } from '../../records/place.ts';

const START_WITHIN_MS = 20_000;
const ANSWER_WITHIN_MS = 5_000;
const LOOK_MS = 100;
const SERVICE_LOOK_MS = 2_000;

/** The address of the page of these runs; null if no viewer may be or could be started. */
export async function viewerBeside(env: Environment, out: string, runs: readonly string[]): Promise<string | null> {
  if (!hasUi(env) || !isOnDisk(out) || !serviceLives(env)) return null;
  const url = (await addressOf(env, out)) ?? (await startedFor(env, out));
  return url && `${url}${pageOf(runs)}`;
}

/** All runs without a name; several in one table. */
export function pageOf(runs: readonly string[]): string {
  const path = runs.map(encodeURIComponent).join('/');
  return runs.length === 0 ? '#/' : runs.length === 1 ? `#/run/${path}` : `#/several/${path}`;
}

export const evaluationPageOf = (name: string): string => `#/eval/${encodeURIComponent(name)}`;

/** Resolves when the local service of this user has ended. */
export async function serviceEnd(env: Environment, signal: AbortSignal): Promise<void> {
  while (!signal.aborted && serviceLives(env)) await sleep(SERVICE_LOOK_MS, undefined, { signal }).catch(() => {});
}

function serviceLives(env: Environment): boolean {
  try {
    return liveState(homeOf(env)) !== undefined;
  } catch {
    return false; // It lives on another machine.
  }
}

const logOf = (env: Environment): string => join(homeOf(env).logs, 'viewer.log');

async function startedFor(env: Environment, out: string): Promise<string | null> {
  const log = openSync(logOf(env), 'w', 0o600);
  const entry = join(packageRoot(), 'dist', 'cli', 'index.js');
  const args = [entry, 'view', '--out', out, '--no-open', '--json', '--with-service'];
  const child = spawn(process.execPath, args, { detached: true, stdio: ['ignore', log, log], env: { ...env } });
  closeSync(log);
  let over = false;
  for (const event of ['error', 'exit']) child.once(event, () => (over = true));
  child.unref();
  for (const until = Date.now() + START_WITHIN_MS; Date.now() < until && !over; await sleep(LOOK_MS)) {
    const url = await addressOf(env, out);
    if (url !== null) return url;
  }
  return null;
}

/** The address of a viewer that its log names, that answers, and that shows this folder. */
async function addressOf(env: Environment, out: string): Promise<string | null> {
  try {
    const { url } = JSON.parse(readFileSync(logOf(env), 'utf8').split('\n')[0]!) as { readonly url: string };
    const reply = await fetch(`${url}api/runs`, { signal: AbortSignal.timeout(ANSWER_WITHIN_MS) });
    return ((await reply.json()) as { readonly folder?: unknown }).folder === out ? url : null;
  } catch {
    return null;
  }
}
