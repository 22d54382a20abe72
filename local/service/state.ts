// The local service's state: one JSON file, replaced as a whole, written only by its supervisor. A state is valid while
// its supervisor lives, identified by pid and start time.

import { readFileSync, renameSync, statSync, writeFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { createHash, randomBytes } from 'node:crypto';
import { TemporalError } from '../../domain/errors/errors.ts';
import type { Home } from './home.ts';
import { isAlive, type ProcessId } from '../machine/process.ts';
import type { Environment } from '../machine/user-folders.ts';

/** The code that a service runs: two versions, or two builds, must not be confused. */
export interface CodeId {
  readonly version: string;
  /** The package's folder. */
  readonly path: string;
  /** The hash of what it was built from: equal code in two folders is the same. */
  readonly built: string;
}

/** `ready`: the server is SERVING and the worker polls. */
export type Phase = 'starting' | 'ready' | 'stopping' | 'stopped';

export interface ServiceState {
  readonly format: 1;
  readonly phase: Phase;
  readonly host: string;
  readonly supervisor: ProcessId;
  readonly code: CodeId;
  /** The binary's own version output. */
  readonly temporal: { readonly path: string; readonly version: string };
  readonly address: string;
  /** Null: no web UI. */
  readonly uiAddress: string | null;
  readonly startedAt: string; // ISO 8601
  readonly server: ProcessId | null;
  readonly worker: ProcessId | null;
  /** The variables of its environment, which its worker has. */
  readonly variables: Variables;
  /** Why it is not ready, or why it ended. */
  readonly note: string | null;
}

/** The supervisor renews the file this often; the state of another host is valid for three times as long. */
export const STATE_RENEWAL_MS = 20_000;

/** The last state written, whether or not its service lives. Undefined if absent or unreadable. */
export function readState(home: Home): ServiceState | undefined {
  try {
    const state = JSON.parse(readFileSync(home.stateFile, 'utf8')) as ServiceState;
    return state.format === 1 && typeof state.supervisor?.pid === 'number' ? state : undefined;
  } catch {
    return undefined;
  }
}

/** The state of a service that lives here. Throws if it lives on another machine that shares the folder. */
export function liveState(home: Home): ServiceState | undefined {
  const state = readState(home);
  if (!state || state.phase === 'stopped') return undefined;
  if (state.host === hostname()) return isAlive(state.supervisor) ? state : undefined;
  const { mtimeMs } = statSync(home.stateFile, { throwIfNoEntry: false }) ?? { mtimeMs: 0 };
  if (Date.now() - mtimeMs > 3 * STATE_RENEWAL_MS) return undefined;
  throw new TemporalError(`The local service of ${home.folder} runs on another machine, ${state.host}.`, {
    reason: 'other-host',
    fix: 'Set EVERTURN_HOME to a folder of this machine, work on that one, or name a cluster by TEMPORAL_ADDRESS.',
  });
}

/** Somebody stopped it; idleness, a kill or an error leave a note or another phase. */
export function endedOnPurpose(state: ServiceState | undefined): boolean {
  return (state?.phase === 'stopping' || state?.phase === 'stopped') && state.note === null;
}

export function writeState(home: Home, state: ServiceState): void {
  const temporary = `${home.stateFile}.${process.pid}`;
  writeFileSync(temporary, `${JSON.stringify(state, null, 2)}\n`, { mode: 0o600 });
  renameSync(temporary, home.stateFile);
}

interface Variables {
  readonly salt: string;
  /** The digest of each variable's value, by its name. */
  readonly digests: Readonly<Record<string, string>>;
}

export function variablesOf(env: Environment, salt = randomBytes(16).toString('hex')): Variables {
  const set = Object.entries(env).flatMap(([name, value]) => (value ? [[name, digestOf(value, salt)] as const] : []));
  return { salt, digests: Object.fromEntries(set) };
}

/** Whether the service has this value of a variable, another one, or none. */
export function heldAs({ salt, digests }: Variables, name: string, value: string): 'same' | 'another' | 'none' {
  const digest = Object.hasOwn(digests, name) ? digests[name] : undefined;
  if (digest === undefined) return 'none';
  return digest === digestOf(value, salt) ? 'same' : 'another';
}

const digestOf = (value: string, salt: string): string =>
  createHash('sha256').update(`${salt}\0${value}`).digest('hex').slice(0, 8);
