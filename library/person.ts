// The person behind an act, as it is recorded: `by`, else git's user.email, else the name of this user. A claim, not a proof.

import { execFile } from 'node:child_process';
import { userInfo } from 'node:os';
import { promisify } from 'node:util';
import { unusable } from '../domain/errors/unusable.ts';
import type { InFolder } from './command-line.ts';

const GIT_MS = 2000;
const MOST_CHARS = 200;

export async function personOf({ cwd }: InFolder, by: string | undefined): Promise<string> {
  if (by !== undefined) return mustBeText('--by', by, MOST_CHARS);
  return (await gitEmail(cwd)) ?? userName();
}

async function gitEmail(cwd: string): Promise<string | undefined> {
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
export function mustBeText(name: string, text: string, most: number, breaks = false): string {
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
  throw unusable(`${name} ${fault}.`, `It takes a text of 1 to ${most} characters${breaks ? '' : ' on one line'}.`);
}

const MOST_REASON_CHARS = 2000;
export const MOST_TEXT_CHARS = 20_000;

export const reasonOf = (reason: string | undefined): string | null =>
  reason === undefined ? null : mustBeText('--reason', reason, MOST_REASON_CHARS);

/** A message to the model that goes with an act. */
export const messageOf = (say: string | undefined): string | null =>
  say === undefined ? null : mustBeText('--say', say, MOST_TEXT_CHARS, true);
