// The built command line as three releases of it would be: the one before this, this, and the one after, which
// differ by their workflows. Each is a copy of dist/ with another bundle.

import { cpSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { alteredBundle, type Alteration } from '../support/altered-bundle.ts';
import { NEXT_RELEASE, PREVIOUS_RELEASE } from '../support/releases.ts';

const ROOT = join(import.meta.dirname, '../..');

export type Release = 'previous' | 'current' | 'next';

const ALTERATIONS: Readonly<Record<Release, readonly Alteration[]>> = {
  previous: PREVIOUS_RELEASE,
  current: [],
  next: NEXT_RELEASE,
};

/** Path of each release's command line, below that folder. */
export async function buildReleases(folder: string): Promise<Readonly<Record<Release, string>>> {
  const bins = { previous: '', current: '', next: '' };
  for (const release of ['previous', 'current', 'next'] as const) {
    const home = join(folder, release);
    mkdirSync(home, { recursive: true });
    cpSync(join(ROOT, 'dist'), join(home, 'dist'), { recursive: true });
    cpSync(join(ROOT, 'package.json'), join(home, 'package.json'));
    for (const name of ['node_modules', 'models']) symlinkSync(join(ROOT, name), join(home, name));
    writeFileSync(join(home, 'dist/workflow-bundle.js'), await alteredBundle(ALTERATIONS[release]));
    bins[release] = join(home, 'dist/cli/index.js');
  }
  return bins;
}
