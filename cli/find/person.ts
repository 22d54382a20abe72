// The person behind a command, as it is recorded: --by, else git's user.email, else the name of this user. A claim, not a
// proof.

import { execFile } from 'node:child_process';
import { userInfo } from 'node:os';
import { promisify } from 'node:util';
import { unusable } from '../command.ts';
import type { Io } from '../io.ts';

const GIT_MS = 2000;
const MOST_CHARS = 200;

export async function personOf(io: Io, by: string | undefined): Promise<string> {
  if (by !== undefined) return mustBeText('--by', by, MOST_CHARS);
  return (await gitEmail(io)) ?? userName();
}

async function gitEmail({ cwd }: Io): Promise<string | undefined> {
  const asked = promisify(execFile)('git', ['config', 'user.email'], { cwd, timeout: GIT_MS });
  const email = await asked.then(
    ({ stdout }) => stdout.trim(),
    () => '',
  );
  return email === '' || email.length > MOST_CHARS || !isPlain(email) ? undefined : email;
}

function userName(): string {
  try {
    return userInfo().username;
  } catch {
    return 'unknown';
  }
}

/** Line breaks and tabs are part of a text; a name has none. */
function isPlain(text: string, breaks = false): boolean {
  return !/\p{Cc}|\p{Cs}/u.test(breaks ? text.replace(/[\n\t]/g, '') : text);
}

/** The text without white space around it; throws a UsageError if it is empty, too long, or has control characters. */
export function mustBeText(flag: string, text: string, most: number, breaks = false): string {
  const clean = text.normalize('NFC').trim();
  const fault =
    clean.replace(/\p{Cf}/gu, '') === ''
      ? 'is empty'
      : clean.length > most
        ? `has ${clean.length} characters`
        : isPlain(clean, breaks)
          ? undefined
          : 'has control characters';
  if (fault === undefined) return clean;
  throw unusable(`${flag} ${fault}.`, `It takes a text of 1 to ${most} characters${breaks ? '' : ' on one line'}.`);
}
