// A command that is run to its end, with what it wrote. It ends with its time limit, with its attempt, and as the end of this
// process ends a container's: bubblewrap dies with its parent.

import { execFile } from 'node:child_process';
import { AgentError } from '../../domain/errors/errors.ts';
import { lastLines, short } from '../../domain/text/foreign-text.ts';

export interface Ran {
  /** Null: it was ended, by its time limit or for writing too much. */
  readonly code: number | null;
  readonly isLate: boolean;
  readonly stdout: string;
  readonly stderr: string;
}

interface Limits {
  readonly seconds: number;
  readonly signal: AbortSignal;
}

/** A command that writes more is ended. */
export const MAX_BYTES = 1 << 20;

/** Rejects with the signal's reason only. */
export function ranCommand(words: readonly string[], { seconds, signal }: Limits): Promise<Ran> {
  const [file = '', ...args] = words;
  const options = { timeout: seconds * 1000, killSignal: 'SIGKILL', maxBuffer: MAX_BYTES, signal } as const;
  const startedAt = performance.now();
  return new Promise((resolve, reject) => {
    const child = execFile(file, args, options, (error, stdout, stderr) => {
      if (signal.aborted) return reject(signal.reason as Error);
      const code = error === null ? 0 : typeof error.code === 'number' ? error.code : null;
      const isLate = error?.killed === true && performance.now() - startedAt >= seconds * 1000;
      const why = stderr === '' && error !== null ? error.message : stderr;
      resolve({ code, isLate, stdout, stderr: why });
    });
    child.stdin?.end();
  });
}

/** Its standard output. `isLasting`: what made it fail once makes it fail again. */
export async function mustRun(words: readonly string[], limits: Limits, isLasting = false): Promise<string> {
  const { code, stdout, stderr } = await ranCommand(words, limits);
  if (code === 0) return stdout.trim();
  const why = short(lastLines(stderr) || `exit code ${code}`, 400);
  throw new AgentError(`The agent's container cannot be made: ${words.slice(0, 2).join(' ')}: ${why}`, {
    reason: 'container-failed',
    fix: 'docs/containers.md has what each kind needs.',
    retryable: !isLasting,
  });
}
