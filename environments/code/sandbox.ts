// What a sandbox is: a way to turn a command into one that runs locked up. `bubblewrap.ts` is the one that holds;
// `unsafe.ts` only keeps the limits. Neither decides whether it works: `canary.ts` proves it.

import type { CodeLimits } from './limits.ts';

export interface Launch {
  readonly file: string;
  readonly args: readonly string[];
  /** Given when this process is root: an unprivileged user to become before anything else. */
  readonly uid?: number;
  /** Read by the launched command from file descriptor 3. */
  readonly extra?: Buffer;
  /** True when its writable folder can be counted from outside. */
  readonly watch?: boolean;
}

export interface Sandbox {
  readonly name: string;
  /** `folders`: what the command needs beside /usr, readable and not writable. */
  launch(command: readonly string[], folders: readonly string[], limits: CodeLimits): Launch;
}

/** Limits that every process keeps for itself, set by the last trusted program before the command. */
export function limited(prlimit: string, command: readonly string[], limits: CodeLimits): string[] {
  const { memoryBytes, cpuSeconds, diskBytes, openFiles, threads } = limits;
  return [
    prlimit,
    `--as=${memoryBytes}`,
    `--cpu=${cpuSeconds}`,
    `--fsize=${diskBytes}`,
    `--nofile=${openFiles}`,
    `--stack=${Math.min(memoryBytes >> 3, 64 * 1024 * 1024)}`,
    '--core=0',
    '--memlock=0',
    '--msgqueue=0',
    '--sigpending=64',
    `--nproc=${threads}`,
    ...command,
  ];
}
