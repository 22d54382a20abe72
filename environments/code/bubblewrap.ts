// The bubblewrap profile. New user, process, network, IPC, host name and mount namespaces; a read-only root that
// holds nothing but programs and libraries; an empty environment (bubblewrap itself is started with none, or its
// own would be readable as /proc/1/environ); one small writable folder; a system-call filter; death with us.

import { constants } from 'node:fs';
import { access, readlink, stat } from 'node:fs/promises';
import { delimiter, join } from 'node:path';
import { limited, type Sandbox } from './sandbox.ts';
import { seccompFilter } from './seccomp.ts';

/** The user nobody: limits on processes do not bind root, whatever user a namespace shows. */
const NOBODY = 65_534;
const FILTER_FD = 3;

/** No terminals, and no folder of shared memory: nothing binds what is put there. */
const DEVICES = [
  ...['null', 'zero', 'urandom'].flatMap((name) => ['--dev-bind', `/dev/${name}`, `/dev/${name}`]),
  ...['--symlink', '/proc/self/fd', '/dev/fd'],
  ...['stdin', 'stdout', 'stderr'].flatMap((name, fd) => ['--symlink', `/proc/self/fd/${fd}`, `/dev/${name}`]),
];

export type Found = { readonly ok: true; readonly sandbox: Sandbox } | Missing;
export interface Missing {
  readonly ok: false;
  readonly why: string;
  readonly fix: string;
}

export async function findBubblewrap(env: NodeJS.ProcessEnv = process.env): Promise<Found> {
  if (process.platform !== 'linux')
    return {
      ok: false,
      why: `bubblewrap needs Linux, this is ${process.platform}`,
      fix: 'Judge code on a Linux machine.',
    };
  const filter = seccompFilter();
  if (!filter)
    return {
      ok: false,
      why: `there is no system-call filter for ${process.arch}`,
      fix: 'Use an x64 or arm64 machine.',
    };
  const [bwrap, prlimit] = await Promise.all([onPath('bwrap', env), onPath('prlimit', env)]);
  if (!bwrap)
    return { ok: false, why: '`bwrap` is not on PATH', fix: 'Install bubblewrap (`apt-get install bubblewrap`).' };
  if (!prlimit) return { ok: false, why: '`prlimit` is not on PATH', fix: 'Install util-linux.' };
  return { ok: true, sandbox: bubblewrap(bwrap, prlimit, filter, await systemFolders()) };
}

function bubblewrap(bwrap: string, prlimit: string, filter: Buffer, system: readonly string[]): Sandbox {
  const root = process.getuid?.() === 0;
  return {
    name: 'bubblewrap',
    launch(command, folders, limits) {
      const args = [
        '--unshare-all',
        '--unshare-user',
        // Alone in its process namespace: bubblewrap's own process 1 would have the same user, and no limits.
        '--as-pid-1',
        '--die-with-parent',
        '--new-session',
        ...['--cap-drop', 'ALL'],
        ...['--hostname', 'sandbox'],
        ...['--seccomp', String(FILTER_FD)],
        ...system,
        ...folders.flatMap((folder) => ['--ro-bind', folder, folder]),
        ...['--proc', '/proc'],
        ...DEVICES,
        ...['--size', String(limits.diskBytes), '--tmpfs', '/tmp', '--chdir', '/tmp'],
        // The root is memory too, and no size binds it.
        ...['--remount-ro', '/'],
        '--',
        ...limited(prlimit, command, limits),
      ];
      return { file: bwrap, args, extra: filter, watch: true, ...(root ? { uid: NOBODY } : {}) };
    },
  };
}

/** Programs and libraries only: /usr/local, /usr/share and /usr/src are left out. */
async function systemFolders(): Promise<string[]> {
  const places = ['/usr/bin', '/usr/lib', '/usr/lib64', '/bin', '/lib', '/lib64'];
  const found = await Promise.all(
    places.map(async (place) => {
      const link = await readlink(place).catch(() => undefined);
      if (link !== undefined) return ['--symlink', link, place];
      return (await stat(place).catch(() => undefined))?.isDirectory() ? ['--ro-bind', place, place] : [];
    }),
  );
  return found.flat();
}

export async function onPath(name: string, env: NodeJS.ProcessEnv): Promise<string | undefined> {
  const folders = (env['PATH'] ?? '/usr/bin:/bin').split(delimiter).filter((folder) => folder.startsWith('/'));
  for (const folder of folders) {
    const file = join(folder, name);
    const runs = await access(file, constants.X_OK).then(
      () => true,
      () => false,
    );
    if (runs) return file;
  }
  return undefined;
}
