// Runs that this user's own commands made. Each command that starts a run registers its folder, model and key in
// EVERTURN_HOME, where only this user can write. A worker with the same home trusts that list, and nothing that a
// workflow claims about itself.

import { chmodSync, mkdirSync, readFileSync, renameSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { sha256Hex } from '../domain/sha256.ts';
import type { RolloutSettings } from '../domain/settings.ts';
import type { Home } from '../service/home.ts';
import { realPath } from './folders.ts';

export interface RegisteredRun extends Pick<RolloutSettings, 'model' | 'tokenizer' | 'apiKeyEnv'> {
  /** The run's own folder, links resolved. */
  readonly folder: string;
}

export function registerRun({ folder: home }: Home, run: RegisteredRun): void {
  const { model, tokenizer, apiKeyEnv } = run;
  const folder = realPath(run.folder);
  if (folder === undefined) return;
  const file = fileOf(home, folder);
  mkdirSync(join(home, RUNS), { recursive: true, mode: 0o700 });
  chmodSync(home, 0o700);
  const temporary = `${file}.${process.pid}`;
  const record: RegisteredRun = { folder, model, tokenizer, apiKeyEnv };
  writeFileSync(temporary, `${JSON.stringify(record)}\n`, { mode: 0o600 });
  renameSync(temporary, file);
}

/** `folder`: links resolved. Undefined if no command of this user made it, or if other users can write in the home. */
export function registeredRun({ folder: home }: Home, folder: string): RegisteredRun | undefined {
  const file = fileOf(home, folder);
  try {
    if (![home, join(home, RUNS), file].every(isOurs)) return undefined;
    const run = JSON.parse(readFileSync(file, 'utf8')) as RegisteredRun;
    return run.folder === folder ? run : undefined;
  } catch {
    return undefined;
  }
}

const RUNS = 'own-runs';
const OTHERS_MAY_WRITE = 0o022;

function fileOf(home: string, folder: string): string {
  return join(home, RUNS, `${sha256Hex(folder).slice(0, 40)}.json`);
}

function isOurs(path: string): boolean {
  const { uid, mode } = statSync(path);
  return (process.getuid === undefined || uid === process.getuid()) && (mode & OTHERS_MAY_WRITE) === 0;
}
