// No sandbox at all, for machines that allow none and users who say so: time, memory and output are limited,
// nothing else. A program can read, write and send whatever this user can.

import { onPath } from './bubblewrap.ts';
import { limited, type Sandbox } from './sandbox.ts';

export async function unsafeSandbox(): Promise<Sandbox> {
  const prlimit = await onPath('prlimit', process.env);
  return {
    name: 'none (unsafe)',
    countsFiles: false,
    launch(command, _folders, limits) {
      // The limit on processes counts all of a user's, not the program's.
      const words = prlimit ? limited(prlimit, command, limits).filter((w) => !w.startsWith('--nproc=')) : [...command];
      const [file = '', ...args] = words;
      return { file, args };
    },
  };
}
