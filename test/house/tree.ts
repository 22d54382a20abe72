// The repository's own files, as a clean checkout has them.

import { readdirSync } from 'node:fs';
import { join } from 'node:path';

export const ROOT = join(import.meta.dirname, '../..');

/** What `.gitignore` names, and git's own folder. */
const NOT_OURS = new Set(['.git', 'node_modules', 'dist', 'runs', 'coverage', '__pycache__', '.env']);

export const ROOMS = [
  'activities',
  'cli',
  'client/feed',
  'client/temporal',
  'domain',
  'endpoint',
  'environments',
  'formats',
  'inference',
  'library',
  'local/machine',
  'local/metrics',
  'local/permissions',
  'local/service',
  'packages/judge',
  'packages/sandbox',
  'records',
  'records/check',
  'run',
  'viewer',
  'workflows',
];

/** Whether a file belongs to the tests, of the root or of a package. */
export const isOfTests = (path: string): boolean => /^(?:packages\/[^/]+\/)?test\//.test(path);

/** Paths relative to the root, with `/`, sorted. */
export function filesUnder(folder = '.'): string[] {
  return readdirSync(join(ROOT, folder), { withFileTypes: true })
    .filter((entry) => !NOT_OURS.has(entry.name) && !entry.name.endsWith('.tsbuildinfo'))
    .flatMap((entry) => {
      const path = folder === '.' ? entry.name : `${folder}/${entry.name}`;
      return entry.isDirectory() ? filesUnder(path) : [path];
    })
    .toSorted();
}

export function sources(): string[] {
  return filesUnder().filter((path) => /\.(?:tsx?|js|mjs)$/.test(path));
}
