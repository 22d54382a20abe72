// Processes that a test did not start itself, by what Linux says of them in /proc.

import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { identify } from '../../local/machine/process.ts';

/** A zombie is none. */
export const isPidAlive = (pid: number): boolean => identify(pid) !== undefined;

/** Every process below that one: judges, tokenizers, models. */
export function descendants(pid: number): number[] {
  return childrenOf(pid).flatMap((child) => [child, ...descendants(child)]);
}

export function childrenOf(pid: number): number[] {
  const tasks = existsSync(`/proc/${pid}/task`) ? readdirSync(`/proc/${pid}/task`) : [];
  return tasks.flatMap((task) => {
    try {
      return readFileSync(`/proc/${pid}/task/${task}/children`, 'utf8').split(' ').filter(Boolean).map(Number);
    } catch {
      return []; // It ended meanwhile.
    }
  });
}

/** Processes of Node whose command line has these words. */
export function pidsOf(words: string): number[] {
  const isOne = (pid: string) => {
    try {
      const line = readFileSync(`/proc/${pid}/cmdline`, 'utf8');
      return line.startsWith('node\0') && line.includes(words);
    } catch {
      return false;
    }
  };
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name) && isOne(name))
    .map(Number);
}

/** Processor seconds that these have taken, all threads; one that has ended counts as none. */
export function cpuSeconds(pids: readonly number[]): number {
  const TICKS = 100;
  return pids.reduce((sum, pid) => {
    try {
      // The fields behind the name, which may hold spaces and parentheses.
      const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').replace(/^.*\)/s, '').trim().split(' ');
      // Its own, and those of its children that have ended: a database's connections come and go.
      return sum + fields.slice(11, 15).reduce((ticks, field) => ticks + Number(field), 0) / TICKS;
    } catch {
      return sum;
    }
  }, 0);
}
