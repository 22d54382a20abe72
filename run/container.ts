// The container of a run's rollouts, as its options name it: checked here, where the run is made.

import { lstatSync, readdirSync, statSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { type ContainerRecord, isFunction, isSession } from '../domain/agent/index.ts';
import { unusable } from '../domain/errors/unusable.ts';
import { canConfine, onPath } from '../environments/processes/confine.ts';
import { harborSource, isHarborPlace } from '../formats/datasets/harbor.ts';
import type { ResolvedOptions } from './config.ts';
import type { RunOptions } from './options.ts';

/** Undefined: none is asked for. `dataset`: as the caller names it. */
export function containerOf(
  { container: by, containerRoot, eval: held }: RunOptions,
  cwd: string,
  dataset: string | undefined,
): ContainerRecord | undefined {
  if (by === 'none') {
    if (containerRoot === null) return undefined;
    throw unusable('--container-root is for --container bwrap.', 'Give both, or neither.');
  }
  if (dataset === undefined || !isHarborPlace(dataset))
    throw unusable(`--container ${by} is for task directories.`, 'Name their folder: harbor:<folder>.');
  if (held !== null && held !== dataset && isHarborPlace(held))
    throw unusable('--eval names task directories of another folder.', 'With --container one folder holds all tasks.');
  const tasks = harborSource(dataset, cwd).files[0]!;
  if (by !== 'bwrap') {
    if (containerRoot !== null)
      throw unusable(`--container-root is for bwrap; ${by} has images.`, 'Leave it out, or give --container bwrap.');
    if (onPath(by) === undefined) throw unusable(`There is no ${by} on the PATH.`, 'Install it.');
    return { by, tasks };
  }
  if (containerRoot === null)
    throw unusable('--container bwrap needs the files of a container.', 'Name their folder with --container-root.');
  const root = resolve(cwd, containerRoot);
  if (!statSync(root, { throwIfNoEntry: false })?.isDirectory() || root === '/')
    throw unusable(`--container-root ${containerRoot} is no folder of a container's files.`, 'It is copied: name one.');
  if (!hasShell(root))
    throw unusable(
      `--container-root ${containerRoot} has no bin/sh, and neither has a folder in it.`,
      'Name the files of a container, such as those of a debootstrap: its commands are run by sh.',
    );
  if (!canConfine())
    throw unusable('bubblewrap does not work here.', 'Install bubblewrap and util-linux (docs/sandbox.md).');
  return { by, root, tasks };
}

/** A folder for each task has them one level below. */
function hasShell(root: string): boolean {
  const has = (folder: string) => ['bin/sh', 'usr/bin/sh'].some((sh) => isThere(join(folder, sh)));
  return has(root) || readdirSync(root).some((name) => has(join(root, name)));
}

/** A link may lead nowhere but within the container. What cannot be looked at is not there. */
function isThere(path: string): boolean {
  try {
    return lstatSync(path) !== undefined;
  } catch {
    return false;
  }
}

/** Without one the tests of a task give no reward, and a program may want that: it says so by `none`. */
export function mustHaveContainer({ origins }: ResolvedOptions, dataset: string | undefined): void {
  if (dataset === undefined || !isHarborPlace(dataset) || origins.container !== 'default') return;
  throw unusable(
    'Task directories are played in containers, in which their tests give the reward.',
    'Give --container bwrap, docker or podman; with --container none the program gives the reward itself.',
  );
}

/** A session's agent has containers of its own, and a function no commands. */
export function mustBeStarted(spec: readonly string[]): void {
  if (!isSession({ spec }) && !isFunction({ spec })) return;
  throw unusable(
    '--container is for an agent that Everturn starts as a program.',
    'Leave it out: an agent elsewhere makes its containers itself.',
  );
}
