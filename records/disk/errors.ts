// File-system errors as StoreErrors: which file, why, and the fix. Retryable are errors that pass when somebody repairs
// the disk (frees space, makes it writable) or by themselves (too many open files).

import { basename } from 'node:path';
import { StoreError } from '../../domain/errors/errors.ts';
import type { Reason } from '../../domain/errors/reasons.ts';

const KNOWN: Readonly<
  Record<string, readonly [reason: Reason<'store'>, words: string, fix: string, retryable: boolean]>
> = {
  ENOSPC: ['disk-full', 'the disk is full', 'Free some space; the run continues by itself.', true],
  EDQUOT: [
    'disk-full',
    'the disk quota is used up',
    'Free some space or raise the quota; the run continues by itself.',
    true,
  ],
  EFBIG: [
    'file-too-large',
    'the file would be larger than allowed',
    'Raise the limit on file sizes (ulimit -f).',
    false,
  ],
  EACCES: [
    'no-permission',
    'permission denied',
    'Give this user the right to write there; the run continues by itself.',
    true,
  ],
  EPERM: [
    'no-permission',
    'the operation is not permitted',
    'Give this user the right to write there; the run continues by itself.',
    true,
  ],
  EROFS: ['read-only', 'the file system is read-only', 'Make it writable; the run continues by itself.', true],
  ENOTDIR: [
    'not-a-folder',
    'a part of the path is a file, not a folder',
    'Move that file away, or choose another --out.',
    false,
  ],
  ENOENT: ['no-such-folder', 'no folder can be made there', 'Choose another --out.', false],
  EFTYPE: ['not-a-file', 'a pipe, a socket or a device has the name of that file', 'Move it away.', false],
  EISDIR: ['is-a-folder', 'a folder has the name of that file', 'Move that folder away.', false],
  ENAMETOOLONG: ['name-too-long', 'the path is too long', 'Choose a shorter --out.', false],
  ELOOP: [
    'not-a-file',
    'a symbolic link is there, which is not followed, or links run in a circle',
    'Put the file or the folder itself in its place.',
    false,
  ],
  EMFILE: ['too-many-files', 'too many files are open', 'Raise the limit on open files (ulimit -n).', true],
  ENFILE: [
    'too-many-files',
    'too many files are open on this machine',
    'Close some programs, or raise the limit.',
    true,
  ],
  EPIPE: ['pipe-closed', 'no process reads from that pipe', 'Keep its reader open.', false],
  ENXIO: ['no-device', 'nothing is behind that device or socket', 'Choose another --out.', false],
  EIO: ['io-error', 'the disk reports an error', 'Check the disk.', true],
  ESTALE: ['io-error', 'the network file system lost the file', 'Check the file server.', true],
  ETIMEDOUT: ['io-error', 'the file system did not answer', 'Check the file server.', true],
  EBUSY: ['io-error', 'the file is busy', 'Close the program that holds it.', true],
};

export function codeOf(error: unknown): string | undefined {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : undefined;
}

/** `action` as in "write": "cannot write <path>: …". An error that is not from the file system is returned unchanged. */
export function fileError(action: string, path: string, cause: unknown): unknown {
  const code = codeOf(cause);
  if (code === undefined) return cause;
  const known = KNOWN[code];
  if (!known) return new StoreError(`cannot ${action} ${path}`, { reason: 'io-error', cause });
  const [reason, words, right, retryable] = known;
  const fix = action === 'read' && reason === 'no-permission' ? 'Give this user the right to read it.' : right;
  return new StoreError(`cannot ${action} ${path}: ${words}`, { reason, fix, retryable, cause });
}

/** The fault of a record that another Everturn wrote. */
const OTHER_VERSION = /has format "everturn-[a-z]+\/\d{1,9}"/;

/** A record that exists and is damaged. It is never silently written again. */
export function recordError(path: string, problem: string, torn = false): StoreError {
  return new StoreError(`${path} ${problem}`, {
    reason: torn ? 'record-torn' : OTHER_VERSION.test(problem) ? 'other-version' : 'record-broken',
    fix: problem.startsWith('has format') ? LATER : fixOf(path, problem),
  });
}

function fixOf(path: string, problem: string): string {
  if (basename(path) === RUN_FILE) return runFix(problem);
  return LINE_PATH.test(path) ? FROM_COPY : MOVE;
}

const LINE_PATH = /\/ended\//;
/** No step makes a line again: its files are gone. */
export const FROM_COPY = 'Take this file from a copy of the run; no step writes it again.';

const RUN_FILE = 'run.json';
const MOVE =
  'Take it from a copy of the run. In a rollout that is still open, moving its last record away lets that step run again.';
/** Its content is sound, so nothing is to be moved away. */
const LATER = 'Another version of Everturn wrote it: use that one, or a later one.';

/** No step writes a run's own record again: its run would be another one. */
function runFix(problem: string): string {
  if (problem.includes('not a record of ours'))
    return 'Another program made this folder, or wrote into it: it is no run.';
  return 'Take run.json from a copy of the run; the rollouts beside it are as they were.';
}
