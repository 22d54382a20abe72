// The interface of a sandbox: it turns a command into one that runs isolated. `bubblewrap.ts` isolates; without one, only the
// limits are applied. Neither decides whether it works: `canary.ts` proves it. Each limit is enforced by the kernel or from
// outside, never by the program's own process.

import { readFileSync } from 'node:fs';

export interface Launch {
  readonly file: string;
  readonly args: readonly string[];
  /** Set if this process is root: an unprivileged user to become first. */
  readonly uid?: number;
  /** Read by the launched command from file descriptor 3. */
  readonly extra?: Buffer;
  /** True if its only child is the program, which can be observed from outside. */
  readonly watch?: boolean;
  /** True if only a count from outside limits the files of its writable folder. */
  readonly countFiles?: boolean;
}

export interface Sandbox {
  readonly name: string;
  /** True if the kernel does not count files, as in its launches. */
  readonly countsFiles: boolean;
  /** `folders`: readable, read-only folders that the command needs besides /usr. */
  launch(command: readonly string[], folders: readonly string[], limits: CodeLimits): Launch;
}

/** Limits that each process sets on itself, applied by the last trusted program before the command. */
export function limitCommand(prlimit: string, command: readonly string[], limits: CodeLimits): string[] {
  const { memoryBytes, cpuSeconds, diskBytes, openFiles, threads } = limits;
  const wanted: readonly (readonly [flag: string, name: string, value: number])[] = [
    ['as', 'address space', memoryBytes],
    ['cpu', 'cpu time', cpuSeconds],
    ['fsize', 'file size', diskBytes],
    ['nofile', 'open files', openFiles],
    ['stack', 'stack size', Math.min(memoryBytes >> 3, 64 * 1024 * 1024)],
    ['core', 'core file size', 0],
    ['memlock', 'locked memory', 0],
    ['msgqueue', 'msgqueue size', 0],
    ['sigpending', 'pending signals', 64],
    ['nproc', 'processes', threads],
  ];
  const flags = wanted.map(([flag, name, value]) => `--${flag}=${Math.min(value, hardLimit(name))}`);
  return [prlimit, ...flags, ...command];
}

let ownLimits: string | undefined;

/** The hard limits of this process, which it cannot raise for a child. */
function hardLimit(name: string): number {
  ownLimits ??= readFileSync('/proc/self/limits', 'latin1');
  const [, value] = new RegExp(`^Max ${name} +\\S+ +(\\d+)`, 'm').exec(ownLimits) ?? [];
  return value === undefined ? Number.POSITIVE_INFINITY : Number(value);
}

export interface CodeLimits {
  /** Per case, from the start of the program. */
  readonly wallMs: number;
  /** Processor time per case, all threads together. */
  readonly cpuSeconds: number;
  /** Address space of the program's only process. */
  readonly memoryBytes: number;
  /** Printed by one case, on each of both streams. */
  readonly outputBytes: number;
  /** The writable folder `/tmp`, which is a tmpfs and deleted after the case. */
  readonly diskBytes: number;
  /** Files and folders in `/tmp`; if the kernel cannot limit them, they are counted every COUNT_MS. */
  readonly files: number;
  readonly openFiles: number;
  readonly threads: number;
  /** All cases of one program together. */
  readonly programWallMs: number;
}

const MIB = 1024 * 1024;

export const DEFAULT_LIMITS: CodeLimits = {
  wallMs: 12_000,
  cpuSeconds: 6,
  memoryBytes: 512 * MIB,
  outputBytes: 8 * MIB,
  diskBytes: 16 * MIB,
  files: 1000,
  openFiles: 64,
  threads: 16,
  programWallMs: 60_000,
};

/** No right output is much longer than the expected one: the rest is not read. */
export function outputLimit(expectedBytes: number, { outputBytes }: CodeLimits): number {
  return Math.min(outputBytes, 64 * 1024 + 16 * expectedBytes);
}

/** A sandbox that has not started by then is broken, or the machine is: not the program's fault. */
export const START_LIMIT_MS = 30_000;

/** Interval of the observation from outside; shorter if files must be counted. */
export const WATCH_MS = 100;
export const COUNT_MS = 25;

/**
 * The limit of a program that the machine gives no processor: it is waited for as long as it gets a fiftieth of its time, since
 * another try would begin again. Below the half hour of an activity.
 */
export const mostElapsedMs = (wallMs: number): number => Math.max(wallMs, Math.min(50 * wallMs, 28 * 60_000));
