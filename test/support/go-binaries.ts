// Programs that tests build from Go modules, once for each version, into Everturn's cache. The modules are pinned by the
// go.mod and go.sum beside the tests. Minutes the first time; needs Go.

import { execFile } from 'node:child_process';
import { copyFileSync, existsSync, mkdirSync, mkdtempSync, renameSync, rmSync } from 'node:fs';
import { homedir } from 'node:os';
import { basename, join } from 'node:path';
import { promisify } from 'node:util';

export interface GoModules {
  /** The folder of go.mod and go.sum. */
  readonly folder: string;
  /** With its version: the folder in the cache. */
  readonly name: string;
  /** Package → program. */
  readonly packages: Readonly<Record<string, string>>;
}

/** The folder that holds the programs. */
export async function goBinaries({ folder, name, packages }: GoModules): Promise<string> {
  const cache = process.env['EVERTURN_CACHE'] ?? join(homedir(), '.cache', 'everturn');
  const built = join(cache, name);
  mkdirSync(built, { recursive: true });
  const missing = Object.entries(packages).filter(([, program]) => !existsSync(join(built, program)));
  if (missing.length === 0) return built;
  console.log(`Building ${missing.map(([, program]) => program).join(', ')} from Go modules: some minutes, once.`);
  const work = mkdtempSync(join(built, 'build-'));
  try {
    for (const file of ['go.mod', 'go.sum']) copyFileSync(join(folder, file), join(work, file));
    const env = { ...process.env, CGO_ENABLED: '0', GOFLAGS: '' };
    for (const [from, program] of missing) {
      const flags = ['build', '-trimpath', '-ldflags', '-s -w', '-o', join(work, basename(program)), from];
      await promisify(execFile)('go', flags, { cwd: work, env, maxBuffer: 2 ** 26 });
      renameSync(join(work, basename(program)), join(built, program));
    }
  } finally {
    rmSync(work, { recursive: true, force: true });
  }
  return built;
}
