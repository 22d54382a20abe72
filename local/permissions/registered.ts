// Runs that this user's own commands made. Each command that starts a run registers its folder, model and key in
// EVERTURN_HOME, where only this user can write. A worker with the same home trusts that list, and nothing that a
// workflow claims about itself.

import { chmodSync, mkdirSync, readFileSync, renameSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { trainedIn } from '../../domain/run/evaluation.ts';
import { sha256Hex } from '../../domain/text/sha256.ts';
import type { ToolRecord } from '../../domain/tools/tool.ts';
import type { RolloutSettings } from '../../domain/rollout/settings.ts';
import type { Home } from '../service/home.ts';
import { realPath } from './folders.ts';

interface RegisteredRun extends Pick<
  RolloutSettings,
  'model' | 'tokenizer' | 'apiKeyEnv' | 'environments' | 'program'
> {
  /** The run's own folder, links resolved. */
  readonly folder: string;
  /** Absent: none. */
  readonly tools?: readonly ToolRecord[];
}

/** The code of a run, as the user's own command named it, and never as a run's folder does. */
type OwnCode = Pick<RegisteredRun, 'environments' | 'tools' | 'program'>;

/** `code`: not given, what is registered already stays. */
export function registerRun(home: Home, run: Omit<RegisteredRun, keyof OwnCode>, code?: OwnCode): void {
  const { model, tokenizer, apiKeyEnv } = run;
  const folder = realPath(run.folder);
  if (folder === undefined) return;
  const { environments = [], tools = [], program } = code ?? registeredRun(home, folder) ?? {};
  register(home, RUNS, {
    folder,
    model,
    tokenizer,
    apiKeyEnv,
    ...(environments.length > 0 && { environments }),
    ...(tools.length > 0 && { tools }),
    ...(program && { program }),
  } satisfies RegisteredRun);
}

/** `folder`: links resolved. Undefined if no command of this user made it, or if other users can write in the home. */
export function registeredRun(home: Home, folder: string): RegisteredRun | undefined {
  return registered<RegisteredRun>(home, RUNS, folder);
}

/** The weights that this user's own commands gave a run. */
interface RegisteredUpdates extends Pick<RolloutSettings, 'model' | 'apiKeyEnv'> {
  /** The run's own folder, links resolved. */
  readonly folder: string;
  /** Folders, the latest last. */
  readonly weights: readonly string[];
}

export function registerUpdate(
  home: Home,
  update: Omit<RegisteredUpdates, 'weights'> & { readonly weights: string },
): void {
  const { model, apiKeyEnv, weights } = update;
  const folder = realPath(update.folder);
  if (folder === undefined) return;
  const known = registeredUpdates(home, folder);
  const before = known?.model === model && known.apiKeyEnv === apiKeyEnv ? known.weights : [];
  if (before.at(-1) === weights) return;
  const all = [...before.filter((other) => other !== weights), weights].slice(-WEIGHTS_KEPT);
  register(home, UPDATES, { folder, model, apiKeyEnv, weights: all } satisfies RegisteredUpdates);
}

export function registeredUpdates(home: Home, folder: string): RegisteredUpdates | undefined {
  return registered<RegisteredUpdates>(home, UPDATES, folder);
}

/** The entry of a run's folder, or of the training run whose evaluation it is: an evaluation may use what that may. */
export function registeredFor<T>(
  entryOf: (home: Home, folder: string) => T | undefined,
  home: Home,
  runFolder: string,
): T | undefined {
  const folder = realPath(runFolder);
  if (folder === undefined) return undefined;
  const trained = trainedIn(folder);
  return entryOf(home, folder) ?? (trained === null ? undefined : entryOf(home, trained));
}

const WEIGHTS_KEPT = 1000;

function register<T extends { readonly folder: string }>({ folder: home }: Home, list: string, record: T): void {
  const file = fileOf(home, list, record.folder);
  mkdirSync(join(home, list), { recursive: true, mode: 0o700 });
  chmodSync(home, 0o700);
  const temporary = `${file}.${process.pid}`;
  writeFileSync(temporary, `${JSON.stringify(record)}\n`, { mode: 0o600 });
  renameSync(temporary, file);
}

function registered<T extends { readonly folder: string }>(
  { folder: home }: Home,
  list: string,
  folder: string,
): T | undefined {
  const file = fileOf(home, list, folder);
  try {
    if (![home, join(home, list), file].every(isOurs)) return undefined;
    const record = JSON.parse(readFileSync(file, 'utf8')) as T;
    return record.folder === folder ? record : undefined;
  } catch {
    return undefined;
  }
}

const RUNS = 'own-runs';
const UPDATES = 'own-updates';
const OTHERS_MAY_WRITE = 0o022;

function fileOf(home: string, list: string, folder: string): string {
  return join(home, list, `${sha256Hex(folder).slice(0, 40)}.json`);
}

function isOurs(path: string): boolean {
  const { uid, mode } = statSync(path);
  return (process.getuid === undefined || uid === process.getuid()) && (mode & OTHERS_MAY_WRITE) === 0;
}
