// Paths of the local service: state under EVERTURN_HOME. Pure over the given environment; creates nothing until `createHome`.

import { chmodSync, mkdirSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { type Environment, userFolder } from '../machine/user-folders.ts';

export interface Home {
  readonly folder: string;
  /** SQLite file of the dev server: every run's history. */
  readonly database: string;
  readonly logs: string;
  readonly serverLog: string;
  readonly workerLog: string;
  readonly serviceLog: string;
  /** JSON: the running processes and their addresses (`state.ts`). */
  readonly stateFile: string;
  /** Folder of claims: the holder of the lock is the one supervisor (`lock.ts`). */
  readonly lockFolder: string;
  /** JSON: address and token of the feed that the service serves (`client/feed/local-feed.ts`). */
  readonly feedFile: string;
  /** JSON: address and key of the sessions of agents that the service hands out. */
  readonly sessionsFile: string;
  /** JSON: the words that start this Everturn, for a trainer's client (`own-worker.ts`). */
  readonly commandFile: string;
  /** Its mtime is the last CLI call. */
  readonly touchFile: string;
}

export function homeOf(env: Environment): Home {
  return homeAt(
    env['EVERTURN_HOME']
      ? resolve(env['EVERTURN_HOME'])
      : join(userFolder(env, 'XDG_STATE_HOME', '.local/state'), 'everturn'),
  );
}

export function homeAt(folder: string): Home {
  const logs = join(folder, 'logs');
  return {
    folder,
    database: join(folder, 'temporal.db'),
    logs,
    serverLog: join(logs, 'temporal.log'),
    workerLog: join(logs, 'worker.log'),
    serviceLog: join(logs, 'service.log'),
    stateFile: join(folder, 'service.json'),
    lockFolder: join(folder, 'service.lock'),
    feedFile: join(folder, 'feed.json'),
    sessionsFile: join(folder, 'sessions.json'),
    commandFile: join(folder, 'command.json'),
    touchFile: join(folder, 'last-call'),
  };
}

/** The database and the logs hold prompts and answers: readable only by the user. */
export function createHome(home: Home): void {
  mkdirSync(home.logs, { recursive: true, mode: 0o700 });
  chmodSync(home.folder, 0o700);
}

/** Whether the local service starts the pages that show it: Temporal's web UI, and the viewer beside it. */
export function hasUi(env: Environment): boolean {
  return env['EVERTURN_UI']?.trim().toLowerCase() !== 'off';
}
