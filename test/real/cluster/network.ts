// A network of its own for a worker: a namespace with one link to this machine, which is cut for a while. Cut means
// silence: no reset, no refusal, as behind a switch that lost power. Needs root.

import { execFileSync } from 'node:child_process';

const ip = (...args: string[]) => execFileSync('ip', args, { stdio: 'pipe' });

export interface Network {
  /** This machine, as both sides reach it. */
  readonly host: string;
  /** What a command in it begins with. */
  readonly within: readonly string[];
  cut(): void;
  mend(): void;
  close(): void;
}

/** The reason, where this user may not. `place`: of several of one process; all of them reach this machine by any `host`. */
export function openNetwork(place = 0): Network | { readonly problem: string } {
  const id = (process.pid + 0x4000 * place) % 0x10000;
  const [name, near, far] = [`everturn-${id}`, `et${id}a`, `et${id}b`];
  const subnet = `10.213.${id >> 8}`;
  const base = (id & 0x3f) << 2;
  const [host, guest] = [`${subnet}.${base + 1}`, `${subnet}.${base + 2}`];
  const close = () => {
    for (const args of [
      ['link', 'del', near],
      ['netns', 'del', name],
    ])
      try {
        ip(...args);
      } catch {
        // It is not there.
      }
  };
  try {
    ip('netns', 'add', name);
    ip('link', 'add', near, 'type', 'veth', 'peer', 'name', far);
    ip('link', 'set', far, 'netns', name);
    ip('addr', 'add', `${host}/30`, 'dev', near);
    ip('link', 'set', near, 'up');
    ip('-n', name, 'addr', 'add', `${guest}/30`, 'dev', far);
    ip('-n', name, 'link', 'set', 'lo', 'up');
    ip('-n', name, 'link', 'set', far, 'up');
    ip('-n', name, 'route', 'add', 'default', 'via', host);
  } catch (error) {
    close();
    return { problem: `no network namespace can be made here: ${(error as Error).message.split('\n').at(-2) ?? ''}` };
  }
  /** Frames to a station that is not there vanish: neither side learns anything. */
  const address = (station: string | undefined) => {
    for (const [dev, to, at] of [
      [near, guest, []],
      [far, host, ['-n', name]],
    ] as const)
      if (station) ip(...at, 'neigh', 'replace', to, 'lladdr', station, 'dev', dev, 'nud', 'permanent');
      else ip(...at, 'neigh', 'del', to, 'dev', dev);
  };
  return {
    host,
    within: ['ip', 'netns', 'exec', name],
    cut: () => address('02:00:00:00:00:99'),
    mend: () => address(undefined),
    close,
  };
}
