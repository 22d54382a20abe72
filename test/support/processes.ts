// Processes that a test did not start itself, by what Linux says of them in /proc.

import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { identify } from '../../machine/process.ts';

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
