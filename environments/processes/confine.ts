// Limits for a module that a run brought: a process namespace of its own, so that its end takes every process with it,
// also one that left its group; a limit on processes, counted inside the namespace, which ends a fork bomb; and a limit
// on memory. By bubblewrap, without root. Without bubblewrap only the process group is killed, and a line in the log says
// so. No limits on files or network: a module may read and write as its user.

import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import type { ProcessLaunch } from './launch.ts';

const MAX_PROCESSES = 256;
const MEMORY_BYTES = 4 * 1024 ** 3;
/** The exit code that means too many processes. */
const TOO_MANY = 97;

const NAMESPACE = [
  '--unshare-user',
  '--unshare-pid',
  '--die-with-parent',
  '--dev-bind',
  '/',
  '/',
  '--proc',
  '/proc',
  '--',
];

/** Counts the processes of the namespace every half second; its end ends them all. */
const COUNTER = `
exec 5<&0
"$@" <&5 5<&- &
child=$!
exec 5<&- </dev/null
while kill -0 "$child" 2>/dev/null; do
  set -- /proc/[0-9]*
  [ $# -le ${MAX_PROCESSES} ] || exit ${TOO_MANY}
  sleep 0.5
done
wait "$child"
`;

interface Tools {
  readonly bwrap: string;
  readonly prlimit: string;
}

let known: Tools | null | undefined;

/** Null if bubblewrap cannot create the namespace. Tried once per process. */
function tools(): Tools | null {
  if (known !== undefined) return known;
  const [bwrap, prlimit] = ['bwrap', 'prlimit'].map(onPath);
  const works =
    bwrap && prlimit && spawnSync(bwrap, [...NAMESPACE, prlimit, '--version'], { timeout: 30_000 }).status === 0;
  return (known = works ? { bwrap, prlimit } : null);
}

export function canConfine(): boolean {
  return tools() !== null;
}

export function confineLaunch(launch: ProcessLaunch): ProcessLaunch {
  const found = tools();
  if (!found) return launch;
  const limits = [`--data=${MEMORY_BYTES}`, '--core=0'];
  const args = [...NAMESPACE, '/bin/sh', '-c', COUNTER, 'everturn-module', found.prlimit, ...limits, '--', launch.file];
  const codes = { [TOO_MANY]: `started more than ${MAX_PROCESSES} processes` };
  return { ...launch, file: found.bwrap, args: [...args, ...launch.args], endings: codes };
}

/** Where a program is; undefined if none of that name is on the PATH. */
export function onPath(name: string): string | undefined {
  const folders = (process.env['PATH'] ?? '/usr/bin:/bin').split(':').filter((folder) => folder.startsWith('/'));
  return folders.map((folder) => `${folder}/${name}`).find((file) => existsSync(file));
}
