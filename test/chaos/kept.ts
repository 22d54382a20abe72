// A process that something keeps alive, as systemd or Kubernetes would: started again at once whenever it ends. Its
// output goes to a file. Ends with the test, however that dies: Node children by their closed channel.

import { type ChildProcess, spawn } from 'node:child_process';
import { closeSync, openSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';

export interface Kept {
  readonly name: string;
  /** Undefined between two lives. */
  pid(): number | undefined;
  /** Started so far. */
  lives(): number;
  /** Lives that ended by themselves, not by a kill -9: each is a crash. */
  readonly crashes: string[];
  /** Resolves when a life is ready to work. */
  ready(): Promise<void>;
  /** Ends it, and starts it no more until `start`. */
  stop(signal?: NodeJS.Signals): Promise<void>;
  start(): void;
}

/** `args` of a JavaScript program that says so by a message when it is ready; `within`: what its command begins with. */
export function keepNode(
  name: string,
  args: () => readonly string[],
  env: NodeJS.ProcessEnv,
  log: string,
  { cwd, within = [] }: { readonly cwd?: string | undefined; readonly within?: readonly string[] | undefined } = {},
): Kept {
  let child: ChildProcess | undefined;
  let lives = 0;
  let isReady = false;
  let wanted = true;
  let ended = Promise.resolve();
  const crashes: string[] = [];

  function start(): void {
    wanted = true;
    const output = openSync(log, 'a');
    const [command, ...rest] = [...within, process.execPath, ...args()];
    const life = spawn(command!, rest, { env, cwd, stdio: ['ignore', output, output, 'ipc'] });
    closeSync(output);
    child = life;
    lives++;
    isReady = false;
    life.once('message', () => (isReady = true));
    ended = new Promise((resolve) => {
      life.once('exit', (code, signal) => {
        if (child === life) child = undefined;
        resolve();
        if (!wanted) return;
        if (signal !== 'SIGKILL') crashes.push(`${name} (${life.pid}): exit ${code ?? signal}`);
        // One that cannot start must not spin.
        if (isReady || signal === 'SIGKILL') start();
        else setTimeout(() => wanted && !child && start(), 500);
      });
    });
  }
  start();
  return {
    name,
    crashes,
    pid: () => child?.pid,
    lives: () => lives,
    async ready() {
      while (wanted && !isReady) await sleep(20);
    },
    async stop(signal = 'SIGKILL') {
      wanted = false;
      if (child?.pid) {
        // One that is paused ends only when it goes on.
        process.kill(child.pid, 'SIGCONT');
        child.kill(signal);
      }
      await ended;
    },
    start,
  };
}
