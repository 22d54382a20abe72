// PostgreSQL in a folder of its own on loopback, kept alive: killed with all its processes, it comes back with all that
// it had acknowledged (fsync is on). As root it runs as the user `postgres`, because it refuses root.

import { execFile, execFileSync } from 'node:child_process';
import { chownSync, closeSync, existsSync, mkdtempSync, openSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { spawnGuarded, type GuardedProcess } from '../../../local/machine/guarded.ts';
import { freePort } from '../../../local/machine/ports.ts';
import { descendants } from '../../support/processes.ts';

const run = promisify(execFile);

export interface Postgres {
  readonly port: number;
  lives(): number;
  /** The postmaster and all its children; `downMs`: how long it then stays away. False where it is away already. */
  kill(downMs: number): Promise<boolean>;
  /** Processor seconds of this life, its living children included. */
  pids(): number[];
  stop(): Promise<void>;
}

export const DATABASE_USER = 'temporal';

/** Throws with what is to be installed where there is no PostgreSQL. */
export async function startPostgres(logFile: string): Promise<Postgres> {
  const bin = programs();
  const folder = mkdtempSync(join(tmpdir(), 'everturn-postgres-'));
  const as = otherUser(folder);
  const data = join(folder, 'data');
  const port = await freePort([]);
  const [first, ...rest] = [...as, join(bin, 'initdb'), '-D', data, '-U', DATABASE_USER, '-A', 'trust', '-E', 'UTF8'];
  await run(first!, rest, { cwd: folder });

  let wanted = true;
  let lives = 0;
  let downMs = 0;
  let server: GuardedProcess | undefined;
  async function start(): Promise<void> {
    const [command, ...args] = [
      ...[...as, join(bin, 'postgres'), '-D', data, '-p', String(port), '-k', folder],
      ...['-c', 'listen_addresses=127.0.0.1', '-c', 'max_connections=100'],
    ];
    const log = openSync(logFile, 'a');
    try {
      server = await spawnGuarded(command!, args, { stdout: log, stderr: log, cwd: folder });
    } finally {
      closeSync(log);
    }
    lives++;
  }
  const answers = () =>
    run(join(bin, 'pg_isready'), ['-h', '127.0.0.1', '-p', String(port), '-q']).then(
      () => true,
      () => false,
    );
  await start();
  while (!(await answers())) await sleep(50);
  const kept = (async () => {
    while (wanted) {
      await server?.exited;
      server = undefined;
      if (!wanted) return;
      await sleep(Math.max(100, downMs));
      if (wanted) await start();
    }
  })();
  return {
    port,
    lives: () => lives,
    pids: () => (server ? [server.id.pid, ...descendants(server.id.pid)] : []),
    async kill(ms) {
      if (!server) return false;
      downMs = ms;
      // All at once: one that outlived the postmaster would hold its shared memory.
      for (const pid of [server.id.pid, ...descendants(server.id.pid)]) {
        try {
          process.kill(pid, 'SIGKILL');
        } catch {
          // It ended meanwhile.
        }
      }
      return true;
    },
    async stop() {
      wanted = false;
      // SIGQUIT ends it at once.
      if (server) process.kill(server.id.pid, 'SIGQUIT');
      await kept;
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** The folder of PostgreSQL's programs: Debian has them off the PATH. */
function programs(): string {
  const debian = '/usr/lib/postgresql';
  const versions = existsSync(debian) ? readdirSync(debian).toSorted((a, b) => Number(b) - Number(a)) : [];
  const folders = [
    ...versions.map((version) => join(debian, version, 'bin')),
    ...(process.env['PATH'] ?? '').split(':'),
  ];
  const found = folders.find((folder) => existsSync(join(folder, 'initdb')) && existsSync(join(folder, 'postgres')));
  if (found) return found;
  throw new Error('no PostgreSQL is installed: `apt-get install postgresql`, or put its `initdb` on the PATH');
}

/** What a command of PostgreSQL begins with; gives that user the folder. */
function otherUser(folder: string): string[] {
  if (process.getuid?.() !== 0) return [];
  const [uid, gid] = ['-u', '-g'].map((flag) => Number(execFileSync('id', [flag, 'postgres'], { encoding: 'utf8' })));
  chownSync(folder, uid!, gid!);
  return ['setpriv', `--reuid=${uid}`, `--regid=${gid}`, '--clear-groups'];
}
