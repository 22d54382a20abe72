// What a command may touch of the world: two streams, the environment, the folder it was called in, and
// the wish of the user to leave. Facts go to `out`, everything else to `err`. Tests pass their own.

export interface Stream {
  write(text: string): unknown;
  readonly isTTY?: boolean;
  readonly columns?: number;
}

export interface Io {
  readonly out: Stream;
  readonly err: Stream;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly cwd: string;
  readonly now: () => number;
  /** From the first call on, Ctrl-C and SIGTERM abort this signal instead of ending the process; a second one ends it. */
  readonly interrupted: () => AbortSignal;
}

export function say(io: Io, line: string): void {
  io.err.write(`${line}\n`);
}

export function print(io: Io, text: string): void {
  io.out.write(text.endsWith('\n') ? text : `${text}\n`);
}

export function printJson(io: Io, value: unknown): void {
  io.out.write(`${JSON.stringify(value)}\n`);
}

export function processIo(): Io {
  let leave: AbortController | undefined;
  return {
    out: process.stdout,
    err: process.stderr,
    env: process.env,
    cwd: process.cwd(),
    now: Date.now,
    interrupted() {
      if (leave) return leave.signal;
      const controller = new AbortController();
      for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
        process.on(name, () => {
          if (controller.signal.aborted) process.exit(130);
          controller.abort();
        });
      }
      leave = controller;
      return controller.signal;
    },
  };
}
