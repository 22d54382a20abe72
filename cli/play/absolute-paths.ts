// The folders of a run's model with absolute paths: workers run elsewhere.

import { existsSync } from 'node:fs';
import { homedir } from 'node:os';
import { join, resolve } from 'node:path';
import { parseModelSpec } from '../../inference/index.ts';
import type { RunOptions } from '../../run/options.ts';

/** Options with absolute folders. A name that is not a folder here stays unchanged: a hub id. */
export function withAbsolutePaths(options: RunOptions, cwd: string): RunOptions {
  const { scheme, files } = parseModelSpec(options.model);
  return {
    ...options,
    model: files === null ? options.model : `${scheme}:${absolute(files, cwd)}`,
    tokenizer: options.tokenizer && absolute(options.tokenizer, cwd),
  };
}

function absolute(path: string, cwd: string): string {
  if (path === '~' || path.startsWith('~/')) return join(homedir(), path.slice(1));
  return /^\.{0,2}\//.test(path) || /^\.{1,2}$/.test(path) || existsSync(resolve(cwd, path))
    ? resolve(cwd, path)
    : path;
}
