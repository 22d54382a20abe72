// A command's access to the outside: two streams, the environment, the working directory and the interrupt signal.
// Results go to `out`, everything else to `err`. Tests pass their own.

import { terminalJson, visible } from '../domain/text/foreign-text.ts';

export interface Stream {
  write(text: string): unknown;
  readonly isTTY?: boolean;
  readonly columns?: number;
}

export interface Io {
  /** Standard input, for a command that reads it. */
  readonly input: () => AsyncIterable<Buffer>;
  readonly out: Stream;
  readonly err: Stream;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly cwd: string;
  readonly now: () => number;
  /** After the first call, Ctrl-C and SIGTERM abort this signal instead of ending the process; a second one ends it. */
  readonly interrupted: () => AbortSignal;
}

export function say(io: Io, line: string): void {
  io.err.write(`${tame(typable(io, line))}\n`);
}

/** Commands that a text of ours names, as they can be typed where this one was: in a checkout through npx. */
export function typable({ env }: Pick<Io, 'env'>, text: string): string {
  const me = env['npm_command'] === undefined ? 'everturn' : 'npx --no-install everturn';
  return text.replace(/(?<=`|^| {2})everturn (?=[a-z-])/gm, `${me} `);
}

export function print(io: Io, text: string): void {
  io.out.write(tame(text.endsWith('\n') ? text : `${text}\n`));
}

/** The tints of paint.ts. */
const OURS = /(\u001b\[(?:1|2|22|3[1236]|39)m)/;

/** Removes every escape sequence but our own colours before text reaches a terminal. */
function tame(text: string): string {
  return text
    .split(OURS)
    .map((part, i) => (i % 2 === 1 ? part : visible(part)))
    .join('');
}

export function printJson(io: Io, value: unknown): void {
  io.out.write(`${terminalJson(value)}\n`);
}

/** Lines of JSON that are printed in one turn of the event loop leave in one write. */
export function batchedJson(io: Io): { print(value: unknown): void; flush(): void } {
  let lines = '';
  const flush = (): void => {
    if (lines !== '') io.out.write(lines);
    lines = '';
  };
  return {
    print(value) {
      if (lines === '') setImmediate(flush);
      lines += `${terminalJson(value)}\n`;
    },
    flush,
  };
}

export function processIo(): Io {
  let leave: AbortController | undefined;
  return {
    input: () => process.stdin,
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
