// The door `command`: a program that speaks JSON lines. Its identity is a hash over the files that the command names, or
// what the program itself says of its code, with its name and version.

import { createHash } from 'node:crypto';
import { existsSync, readFileSync, statSync } from 'node:fs';
import { availableParallelism, homedir } from 'node:os';
import { basename, dirname, isAbsolute } from 'node:path';
import type { EnvironmentRecord } from '../../domain/rollout/environment.ts';
import { EnvironmentError } from '../../domain/errors/errors.ts';
import type { JsonObject } from '../../domain/text/json.ts';
import type { ProcessLaunch } from './guarded-lines.ts';
import type { Hello } from './reply.ts';
import { helloOf } from './process-pool.ts';
import { isFileAt } from './spec.ts';

/** Processes of one environment on one worker. */
export const PROCESSES = Math.min(8, Math.max(2, availableParallelism()));
const MAX_FILE_BYTES = 64 * 1024 * 1024;
/** Passed on beside the environment's own variables. No other variable of the worker is, such as a key. */
const PASSED =
  /^(?:PATH|HOME|USER|LANG|LC_\w+|TZ|TMPDIR|VIRTUAL_ENV|CONDA_PREFIX|PYTHONPATH|LD_LIBRARY_PATH|ENVIRONMENT_\w+)$/;

export type Log = (line: string) => void;

export function commandLaunch(words: readonly string[], log: Log): ProcessLaunch {
  const [file = '', ...args] = words;
  return { who: titleOf(words), file, args, cwd: folderOf(words), env: passedEnv(), log };
}

export function passedEnv(): Record<string, string> {
  const passed = Object.entries(process.env).filter(([name, value]) => PASSED.test(name) && value !== undefined);
  // Python buffers what it writes into a pipe, and writes into the folder of its sources.
  return {
    ...(Object.fromEntries(passed) as Record<string, string>),
    PYTHONUNBUFFERED: '1',
    PYTHONDONTWRITEBYTECODE: '1',
  };
}

/** An environment's record, and its agents, not parsed yet. */
export interface Described {
  readonly record: EnvironmentRecord;
  readonly agents: readonly JsonObject[];
}

/** The command as it describes itself, with the hash of its code. */
export async function describeCommand(words: readonly string[], log: Log): Promise<Described> {
  const { fingerprint, agents = [], ...hello } = await helloOf(commandLaunch(words, log));
  const own = { ...hello, ...(fingerprint === undefined ? {} : { fingerprint }) };
  const record = { ...hello, door: 'command', spec: [...words], fingerprint: commandFingerprint(words, own) } as const;
  return { record, agents };
}

export function commandFingerprint(words: readonly string[], { name, version, fingerprint }: Hello): string {
  // The interpreter is the machine's; what it runs, and with which arguments, is the environment.
  const files = filesOf(words);
  const given = words.slice(1).filter((word) => !files.includes(word));
  const own = [name, version, fingerprint ?? null, ...(given.length > 0 ? [given] : [])];
  const hash = createHash('sha256').update(JSON.stringify(own));
  for (const file of files) {
    const size = statSync(file).size;
    if (size > MAX_FILE_BYTES) hash.update(`\n${basename(file)} ${size}`);
    else hash.update(`\n${createHash('sha256').update(readFileSync(file)).digest('hex')}`);
  }
  return hash.digest('hex');
}

function filesOf(words: readonly string[]): string[] {
  const files = words.slice(1).filter((word) => isAbsolute(word) && isFileAt(word));
  const [program = ''] = words;
  return files.length === 0 && isAbsolute(program) && isFileAt(program) ? [program] : files;
}

/** It is started in the folder of its code. */
function folderOf(words: readonly string[]): string {
  const [file] = filesOf(words);
  const folder = file === undefined ? homedir() : dirname(file);
  return existsSync(folder) ? folder : '/';
}

const titleOf = (words: readonly string[]): string =>
  words
    .map((word) => basename(word))
    .join(' ')
    .slice(0, 100);

/** Throws where the program that was started is not the run's. */
export function mustBeCommand(record: EnvironmentRecord, words: readonly string[], hello: Hello): void {
  const found = commandFingerprint(words, hello);
  if (found === record.fingerprint && hello.name === record.name && hello.state === record.state) return;
  throw mismatch(record, `${hello.name} ${hello.version}`, found);
}

export function mismatch(record: EnvironmentRecord, title: string, found: string): EnvironmentError {
  return new EnvironmentError(
    `The run has the environment ${record.name} ${record.version} (${record.fingerprint.slice(0, 12)}), ` +
      `and this worker found ${title} (${found.slice(0, 12)}).`,
    {
      reason: 'environment-mismatch',
      fix: 'Bring the code back as it was when the run was made, or begin a run with the new one.',
    },
  );
}
