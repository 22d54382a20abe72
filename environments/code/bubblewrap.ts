// The bubblewrap profile. New user, process, network, IPC, host name and mount namespaces; a read-only root that
// holds nothing but programs and libraries; an empty environment (bubblewrap itself is started with none, or its
// own would be readable as /proc/1/environ); one small writable folder; a system-call filter; death with us.
// bubblewrap cannot tell the kernel how many files a folder of memory may hold. So the folder is made before, in a
// namespace around bubblewrap's; where a machine lets nobody but bubblewrap make one, files are counted from outside.

import { constants } from 'node:fs';
import { access, readlink, stat } from 'node:fs/promises';
import { delimiter, join } from 'node:path';
import type { CodeLimits } from './limits.ts';
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

/** `sandboxes`: the ways to try, the best first. */
export type Found = { readonly ok: true; readonly sandboxes: readonly Sandbox[] } | Missing;
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
  const tools = ['bwrap', 'prlimit', 'unshare', 'sh', 'mount'];
  const [bwrap, prlimit, unshare, sh, mount] = await Promise.all(tools.map((name) => onPath(name, env)));
  if (!bwrap)
    return { ok: false, why: '`bwrap` is not on PATH', fix: 'Install bubblewrap (`apt-get install bubblewrap`).' };
  if (!prlimit) return { ok: false, why: '`prlimit` is not on PATH', fix: 'Install util-linux.' };
  if (!sh) return { ok: false, why: '`sh` is not on PATH', fix: 'Put /bin on PATH.' };
  const parts = { bwrap, prlimit, sh, filter, system: await systemFolders() };
  const bounded = unshare && mount ? [bubblewrap(parts, { unshare, mount })] : [];
  return { ok: true, sandboxes: [...bounded, bubblewrap(parts)] };
}

interface Parts {
  readonly bwrap: string;
  readonly prlimit: string;
  readonly sh: string;
  readonly filter: Buffer;
  readonly system: readonly string[];
}

/** What makes a folder of memory whose files the kernel counts. */
interface Makers {
  readonly unshare: string;
  readonly mount: string;
}

/** Where it is made: every machine has this folder, and nothing in the sandbox needs what lies there. */
const MADE_AT = '/sys';

function bubblewrap({ bwrap, prlimit, sh, filter, system }: Parts, makers?: Makers): Sandbox {
  const root = process.getuid?.() === 0;
  return {
    name: 'bubblewrap',
    countsFiles: makers === undefined,
    launch(command, folders, limits) {
      const size = String(limits.diskBytes);
      const args = [
        '--unshare-all',
        '--unshare-user',
        ...['--uid', String(NOBODY), '--gid', String(NOBODY)],
        // Alone in its process namespace: bubblewrap's own process 1 would have the same user, and no limits.
        '--as-pid-1',
        '--die-with-parent',
        '--new-session',
        ...['--cap-drop', 'ALL'],
        ...['--hostname', 'sandbox'],
        ...['--seccomp', String(FILTER_FD)],
        ...system,
        ...folders.flatMap((folder) => ['--ro-bind', folder, folder]),
        // Read-only: by its own entries there a process could make itself wait, and blame the machine.
        ...['--proc', '/proc', '--remount-ro', '/proc'],
        ...DEVICES,
        ...(makers ? ['--bind', MADE_AT, '/tmp'] : ['--size', size, '--tmpfs', '/tmp']),
        ...['--chdir', '/tmp'],
        // The root is memory too, and no size binds it.
        ...['--remount-ro', '/'],
        '--',
        ...limited(prlimit, command, limits),
      ];
      const start = makers
        ? [makers.unshare, ...OWN_MOUNTS, sh, '-c', `${FIRST_TO_GO}; ${makeFolder(limits)} && exec "$@"`, makers.mount]
        : [sh, '-c', `${FIRST_TO_GO}; exec "$@"`, sh];
      const [file = sh, ...words] = [...start, bwrap, ...args];
      const countFiles = makers === undefined;
      return { file, args: words, extra: filter, watch: true, countFiles, ...(root ? { uid: NOBODY } : {}) };
    },
  };
}

/** When the machine runs out of memory, the program goes first. */
const FIRST_TO_GO = 'echo 1000 2>/dev/null >/proc/self/oom_score_adj';

/** What is mounted in them is seen by nobody else, and is gone with the program. */
const OWN_MOUNTS = ['--user', '--map-root-user', '--mount', '--'];

function makeFolder({ diskBytes, files }: CodeLimits): string {
  // The folder itself is one more, and so is the file that is standard input.
  const options = `size=${diskBytes},nr_inodes=${files + 2},mode=1777,nosuid,nodev`;
  return `"$0" -n -i -t tmpfs -o ${options} sandbox ${MADE_AT}`;
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
