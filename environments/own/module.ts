// The door `module`: a file that is bundled when the run is made, stored in the run's folder under its hash, and loaded from
// there in processes of their own.

import { join } from 'node:path';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import type { EnvironmentRecord } from '../../domain/rollout/environment.ts';
import { EnvironmentError } from '../../domain/errors/errors.ts';
import { compiledScript } from '../../local/machine/compiled.ts';
import { bundleModule } from './bundle.ts';
import { type Described, type Log, mismatch, passedEnv } from './command.ts';
import { canConfine, confined } from './confine.ts';
import type { ProcessLaunch } from './guarded-lines.ts';
import { helloOf } from './process-pool.ts';
import type { Hello } from './reply.ts';

/** The code of a module, to be stored in its run's folder. */
export interface ModuleCode {
  readonly sha256: string;
  readonly code: string;
}

const HEAP_MB = 512;

/** `<run>/code/<sha256>.cjs` */
export const codeFile = (sha256: string): string => `code/${sha256}.cjs`;

export function moduleLaunch(who: string, bundle: string, sha256: string, log: Log): ProcessLaunch {
  const script = compiledScript('./module-child', import.meta.url, EnvironmentError);
  if (!canConfine()) warnOnce(log);
  return confined({
    who,
    file: process.execPath,
    args: [`--max-old-space-size=${HEAP_MB}`, script, bundle, sha256],
    cwd: '/',
    env: passedEnv(),
    log,
  });
}

let warned = false;
function warnOnce(log: Log): void {
  if (!warned) log('Modules run without limits on processes and memory: bubblewrap makes no namespace here.');
  warned = true;
}

export async function describeModule(path: string, log: Log): Promise<Described & { readonly code: ModuleCode }> {
  const { code, sha256 } = await bundleModule(path);
  const folder = mkdtempSync(join(tmpdir(), 'everturn-module-'));
  try {
    const bundle = join(folder, 'environment.cjs');
    writeFileSync(bundle, code);
    const { fingerprint: _, agents = [], ...hello } = await helloOf(moduleLaunch(path, bundle, sha256, log));
    return { record: { ...hello, door: 'module', spec: [path], fingerprint: sha256 }, agents, code: { sha256, code } };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

export function mustBeModule(record: EnvironmentRecord, { name, version, state }: Hello): void {
  if (name === record.name && state === record.state) return;
  throw mismatch(record, `${name} ${version}`, record.fingerprint);
}
