// A user's program that speaks in lines, with all that it starts in one group. Guarantees: a line is read up to a limit;
// `kill` ends the whole group; the group does not outlive this process, also not after a kill -9; its standard error
// goes to the log, a bounded number of lines. It knows no protocol: environments and MCP servers have theirs.

import { type ChildProcess, spawn } from 'node:child_process';
import type { Readable, Writable } from 'node:stream';
import type { ProcessLaunch } from './launch.ts';
import { lastLines, short } from '../../domain/text/foreign-text.ts';

export interface LineEvents {
  readonly maxLineBytes: number;
  onLine(line: Buffer): void;
  /** A line is longer than its limit. */
  onTooLong(): void;
  /** It ended by itself, or never began. `code`: its exit code, if it had one. */
  onEnd(how: string, code: number | null, cause?: unknown): void;
}

/** 3: a pipe that only the owner holds open. Its end kills the whole group: the program and what it started. */
const GUARD = `
exec 4<&3 5<&0
"$@" <&5 3<&- 4<&- 5<&- &
child=$!
exec 5<&- 3<&-
( while read -r _; do :; done; kill -KILL 0 ) <&4 >/dev/null 2>&1 &
guard=$!
wait "$child"
code=$?
kill -KILL "$guard" 2>/dev/null
exit "$code"
`;

const LOGGED_CHARS = 500;
const LOGGED_LINES = 1_000;
const KEPT_LINES = 40;
/** A program that it started may hold its standard error open. */
const LAST_LINES_MS = 1_000;

export class GuardedLines {
  readonly #child: ChildProcess;
  readonly #events: LineEvents;
  #parts: Buffer[] = [];
  #bytes = 0;
  #killed = false;
  readonly #last: string[] = [];

  constructor({ who, file, args, cwd, env, log }: ProcessLaunch, events: LineEvents) {
    this.#events = events;
    this.#child = spawn('/bin/sh', ['-c', GUARD, 'everturn-guard', file, ...args], {
      stdio: ['pipe', 'pipe', 'pipe', 'pipe'],
      detached: true,
      cwd,
      env,
    });
    this.#child.once('error', (cause) => events.onEnd('cannot be started', null, cause));
    this.#child.once('exit', (code, signal) => {
      const notFound = code === 127 ? ' (the program was not found)' : '';
      const how = signal ? `was killed by ${signal}` : `ended with exit code ${code}${notFound}`;
      // Its last lines are read first.
      let isOver = false;
      const end = () => {
        if (!isOver) events.onEnd(how, code);
        isOver = true;
      };
      setTimeout(end, LAST_LINES_MS).unref();
      if ((this.#child.stderr as Readable).closed) setImmediate(end);
      else (this.#child.stderr as Readable).once('close', () => setImmediate(end));
    });
    (this.#child.stdout as Readable).on('data', (chunk: Buffer) => this.#read(chunk));
    (this.#child.stdin as Writable).on('error', () => undefined);
    logLines(this.#child.stderr as Readable, this.#last, (line) => log(`${who}: ${line}`));
    for (const stream of this.#child.stdio.slice(3)) stream?.on('error', () => undefined);
  }

  get pid(): number | undefined {
    return this.#child.pid;
  }

  /** The last that it wrote to its standard error; undefined if that is nothing. */
  get trace(): string | undefined {
    return lastLines(this.#last.join('\n')) || undefined;
  }

  /** All behind the last line break so far. */
  get rest(): Buffer {
    return Buffer.concat(this.#parts);
  }

  write(message: object): void {
    if (!this.#killed) (this.#child.stdin as Writable).write(`${JSON.stringify(message)}\n`);
  }

  /** Once: later the number may be another group's. */
  kill(): void {
    const { pid } = this.#child;
    if (this.#killed) return;
    this.#killed = true;
    this.#parts = [];
    if (pid === undefined) return;
    try {
      process.kill(-pid, 'SIGKILL');
    } catch {
      // All of it is gone.
    }
  }

  #read(chunk: Buffer): void {
    const { maxLineBytes, onLine, onTooLong } = this.#events;
    let from = 0;
    for (let at = chunk.indexOf(10); at >= 0 && !this.#killed; at = chunk.indexOf(10, from)) {
      this.#parts.push(chunk.subarray(from, at));
      const line = Buffer.concat(this.#parts);
      this.#parts = [];
      this.#bytes = 0;
      from = at + 1;
      if (line.length > maxLineBytes) return onTooLong();
      onLine(line);
    }
    if (this.#killed) return;
    this.#parts.push(chunk.subarray(from));
    this.#bytes += chunk.length - from;
    if (this.#bytes > maxLineBytes) onTooLong();
  }
}

function logLines(stream: Readable, last: string[], log: (line: string) => void): void {
  let rest = '';
  let lines = 0;
  const put = (line: string) => {
    if (line.trim() === '') return;
    last.push(line);
    if (last.length > KEPT_LINES) last.shift();
    if (++lines > LOGGED_LINES) return;
    log(short(line, LOGGED_CHARS));
    if (lines === LOGGED_LINES) log('(its further lines are not shown)');
  };
  stream.setEncoding('utf8');
  stream.on('error', () => undefined);
  stream.on('data', (chunk: string) => {
    const all = (rest + chunk).split('\n');
    rest = all.pop()!.slice(0, LOGGED_CHARS);
    for (const line of all) put(line);
  });
  stream.on('end', () => put(rest));
}
