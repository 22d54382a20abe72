// The bubblewrap profile: new user, process, network, IPC, host name and mount namespaces; a read-only root with only
// programs and libraries; an empty environment (bubblewrap itself starts with none, because its own would be readable as
// /proc/1/environ); one small writable folder; a system-call filter; death with the worker. bubblewrap cannot limit the
// number of files on a tmpfs. So the folder is mounted first, in a namespace around bubblewrap's; if a machine lets only
// bubblewrap create namespaces, files are counted from outside.

import { constants } from 'node:fs';
import { access, readlink, stat } from 'node:fs/promises';
import { delimiter, join } from 'node:path';
import { type CodeLimits, limitCommand, type Sandbox } from './sandbox.ts';
import { seccompFilter } from './seccomp.ts';

/** The user nobody: process limits do not apply to root, whatever user a namespace shows. */
const NOBODY = 65_534;
const FILTER_FD = 3;

/** No terminals and no shared-memory folder: their content has no limit. */
const DEVICES = [
  ...['null', 'zero', 'urandom'].flatMap((name) => ['--dev-bind', `/dev/${name}`, `/dev/${name}`]),
  ...['--symlink', '/proc/self/fd', '/dev/fd'],
  ...['stdin', 'stdout', 'stderr'].flatMap((name, fd) => ['--symlink', `/proc/self/fd/${fd}`, `/dev/${name}`]),
];

/** `sandboxes`: the variants to try, the best first. */
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

/** The command that mounts a tmpfs whose files the kernel counts. */
interface Makers {
  readonly unshare: string;
  readonly mount: string;
}

/** Its mount point: every machine has this folder, and the sandbox needs nothing in it. */
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
        // Alone in its process namespace: bubblewrap's own process 1 would have the same user and no limits.
        '--as-pid-1',
        '--die-with-parent',
        '--new-session',
        ...['--cap-drop', 'ALL'],
        ...['--hostname', 'sandbox'],
        ...['--seccomp', String(FILTER_FD)],
        ...system,
        ...folders.flatMap((folder) => ['--ro-bind', folder, folder]),
        // Read-only: through its own entries a process could make itself wait, and blame the machine.
        ...['--proc', '/proc', '--remount-ro', '/proc'],
        ...DEVICES,
        ...(makers ? ['--bind', MADE_AT, '/tmp'] : ['--size', size, '--tmpfs', '/tmp']),
        ...['--chdir', '/tmp'],
        // The root is a tmpfs too, without a size limit.
        ...['--remount-ro', '/'],
        '--',
        ...limitCommand(prlimit, command, limits),
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

/** If the machine runs out of memory, the program is killed first. */
const FIRST_TO_GO = 'echo 1000 2>/dev/null >/proc/self/oom_score_adj';

/** Mounts in them are invisible to others and end with the program. */
const OWN_MOUNTS = ['--user', '--map-root-user', '--mount', '--'];

function makeFolder({ diskBytes, files }: CodeLimits): string {
  // The folder itself counts, and so does the file of standard input.
  const options = `size=${diskBytes},nr_inodes=${files + 2},mode=1777,nosuid,nodev`;
  return `"$0" -n -i -t tmpfs -o ${options} sandbox ${MADE_AT}`;
}

/** Only programs and libraries: without /usr/local, /usr/share and /usr/src. */
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
