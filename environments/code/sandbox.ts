// What a sandbox is: a way to turn a command into one that runs locked up. `bubblewrap.ts` is the one that holds;
// `unsafe.ts` only keeps the limits. Neither decides whether it works: `canary.ts` proves it.

import { readFileSync } from 'node:fs';
import type { CodeLimits } from './limits.ts';

export interface Launch {
  readonly file: string;
  readonly args: readonly string[];
  /** Given when this process is root: an unprivileged user to become before anything else. */
  readonly uid?: number;
  /** Read by the launched command from file descriptor 3. */
  readonly extra?: Buffer;
  /** True when its only child is the program, which can be looked at from outside. */
  readonly watch?: boolean;
  /** True when nothing but a count from outside bounds the files of its writable folder. */
  readonly countFiles?: boolean;
}

export interface Sandbox {
  readonly name: string;
  /** As its launches say: true where the kernel does not count files. */
  readonly countsFiles: boolean;
  /** `folders`: what the command needs beside /usr, readable and not writable. */
  launch(command: readonly string[], folders: readonly string[], limits: CodeLimits): Launch;
}

/** Limits that every process keeps for itself, set by the last trusted program before the command. */
export function limited(prlimit: string, command: readonly string[], limits: CodeLimits): string[] {
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

/** What this process may not exceed, and so cannot give. */
function hardLimit(name: string): number {
  ownLimits ??= readFileSync('/proc/self/limits', 'latin1');
  const [, value] = new RegExp(`^Max ${name} +\\S+ +(\\d+)`, 'm').exec(ownLimits) ?? [];
  return value === undefined ? Number.POSITIVE_INFINITY : Number(value);
}
