// Identifies a process by pid and start time, so that a later process with the same pid is not mistaken for it.
// Works on Linux (/proc) and, by `ps`, elsewhere on Unix.

import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { readdir, readFile } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';

export interface ProcessId {
  readonly pid: number;
  /** Opaque; unique to the process. Clock ticks since boot on Linux. */
  readonly startTime: string;
}

/** Undefined if there is no such process, or only a zombie. */
export function identify(pid: number): ProcessId | undefined {
  const startTime = process.platform === 'linux' ? startTimeFromProc(pid) : startTimeFromPs(pid);
  return startTime === undefined ? undefined : { pid, startTime };
}

export function isAlive(id: ProcessId): boolean {
  return identify(id.pid)?.startTime === id.startTime;
}

/** True once the process is gone; false if it still exists after `timeoutMs`. */
export async function waitUntilGone(id: ProcessId, timeoutMs: number): Promise<boolean> {
  const deadline = Date.now() + timeoutMs;
  while (isAlive(id)) {
    if (Date.now() > deadline) return false;
    await sleep(25);
  }
  return true;
}

/** SIGTERM, then SIGKILL after `graceMs`. Resolves when the process is gone. */
export async function terminate(id: ProcessId, graceMs: number): Promise<void> {
  if (graceMs > 0 && signal(id, 'SIGTERM') && (await waitUntilGone(id, graceMs))) return;
  signal(id, 'SIGKILL');
  await waitUntilGone(id, 5_000);
}

/** False when that process no longer exists. */
export function signal(id: ProcessId, name: NodeJS.Signals): boolean {
  if (!isAlive(id)) return false;
  try {
    process.kill(id.pid, name);
    return true;
  } catch {
    return false;
  }
}

function startTimeFromProc(pid: number): string | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
    // The command name may hold spaces and parentheses: fields are counted from its last ')'.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    return fields[0] === 'Z' || fields[0] === 'X' ? undefined : fields[19];
  } catch {
    return undefined;
  }
}

function startTimeFromPs(pid: number): string | undefined {
  try {
    const out = execFileSync('ps', ['-o', 'stat=,lstart=', '-p', String(pid)], { encoding: 'utf8' }).trim();
    return out === '' || out.startsWith('Z') ? undefined : out.replace(/^\S+\s+/, '');
  } catch {
    return undefined;
  }
}

/** Processes whose environment, as they were started, has this variable with this value. */
export async function processesWith(name: string, value: string): Promise<readonly ProcessId[]> {
  const found = process.platform === 'linux' ? await inProc(`${name}=${value}`) : inPs(`${name}=${value}`);
  return found.flatMap((pid) => identify(pid) ?? []);
}

/** One of another user is not readable, and one that has just ended is not there. */
async function inProc(variable: string): Promise<readonly number[]> {
  const wanted = Buffer.from(`\0${variable}\0`);
  const names = (await readdir('/proc')).filter((name) => /^\d+$/.test(name));
  const found: number[] = [];
  for (const name of names) {
    const environment = await readFile(`/proc/${name}/environ`).catch(() => undefined);
    if (environment && Buffer.concat([NUL, environment]).includes(wanted)) found.push(Number(name));
  }
  return found;
}

const NUL = Buffer.of(0);

function inPs(variable: string): readonly number[] {
  try {
    const out = execFileSync('ps', ['-axwwE', '-o', 'pid=,command='], { encoding: 'utf8', maxBuffer: 2 ** 28 });
    return out.split('\n').flatMap((line) => (line.includes(` ${variable}`) ? [Number.parseInt(line, 10)] : []));
  } catch {
    return [];
  }
}
