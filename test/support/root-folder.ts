// The files of a container, made of a few programs of this machine: a shell, and what the tests of a task call.

import { execFileSync } from 'node:child_process';
import { copyFileSync, mkdirSync, realpathSync } from 'node:fs';
import { dirname, join } from 'node:path';

const PROGRAMS = ['sh', 'cat', 'rm', 'mkdir', 'chmod', 'tail', 'ln', 'ls', 'sleep', 'env', 'id', 'touch'];

/** `folder`: is made. */
export function makeRoot(folder: string): string {
  for (const made of ['bin', 'tmp', 'etc', 'root']) mkdirSync(join(folder, made), { recursive: true });
  for (const name of PROGRAMS) {
    const file = execFileSync('/bin/sh', ['-c', `command -v ${name}`], { encoding: 'utf8' }).trim();
    copyFileSync(realpathSync(file), join(folder, 'bin', name));
    for (const [, library] of execFileSync('ldd', [file], { encoding: 'utf8' }).matchAll(/(\/\S+) \(0x/g)) {
      mkdirSync(dirname(join(folder, library!)), { recursive: true });
      copyFileSync(realpathSync(library!), join(folder, library!));
    }
  }
  return folder;
}
