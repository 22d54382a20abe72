// No sandbox, for machines that allow none and operators who consent: only time, memory and output are limited. A program
// can read, write and send everything that this user can.

import { onPath } from './bubblewrap.ts';
import { limitCommand, type Sandbox } from './sandbox.ts';

export async function unsafeSandbox(): Promise<Sandbox> {
  const prlimit = await onPath('prlimit', process.env);
  return {
    name: 'none (unsafe)',
    countsFiles: false,
    launch(command, _folders, limits) {
      // The process limit counts all processes of a user, not only the program's.
      const words = prlimit
        ? limitCommand(prlimit, command, limits).filter((w) => !w.startsWith('--nproc='))
        : [...command];
      const [file = '', ...args] = words;
      return { file, args };
    },
  };
}
