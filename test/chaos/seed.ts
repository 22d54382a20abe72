// The seed of a chaos test: CHAOS_SEED, or a new one. One stream of numbers follows from it, and one command repeats it.

import { createHash } from 'node:crypto';
import { relative } from 'node:path';

export const SEED = Number(process.env['CHAOS_SEED'] ?? Math.floor(Math.random() * 1e9));

export type Random = () => number;

/** Numbers in [0, 1) that follow from the seed and a name. */
export function randomOf(name: string, seed = SEED): Random {
  let n = 0;
  return () =>
    Number.parseInt(createHash('sha256').update(`${seed}/${name}/${n++}`).digest('hex').slice(0, 8), 16) / 2 ** 32;
}

/** The command that repeats a test file with this seed. */
export function commandOf(file: string): string {
  const size = process.env['EVERTURN_CHAOS'];
  const project = /\.(bucket|cluster)\.ts$/.exec(file)?.[1] ?? 'chaos';
  return `CHAOS_SEED=${SEED} ${size ? `EVERTURN_CHAOS=${size} ` : ''}npx vitest run --project ${project} ${relative(process.cwd(), file)}`;
}
