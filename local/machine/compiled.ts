// Scripts of child processes and threads. Node 20 runs no TypeScript, so a source checkout uses the script in dist/.

import { existsSync } from 'node:fs';
import { join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { EverturnError } from '../../domain/errors/errors.ts';
import { packageRoot } from './package-root.ts';

/** An error class of the caller's boundary. */
type NotBuilt = new (message: string, details: { reason: 'not-built'; fix: string }) => EverturnError;

/**
 * Path of the compiled script `name` ("./child"), relative to the module at `from` (its `import.meta.url`).
 * Throws `Kind`, reason `not-built`, if it does not exist.
 */
export function compiledScript(name: string, from: string, Kind: NotBuilt): string {
  const wanted = fileURLToPath(new URL(`${name}.js`, from));
  const path = from.endsWith('.ts') ? join(packageRoot(), 'dist', relative(packageRoot(), wanted)) : wanted;
  if (existsSync(path)) return path;
  throw new Kind(`A part of Everturn is not built (${path})`, { reason: 'not-built', fix: 'Run `npm run build`.' });
}
