// Programs for child processes and threads: Node runs no TypeScript, so from source it is the one in dist/.

import { existsSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

import { ModelError } from '../domain/errors.ts';
import { packageRoot } from './package-root.ts';

/** Path of `inference/<name>.js`. */
export function compiledEntry(name: string, log: (line: string) => void): string {
  const here = fileURLToPath(import.meta.url);
  const compiled = here.endsWith('.ts')
    ? join(packageRoot(), 'dist', 'inference', `${name}.js`)
    : fileURLToPath(new URL(`./${name}.js`, import.meta.url));
  if (!existsSync(compiled)) {
    throw new ModelError(`A part of Everturn is not built (${compiled})`, {
      reason: 'not-built',
      fix: 'Run `npm run build`.',
    });
  }
  if (
    here.endsWith('.ts') &&
    statSync(here.replace(/compiled-entry\.ts$/, `${name}.ts`)).mtimeMs > statSync(compiled).mtimeMs
  ) {
    log(`The built ${name}.js is older than its source: \`npm run build\`.`);
  }
  return compiled;
}
