// The start of a user's program: the words of a command, or the bundle of a module; the folder it is started in, and the
// environment variables it gets.

import { existsSync, statSync, readFileSync } from 'node:fs';
import { availableParallelism, homedir } from 'node:os';
import { basename, delimiter, dirname, extname, isAbsolute, join } from 'node:path';
import { createHash } from 'node:crypto';
import { packageRoot } from '../../local/machine/package-root.ts';

/** Processes of one program on one worker. */
export const PROCESSES = Math.min(8, Math.max(2, availableParallelism()));
const HEAP_MB = 512;
/** Passed on beside the variables of an environment's own. No other variable of the worker is, such as a key. */
const PASSED =
  /^(?:PATH|HOME|USER|LANG|LC_\w+|TZ|TMPDIR|VIRTUAL_ENV|CONDA_PREFIX|PYTHONPATH|LD_LIBRARY_PATH|ENVIRONMENT_\w+)$/;

export type Log = (line: string) => void;

export interface ProcessLaunch {
  /** The environment or server, for messages. */
  readonly who: string;
  readonly file: string;
  readonly args: readonly string[];
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
  readonly log: Log;
  /** Exit codes by which its limits end it, and what it did then. */
  readonly endings?: Readonly<Record<number, string>>;
}

export function commandLaunch(words: readonly string[], log: Log): ProcessLaunch {
  const [file = '', ...args] = words;
  return { who: titleOf(words), file, args, cwd: folderOf(words), env: passedEnv(), log };
}

/** A file of Python may define its environment only: then the package plays it. */
export function environmentLaunch(words: readonly string[], log: Log): ProcessLaunch {
  const launch = commandLaunch(words, log);
  const [python = '', file = ''] = words;
  const isFile = words.length === 2 && /^python[\d.]*$/.test(basename(python)) && extname(file) === '.py';
  return isFile ? { ...launch, args: ['-m', 'everturn.environment_process', file] } : launch;
}

function passedEnv(): Record<string, string> {
  const passed = Object.entries(process.env).filter(([name, value]) => PASSED.test(name) && value !== undefined);
  const env = Object.fromEntries(passed) as Record<string, string>;
  // Python buffers what it writes into a pipe, and writes into the folder of its sources. `everturn` is always there.
  return {
    ...env,
    PYTHONPATH: [env['PYTHONPATH'], join(packageRoot(), 'python')].filter(Boolean).join(delimiter),
    PYTHONUNBUFFERED: '1',
    PYTHONDONTWRITEBYTECODE: '1',
  };
}

/** `script`: the process that loads the bundle whose hash it is given. */
export function bundleLaunch(who: string, script: string, bundle: string, sha256: string, log: Log): ProcessLaunch {
  const args = [`--max-old-space-size=${HEAP_MB}`, script, bundle, sha256];
  return { who, file: process.execPath, args, cwd: '/', env: passedEnv(), log };
}

/** `words`: a module of the Python package, and its arguments. */
export function packageLaunch(who: string, words: readonly string[], log: Log): ProcessLaunch {
  return { who, file: 'python3', args: ['-m', ...words], cwd: '/', env: passedEnv(), log };
}

/** The files that a command names: its code. */
export function filesOfCommand(words: readonly string[]): string[] {
  const files = words.slice(1).filter((word) => isAbsolute(word) && isFileAt(word));
  const [program = ''] = words;
  return files.length === 0 && isAbsolute(program) && isFileAt(program) ? [program] : files;
}

/** It is started in the folder of its code. */
function folderOf(words: readonly string[]): string {
  const [file] = filesOfCommand(words);
  const folder = file === undefined ? homedir() : dirname(file);
  return existsSync(folder) ? folder : '/';
}

const titleOf = (words: readonly string[]): string =>
  words
    .map((word) => basename(word))
    .join(' ')
    .slice(0, 100);

/** A word of a command that is no path, such as a long text, is none of a file. */
export function isFileAt(path: string): boolean {
  try {
    return statSync(path).isFile();
  } catch {
    return false;
  }
}

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
