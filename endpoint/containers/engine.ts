// A container by docker or podman, whose commands have the same arguments. Its image is the one that the task names, or is built
// from its environment/Dockerfile, once on each worker; what follows names it by its digest. A container is known by its id, and
// by a name that all attempts of a rollout have in common: the next one removes what a killed worker left.

import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { HarborTask } from '../../domain/agent/index.ts';
import { AgentError } from '../../domain/errors/errors.ts';
import { mustRun, ranCommand } from './command.ts';
import { type Container, type ContainerWish, hasNetwork, userOf } from './container.ts';

const SECONDS = 120;
/** A program that does nothing, in every image with a shell. */
const IDLE = 'while :; do sleep 3600; done';
/** Where the engine is. */
const ENGINE = /^(?:DOCKER_\w+|CONTAINER_\w+|XDG_RUNTIME_DIR)$/;

export async function engineContainer(by: string, wish: ContainerWish): Promise<Container> {
  const { task, key, signal } = wish;
  const limits = { seconds: SECONDS, signal };
  const image = await imageOf(by, wish);
  const name = `everturn-${createHash('sha256').update(key).digest('hex').slice(0, 24)}`;
  await ranCommand([by, 'rm', '-f', name], limits);
  const id = await mustRun([by, 'create', '--name', name, ...asked(task, key), image, '-c', IDLE], limits);
  const container: Container = {
    image,
    words: (as, folder = task.workdir) => [
      // An agent's program gets none of the worker's variables.
      ...['/usr/bin/env', ...engineVariables(), by, 'exec', '-i'],
      ...option('--user', userOf(task, as)),
      ...option('--workdir', folder),
      ...(as === 'verifier' ? variables(task.verifier_env) : []),
      id,
    ],
    putTests: (tests) => mustRun([by, 'cp', `${tests}/.`, `${id}:/tests`], limits).then(() => undefined),
    async remove() {
      await mustRun([by, 'rm', '-f', '--volumes', id], { seconds: SECONDS, signal: AbortSignal.any([]) });
    },
  };
  try {
    await mustRun([by, 'start', id], limits);
    return container;
  } catch (error) {
    await container.remove().catch(() => undefined);
    throw error;
  }
}

const option = (flag: string, value: string | undefined): string[] => (value === undefined ? [] : [flag, value]);
const variables = (all: Readonly<Record<string, string>> = {}): string[] =>
  Object.entries(all).flatMap(([name, value]) => ['--env', `${name}=${value}`]);

const engineVariables = (): string[] =>
  Object.entries(process.env).flatMap(([name, value]) => (ENGINE.test(name) ? [`${name}=${value}`] : []));

const asked = (task: HarborTask, key: string): string[] => [
  ...['--label', `everturn=${key}`, '--entrypoint', '/bin/sh'],
  ...(hasNetwork(task) ? [] : ['--network', 'none']),
  ...option('--cpus', task.cpus?.toString()),
  ...option('--memory', task.memory_mb === undefined ? undefined : `${task.memory_mb}m`),
  ...variables(task.env),
];

/** Builds under way and done, by engine and task: those of a run begin together. */
const images = new Map<string, Promise<string>>();

async function imageOf(by: string, wish: ContainerWish): Promise<string> {
  const key = `${by} ${wish.task.sha256}`;
  for (let known = images.get(key); known; known = images.get(key)) {
    const image = await known.catch(() => undefined);
    if (image !== undefined) return image;
    // The rollout that built it was cancelled, or failed by itself: this one tries on its own.
    wish.signal.throwIfAborted();
    if (images.get(key) === known) break;
  }
  const made = madeImage(by, wish);
  images.set(key, made);
  made.catch(() => images.delete(key));
  return made;
}

async function madeImage(by: string, { task, directory, signal }: ContainerWish): Promise<string> {
  const limits = { seconds: task.build_timeout_sec, signal };
  const { docker_image: named } = task;
  if (named === undefined) {
    const context = join(directory, 'environment');
    if (existsSync(join(context, 'Dockerfile'))) return mustRun([by, 'build', '--quiet', context], limits, true);
    throw new AgentError(`Task ${task.name} has no environment/Dockerfile, and names no image.`, {
      reason: 'container-failed',
      fix: 'Give environment.docker_image in its task.toml.',
    });
  }
  const inspect = [by, 'image', 'inspect', '--format', '{{.Id}}', named];
  const there = await ranCommand(inspect, limits);
  if (there.code === 0) return there.stdout.trim();
  await mustRun([by, 'pull', '--quiet', named], limits, true);
  return mustRun(inspect, limits, true);
}
