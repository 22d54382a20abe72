// One child of the pool: a process that answers one line at a time. It says how it ended; whose doing that was, is the pool's.

import { spawn } from 'node:child_process';

/**
 * How a child ended before it answered. `own`: of its work (memory, stack, an exception, its limit of processor time).
 * `outside`: another process killed it. `limit`: the limit of the wall clock.
 */
export type ChildEnd = 'own' | 'outside' | 'limit';

export interface Child {
  readonly pid: number | undefined;
  isOver(): boolean;
  /** Its next line, for this one: the first, without a line, says that it is ready. */
  ask(line: string | undefined, limitMs: number): Promise<{ readonly reply: string } | { readonly end: ChildEnd }>;
  kill(): void;
}

/** Heap of one child: enough for the judge, small enough that a runaway dies at once. */
const HEAP_MB = 96;
/** Signals that always come from outside. A child over its limit of processor time ends by SIGXCPU. */
const FROM_OUTSIDE: ReadonlySet<string | null> = new Set(['SIGKILL', 'SIGTERM', 'SIGINT', 'SIGHUP', 'SIGQUIT']);
const LOOKS = 4;

export function startChild(entry: string, args: readonly string[]): Child {
  const flags = [`--max-old-space-size=${HEAP_MB}`, '--max-semi-space-size=4'];
  // Model text is judged here: nothing of the worker's environment is.
  const child = spawn(process.execPath, [...flags, entry, ...args], { stdio: ['pipe', 'pipe', 'ignore'], env: {} });
  let ended: ChildEnd | undefined;
  let isLate = false;
  let rest = '';
  let settle = (): void => undefined;
  const end = (signal: string | null): void => {
    ended ??= isLate ? 'limit' : FROM_OUTSIDE.has(signal) ? 'outside' : 'own';
    settle();
  };
  child.stdin.on('error', () => undefined);
  child.stdout.setEncoding('utf8').on('data', (chunk: string) => {
    rest += chunk;
    if (chunk.endsWith('\n')) settle();
  });
  child.once('error', () => end(null));
  // Not `exit`: a reply that it wrote before it died is read first.
  child.once('close', (_code, signal) => end(signal));

  return {
    pid: child.pid,
    isOver: () => ended !== undefined,
    kill: () => void child.kill('SIGKILL'),
    async ask(line, limitMs) {
      // An idle child must not keep its parent alive; a busy one must.
      const handles = [child, child.stdin, child.stdout] as unknown as NodeJS.Timeout[];
      for (const handle of handles) handle.ref();
      // Looks are counted and not the clock: while this process sleeps, a reply may be waiting, and it looks once.
      let looks = 0;
      const timer = setInterval(() => {
        isLate ||= ++looks > LOOKS;
        if (isLate) child.kill('SIGKILL');
      }, limitMs / LOOKS).unref();
      if (line !== undefined) child.stdin.write(`${line}\n`);
      while (!rest.endsWith('\n') && !ended) await new Promise<void>((resolve) => (settle = resolve));
      clearInterval(timer);
      for (const handle of handles) handle.unref();
      if (!rest.endsWith('\n')) return { end: ended! };
      const reply = rest.slice(0, -1);
      rest = '';
      return { reply };
    },
  };
}
