// The interface of a sandbox: it turns a command into one that runs isolated. `bubblewrap.ts` isolates; `unsafe.ts` only
// applies the limits. Neither decides whether it works: `canary.ts` proves it.

import { readFileSync } from 'node:fs';
import type { CodeLimits } from './limits.ts';

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
