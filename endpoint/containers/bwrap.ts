// A container by bubblewrap, without root and without a daemon: its files are a copy of a folder, and each command is a sandbox of
// its own over them, with namespaces of its own and no other file of the machine. Gaps: what a command leaves running ends with
// it; the task's `cpus` and `memory_mb` are not held, a program has the limits of the agent's own processes.

import { existsSync, lstatSync, rmSync, writeFileSync, readFileSync } from 'node:fs';
import { cp, mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { HarborTask } from '../../domain/agent/index.ts';
import { AgentError } from '../../domain/errors/errors.ts';
import { onPath } from '../../environments/processes/confine.ts';
import { mustRun } from './command.ts';
import { type Container, type ContainerUser, type ContainerWish, sharesNetwork, userOf } from './container.ts';

const PATHS = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin';
const COPY_SECONDS = 600;

export async function bwrapContainer(from: string, { task, folder, signal }: ContainerWish): Promise<Container> {
  const bwrap = onPath('bwrap');
  if (bwrap === undefined) throw new AgentError('There is no bubblewrap here.', { reason: 'container-failed' });
  const root = join(folder, 'root');
  const tests = join(folder, 'tests');
  for (const made of [root, tests]) await mkdir(made);
  // Blocks are shared where the disk can.
  await mustRun(['cp', '-a', '--reflink=auto', '--', `${rootFor(task, from)}/.`, root], {
    ...{ seconds: COPY_SECONDS, signal },
  });
  if (sharesNetwork(task)) giveResolver(root);
  return {
    words: (as, at = task.workdir ?? '/') => [
      // The first process in it is bubblewrap, whose environment all others can read.
      ...['/usr/bin/env', '-i', bwrap],
      ...['--unshare-user', '--unshare-pid', '--unshare-ipc', '--unshare-uts', '--unshare-cgroup-try'],
      ...(sharesNetwork(task) ? [] : ['--unshare-net']),
      ...['--uid', uidOf(task, as), '--gid', uidOf(task, as), '--hostname', 'task'],
      ...['--die-with-parent', '--new-session', '--cap-drop', 'ALL'],
      ...['--bind', root, '/', ...procOf(as), '--dev', '/dev', '--chdir', at],
      ...(as === 'verifier' ? ['--bind', tests, '/tests'] : []),
      ...variables({ PATH: PATHS, HOME: '/root', ...task.env, ...(as === 'verifier' && task.verifier_env) }),
      '--',
    ],
    // Into a folder beside it: a link in it could lead anywhere.
    putTests: (given) => cp(given, tests, { recursive: true }),
    async remove() {
      // A folder that its owner may not write in cannot be emptied.
      await mustRun(['chmod', '-R', 'u+rwX', '--', root], { seconds: COPY_SECONDS, signal: AbortSignal.any([]) });
    },
  };
}

/**
 * The agent's commands run within its own namespace of processes (environments/processes/confine.ts), in which a root of the machine
 * may not mount another view of processes: they see those of their agent, by name only, and can end none.
 */
const procOf = (as: ContainerUser): string[] =>
  as === 'agent' ? ['--ro-bind', '/proc', '/proc'] : ['--proc', '/proc'];

const variables = (all: Readonly<Record<string, string>>): string[] =>
  Object.entries(all).flatMap(([name, value]) => ['--setenv', name, value]);

/** A folder of roots has one for each task. */
function rootFor({ name }: HarborTask, from: string): string {
  const isRoot = ['bin', 'usr'].some((folder) => existsSync(join(from, folder)));
  const root = isRoot ? from : join(from, name);
  if (existsSync(root)) return root;
  throw new AgentError(`There are no files for a container of task ${name} in ${from}.`, {
    reason: 'container-failed',
    fix: 'Make its folder, of the name of the task.',
  });
}

/** One user of the machine is all that a container has. */
function uidOf(task: HarborTask, as: ContainerUser): string {
  const user = userOf(task, as) ?? '0';
  if (/^\d+$/.test(user)) return user;
  if (user === 'root') return '0';
  throw new AgentError(`Task ${task.name} names the user ${user}, and bubblewrap knows numbers only.`, {
    reason: 'container-failed',
    fix: 'Give its number in task.toml, or play it with docker or podman.',
  });
}

/** Before anything has run in it. */
function giveResolver(root: string): void {
  const etc = join(root, 'etc');
  if (!existsSync('/etc/resolv.conf') || !lstatSync(etc, { throwIfNoEntry: false })?.isDirectory()) return;
  rmSync(join(etc, 'resolv.conf'), { force: true });
  writeFileSync(join(etc, 'resolv.conf'), readFileSync('/etc/resolv.conf'));
}
