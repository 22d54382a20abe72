// Workers as machines of their own: each in a network namespace with one link to this machine, and in a mount namespace
// in which given folders are empty file systems in memory, new with each life. They share the product's code, read from
// the repository, and nothing that they write. Needs root.

import { join } from 'node:path';
import { type Kept, keepNode } from '../../chaos/kept.ts';
import { type Network, openNetwork } from '../cluster/network.ts';

const BIN = join(import.meta.dirname, '../../../dist/cli/index.js');

export interface Apart {
  readonly network: Network;
  readonly worker: Kept;
}

export interface ApartOptions {
  readonly name: string;
  readonly network: Network;
  /** The first is its home and its place for temporary files. */
  readonly empty: readonly [string, ...string[]];
  readonly env: Readonly<Record<string, string>>;
  readonly args: readonly string[];
  readonly log: string;
}

export function startApart({ name, network, empty, env, args, log }: ApartOptions): Apart {
  const [home] = empty;
  const own = { PATH: process.env['PATH'], HOME: home, TMPDIR: home, EVERTURN_HOME: join(home, '.everturn'), ...env };
  const mounts = empty.map((folder) => `mount -t tmpfs none '${folder}'`);
  // The working folder is the one under the mount until somebody enters it again.
  const script = [...mounts, `cd '${home}'`, 'exec "$@"'].join(' && ');
  const within = [...network.within, 'unshare', '--mount', 'sh', '-c', script, 'sh'];
  return { network, worker: keepNode(name, () => [BIN, 'worker', ...args], own, log, { within }) };
}

export function openNetworks(count: number): Network[] {
  const networks: Network[] = [];
  for (let place = 0; place < count; place++) {
    const network = openNetwork(place);
    if ('host' in network) networks.push(network);
    else {
      for (const opened of networks) opened.close();
      throw new Error(`these tests need root: ${network.problem}`);
    }
  }
  return networks;
}
