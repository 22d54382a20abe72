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
  return tasks.flatMap((task) => procFile(pid, `task/${task}/children`).split(' ').filter(Boolean).map(Number));
}

/** A file that Linux has of a process; empty of one that has ended, or is another user's. */
export function procFile(pid: number, name: string): string {
  try {
    return readFileSync(`/proc/${pid}/${name}`, 'latin1');
  } catch {
    return '';
  }
}

/** Its command line, a space between two words. */
export const commandOf = (pid: number): string => procFile(pid, 'cmdline').replaceAll('\0', ' ');

/** What stands in its `stat` behind the name, which may hold spaces and parentheses: its state first, then its parent. */
export const statOf = (pid: number): string[] => procFile(pid, 'stat').replace(/^.*\)/s, '').trim().split(' ');

export const parentOf = (pid: number): number => Number(statOf(pid)[1]);

export const allPids = (): number[] =>
  readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(Number);

/** Processes with that text in their command line. */
export const pidsWith = (text: string): number[] => allPids().filter((pid) => commandOf(pid).includes(text));

/** Those of Node. */
export const nodesWith = (text: string): number[] => pidsWith(text).filter((pid) => commandOf(pid).startsWith('node '));

/** Processor seconds that these have taken, all threads; one that has ended counts as none. */
export function cpuSeconds(pids: readonly number[]): number {
  const TICKS = 100;
  return pids.reduce((sum, pid) => {
    // Its own, and those of its children that have ended: a database's connections come and go.
    const fields = statOf(pid).slice(11, 15);
    return sum + fields.reduce((ticks, field) => ticks + Number(field), 0) / TICKS;
  }, 0);
}
