// The folders of a user that a variable may name: replaceable files are in the cache. Pure over the given environment.

import { homedir } from 'node:os';
import { isAbsolute, join, resolve } from 'node:path';

export type Environment = Readonly<Record<string, string | undefined>>;

/** Downloads and builds; may be deleted at any time. */
export function cacheFolder(env: Environment): string {
  return env['EVERTURN_CACHE']
    ? resolve(env['EVERTURN_CACHE'])
    : join(userFolder(env, 'XDG_CACHE_HOME', '.cache'), 'everturn');
}

/** The XDG rule: a relative path counts as unset. */
export function userFolder(env: Environment, name: string, fallback: string): string {
  const value = env[name];
  return value && isAbsolute(value) ? value : join(env['HOME'] || homedir(), fallback);
}
