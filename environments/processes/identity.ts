// The identity of a command: a hash over the files that it names, and the words that name none. The interpreter is the
// machine's; what it runs, and with which arguments, is the program.

import { createHash } from 'node:crypto';
import { readFileSync, statSync } from 'node:fs';
import { basename } from 'node:path';
import { filesOfCommand } from './launch.ts';

const MAX_FILE_BYTES = 64 * 1024 * 1024;

/** `own`: what the program says of itself. SHA-256, in hexadecimal. */
export function commandIdentity(words: readonly string[], own: readonly unknown[] = []): string {
  const files = filesOfCommand(words);
  const given = words.slice(1).filter((word) => !files.includes(word));
  const hash = createHash('sha256').update(JSON.stringify([...own, ...(given.length > 0 ? [given] : [])]));
  for (const file of files) {
    const size = statSync(file).size;
    if (size > MAX_FILE_BYTES) hash.update(`\n${basename(file)} ${size}`);
    else hash.update(`\n${createHash('sha256').update(readFileSync(file)).digest('hex')}`);
  }
  return hash.digest('hex');
}
