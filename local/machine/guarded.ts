// Runs a program that cannot outlive this process. A shell starts the program and a helper that waits on a pipe which
// only this process holds open. When this process dies, also by kill -9, the pipe closes and the helper ends the program:
// SIGTERM, then SIGKILL. Unix only. The program has its own session, so Ctrl-C on the terminal reaches only this
// process, which chooses the order of the shutdown.

import { spawn, type StdioOptions } from 'node:child_process';
import type { Readable } from 'node:stream';
import { identify, terminate, type ProcessId } from './process.ts';

export interface GuardedProcess {
  readonly id: ProcessId;
  /** Resolves once, when the program has ended, with a description of how. */
  readonly exited: Promise<string>;
  /** SIGTERM, after `graceMs` SIGKILL. Resolves when it is gone. */
  stop(graceMs: number): Promise<void>;
}

interface GuardedOptions {
  /** Descriptors, 'pipe' or 'ignore' for the program's stdout and stderr. */
  readonly stdout: number | 'pipe' | 'ignore';
  readonly stderr: number | 'pipe' | 'ignore';
  readonly env?: NodeJS.ProcessEnv;
  readonly cwd?: string;
  readonly onOutput?: (stream: Readable, name: 'stdout' | 'stderr') => void;
}

/** 0: the pipe to the owner. 3: sends the program's pid to the owner. */
const GUARD = `
exec 4<&0
"$@" </dev/null 3>&- 4<&- &
child=$!
echo "$child" >&3
exec 3>&-
(
  while read -r _; do :; done
  kill -TERM "$child" 2>/dev/null
  n=0
  while [ $n -lt 30 ] && kill -0 "$child" 2>/dev/null; do sleep 0.1; n=$((n+1)); done
  kill -KILL "$child" 2>/dev/null
) <&4 >/dev/null 2>&1 &
guard=$!
exec 4<&-
wait "$child"
code=$?
kill -KILL "$guard" 2>/dev/null
exit "$code"
`;

export async function spawnGuarded(
  command: string,
  args: readonly string[],
  options: GuardedOptions,
): Promise<GuardedProcess> {
  const stdio: StdioOptions = ['pipe', options.stdout, options.stderr, 'pipe'];
  const shell = spawn('/bin/sh', ['-c', GUARD, 'everturn-guard', command, ...args], {
    stdio,
    detached: true,
    env: options.env,
    cwd: options.cwd,
  });
  if (shell.stdout) options.onOutput?.(shell.stdout, 'stdout');
  if (shell.stderr) options.onOutput?.(shell.stderr, 'stderr');
  const ended = new Promise<string>((resolve, reject) => {
    shell.once('error', reject);
    shell.once('exit', (code, signal) => resolve(endOf(code, signal)));
  });
  ended.catch(() => undefined);
  shell.stdin?.on('error', () => undefined);
  const pid = Number(await Promise.race([firstLine(shell.stdio[3] as Readable), ended]));
  const id = (Number.isInteger(pid) && identify(pid)) || { pid, startTime: 'gone' };

  const exited = ended.then(async (how) => {
    // If the shell itself was killed, the program must not survive it.
    shell.stdin?.destroy();
    await terminate(id, 0);
    return how;
  });
  return {
    id,
    exited,
    async stop(graceMs) {
      await terminate(id, graceMs);
      await exited;
    },
  };
}

function endOf(code: number | null, signal: NodeJS.Signals | null): string {
  if (signal) return `its guard was killed by ${signal}`;
  // A shell reports a signal as 128 + its number.
  return code !== null && code > 128 ? `killed by signal ${code - 128}` : `ended with exit code ${code}`;
}

async function firstLine(stream: Readable): Promise<string> {
  let text = '';
  for await (const chunk of stream) {
    text += String(chunk);
    if (text.includes('\n')) break;
  }
  return text.trim();
}
