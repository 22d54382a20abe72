// Opens the container of a rollout's attempt: the task's directory is found and proved, the container is made, and a command is
// written that runs others in it. After the agent's end its tests give the reward.

import { existsSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import {
  type AgentEnd,
  type ContainerRecord,
  type HarborTask,
  type LastWords,
  taskOfRow,
  type Verified,
} from '../../domain/agent/index.ts';
import { AgentError } from '../../domain/errors/errors.ts';
import { short } from '../../domain/text/foreign-text.ts';
import { folderDigest } from '../../local/machine/folder-digest.ts';
import { bwrapContainer } from './bwrap.ts';
import { mustRun } from './command.ts';
import type { Container, ContainerWish } from './container.ts';
import { engineContainer } from './engine.ts';
import { verify } from './verify.ts';

/** The end of an agent, as far as its tests ask for it or decide it. */
interface Ended {
  readonly code: number | null;
  readonly said: LastWords;
  readonly cut?: AgentEnd['cut'];
  readonly last: string | null;
  readonly verified?: Verified;
}

export interface OpenContainer {
  /** The command of EVERTURN_EXEC. */
  readonly exec: string;
  /** The end, with the reward of the tests in place of the agent's own. */
  verified<E extends Ended>(ended: E): Promise<E>;
  remove(): Promise<void>;
}

interface Wish extends Pick<ContainerWish, 'folder' | 'key' | 'signal'> {
  readonly container: ContainerRecord;
  readonly row: { readonly harbor?: unknown };
}

const SECONDS = 120;
const READY = 'mkdir -p /logs/agent /logs/verifier /logs/artifacts && chmod 777 /logs/agent /logs/artifacts';

export async function openContainer({ container: { by, root, tasks }, row, ...rest }: Wish): Promise<OpenContainer> {
  const task = mustBeTask(row);
  const { signal } = rest;
  const directory = existsSync(join(tasks, 'task.toml')) ? tasks : join(tasks, task.name);
  await mustBeSame(task, directory);
  await mkdir(rest.folder, { mode: 0o700 });
  const wish = { ...rest, task, directory };
  const made: Container = by === 'bwrap' ? await bwrapContainer(root ?? '', wish) : await engineContainer(by, wish);
  try {
    const workdir = task.workdir === undefined ? '' : ` && mkdir -p ${quoted(task.workdir)}`;
    await mustRun([...made.words('root', '/'), 'sh', '-c', `${READY}${workdir}`], { seconds: SECONDS, signal });
    const exec = join(rest.folder, 'exec');
    await writeFile(exec, `#!/bin/sh\nexec ${made.words('agent').map(quoted).join(' ')} "$@"\n`, { mode: 0o700 });
    return {
      exec,
      async verified(ended) {
        const isPlayed = (ended.code === 0 || ended.cut !== undefined) && ended.last !== null;
        if (!isPlayed) return ended;
        const verdict = await verify(made, { task, directory, signal });
        // Both are run again in a new container.
        if (!verdict) return { ...ended, code: null };
        const { said, verified } = verdict;
        const { answer } = ended.said;
        return { ...ended, said: { ...(answer !== undefined && { answer }), ...said }, verified };
      },
      remove: made.remove,
    };
  } catch (error) {
    await made.remove().catch(() => undefined);
    throw error;
  }
}

const quoted = (word: string): string => `'${word.replaceAll("'", `'\\''`)}'`;

function mustBeTask(row: Wish['row']): HarborTask {
  const task = taskOfRow(row);
  if (task && basename(task.name) === task.name && task.name !== '..') return task;
  throw new AgentError('The row is no task of a container.', { reason: 'container-failed' });
}

async function mustBeSame({ name, sha256 }: HarborTask, directory: string): Promise<void> {
  const is = await folderDigest(directory).catch(() => undefined);
  if (is === sha256) return;
  throw new AgentError(`The directory of task ${short(name, 80)} is not the one of the run: its files have changed.`, {
    reason: 'agent-changed',
    fix: `Bring ${short(directory, 200)} back as it was when the run was made; or begin a run with the new one.`,
    retryable: true,
    ofThisWorker: true,
  });
}
