// The interface of the containers in which an agent's tools run: one for each attempt of a rollout, made anew and removed with it.
// The agent itself runs outside, with the model's key; nothing of its environment enters.

import type { HarborTask } from '../../domain/agent/index.ts';

export type ContainerUser = 'agent' | 'verifier' | 'root';

export interface Container {
  /** The words before those of a command that runs in it. `folder`: the working directory; by default the task's. */
  words(as: ContainerUser, folder?: string): readonly string[];
  /** Copies a folder's files to /tests, which is there and empty. */
  putTests(folder: string): Promise<void>;
  /** The digest of its image, if it has one. */
  readonly image?: string;
  remove(): Promise<void>;
}

/** What a container is made of. */
export interface ContainerWish {
  readonly task: HarborTask;
  /** The task's. */
  readonly directory: string;
  /** A folder of the attempt alone, empty, that goes with it. */
  readonly folder: string;
  /** The rollout's idempotency key. */
  readonly key: string;
  readonly signal: AbortSignal;
}

export const userOf = ({ agent_user, verifier_user }: HarborTask, as: ContainerUser): string | undefined =>
  as === 'root' ? '0' : as === 'agent' ? agent_user : verifier_user;

const networkOf = () => process.env['EVERTURN_CONTAINER_NETWORK'];

/** An operator's `EVERTURN_CONTAINER_NETWORK=none` keeps all of them from the network. */
export const hasNetwork = ({ network }: HarborTask): boolean => network && networkOf() !== 'none';

/** The machine's own network reaches its loopback, where a local Temporal server asks nobody for a key: an operator gives it by `host`. */
export const sharesNetwork = ({ network }: HarborTask): boolean => network && networkOf() === 'host';
