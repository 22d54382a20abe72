// The environment variables that a local service was started with, as its state tells them: a digest of each value, by which
// a command knows whether the service has the same. Nobody reads a value out of a digest of 32 bits of a salted hash.

import { createHash, randomBytes } from 'node:crypto';
import type { Environment } from '../machine/user-folders.ts';

export interface Variables {
  readonly salt: string;
  /** The digest of each variable's value, by its name. */
  readonly digests: Readonly<Record<string, string>>;
}

export function variablesOf(env: Environment, salt = randomBytes(16).toString('hex')): Variables {
  const set = Object.entries(env).flatMap(([name, value]) => (value ? [[name, digestOf(value, salt)] as const] : []));
  return { salt, digests: Object.fromEntries(set) };
}

/** Whether the service has this value of a variable, another one, or none. */
export function heldAs({ salt, digests }: Variables, name: string, value: string): 'same' | 'another' | 'none' {
  const digest = Object.hasOwn(digests, name) ? digests[name] : undefined;
  if (digest === undefined) return 'none';
  return digest === digestOf(value, salt) ? 'same' : 'another';
}

const digestOf = (value: string, salt: string): string =>
  createHash('sha256').update(`${salt}\0${value}`).digest('hex').slice(0, 8);
