// Starts sandboxes from a small process. Starting a process copies the page tables of its parent: for a worker of 300 MB
// that blocks it for ten milliseconds. The small process dies with the worker, and its sandboxes with it; if it dies
// alone, or stands still for longer than a run may take, its runs fail with a retryable error, and the next run starts a
// new one. From source, where Node cannot run it, the worker starts sandboxes itself.

import { type ChildProcess, fork } from 'node:child_process';
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { mostElapsedMs, START_LIMIT_MS } from './sandbox.ts';
import type { Request, Response } from './runner-child.ts';
import { type Ran, type Runs, runAll, type RunLimits, SandboxTrouble } from './sandboxed.ts';

export interface Runner {
  /** One, or two that talk. */
  run(runs: Runs, signal: AbortSignal): Promise<readonly Ran[]>;
  /** Ends the process; call it when no run is in flight. */
  close(): Promise<void>;
}

const HEAP_MB = 128;
/** The process ends a run itself, and by then has said so. */
const SAY_MS = 60_000;
const longest = ({ wallMs }: RunLimits): number => START_LIMIT_MS + mostElapsedMs(wallMs) + SAY_MS;

/** `entry`: the compiled script of the small process. */
export function createRunner(
  entry: string | undefined = childEntry(),
  longestMs: (limits: RunLimits) => number = longest,
): Runner {
  if (entry === undefined) return { run: runAll, close: () => Promise.resolve() };
  const children = createChildren(entry);
  return {
    async run(runs, signal) {
      signal.throwIfAborted();
      const { owner, id, reply, end } = children.begin(runs);
      const killIn = (ms: number) => setTimeout(() => owner.kill('SIGKILL'), ms);
      let standsStill = killIn(Math.max(...runs.map(({ limits }) => longestMs(limits))));
      const abort = () => {
        owner.send({ id, abort: true } satisfies Request, () => undefined);
        clearTimeout(standsStill);
        standsStill = killIn(SAY_MS);
      };
      signal.addEventListener('abort', abort, { once: true });
      try {
        const response = await reply;
        signal.throwIfAborted();
        if ('rans' in response) return response.rans.map((ran) => ({ ...ran, output: Buffer.from(ran.output) }));
        throw new SandboxTrouble(response.trouble);
      } finally {
        clearTimeout(standsStill);
        signal.removeEventListener('abort', abort);
        end();
      }
    },
    close: children.close,
  };
}

/** The small process, begun again where it has ended, and what it has yet to answer. */
function createChildren(entry: string) {
  let child: ChildProcess | undefined;
  let lastId = 0;
  const waiting = new Map<number, (response: Response) => void>();
  const owners = new Map<number, ChildProcess>();

  const started = (): ChildProcess => {
    if (child) return child;
    const fresh = fork(entry, [], {
      // It starts programs that a model wrote, so it gets nothing of the worker's environment.
      env: {},
      execArgv: [`--max-old-space-size=${HEAP_MB}`],
      serialization: 'advanced',
      stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
    });
    const gone = () => {
      if (child === fresh) child = undefined;
      for (const [id, answer] of waiting) if (owners.get(id) === fresh) answer({ id, trouble: 'its process ended' });
    };
    fresh.on('message', (response: Response) => waiting.get(response.id)?.(response));
    fresh.once('error', gone);
    fresh.once('exit', gone);
    return (child = fresh);
  };
  const hold = () => {
    // An idle process must not keep the worker alive; a busy one must.
    const way = waiting.size > 0 ? 'ref' : 'unref';
    child?.[way]();
    child?.channel?.[way]();
  };

  return {
    begin(runs: Runs) {
      const owner = started();
      const id = ++lastId;
      const reply = new Promise<Response>((resolve) => {
        waiting.set(id, resolve);
        owners.set(id, owner);
        hold();
        owner.send({ id, runs } satisfies Request, (error) => {
          if (error) resolve({ id, trouble: error.message });
        });
      });
      const end = () => {
        waiting.delete(id);
        owners.delete(id);
        hold();
      };
      return { owner, id, reply, end };
    },
    async close() {
      const last = child;
      if (!last || last.exitCode !== null || last.signalCode !== null) return;
      const exited = new Promise((resolve) => void last.once('exit', resolve));
      last.ref();
      if (last.connected) last.disconnect();
      await exited;
    },
  };
}

function childEntry(): string | undefined {
  const entry = fileURLToPath(new URL('./runner-child.js', import.meta.url));
  return existsSync(entry) ? entry : undefined;
}
