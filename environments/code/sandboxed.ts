// Runs one command in a sandbox, once. The command says `ready`, is given its job, says `go`, and from then on what
// it prints is the program's. Everything before `go` is ours: a failure there is a JudgeError that can be retried,
// never the program's fault. Ends in bounded time; when it ends, no process of it is left.

import { type ChildProcess, spawn } from 'node:child_process';
import type { Readable, Writable } from 'node:stream';
import { JudgeError } from '../../domain/errors.ts';
import { type CodeLimits, START_LIMIT_MS } from './limits.ts';
import type { Launch } from './sandbox.ts';

export type Ending = 'exited' | 'wall-limit' | 'output-limit';

export interface Ran {
  readonly ending: Ending;
  /** 128 and the signal's number when a signal ended it. */
  readonly exitCode: number;
  /** What the program printed, without our two marks. */
  readonly output: Buffer;
  /** The end of what it wrote to standard error. Hostile text. */
  readonly errors: string;
}

export const READY = 'ready\n';
export const GO = 'go\n';
const KEPT_ERROR_BYTES = 16 * 1024;

export async function runSandboxed(
  launch: Launch,
  job: Buffer,
  limits: Pick<CodeLimits, 'wallMs' | 'outputBytes'>,
  signal: AbortSignal,
): Promise<Ran> {
  signal.throwIfAborted();
  const child = start(launch);
  const reader = createReader(limits.outputBytes);
  let ending: Ending = 'exited';
  let trouble: string | undefined;
  const kill = () => killGroup(child);
  const end = (why: Ending) => {
    ending = why;
    kill();
  };
  let timer = setTimeout(() => {
    trouble = `it did not begin within ${START_LIMIT_MS / 1000} s`;
    kill();
  }, START_LIMIT_MS);
  const streams = streamsOf(child);
  streams.output?.on('data', (chunk: Buffer) => {
    const before = reader.stage();
    if (!reader.print(chunk)) return end('output-limit');
    const after = reader.stage();
    if (before === 'starting' && after !== 'starting') streams.input?.end(job);
    if (before === 'running' || after !== 'running') return;
    clearTimeout(timer);
    timer = setTimeout(end, limits.wallMs, 'wall-limit');
  });
  streams.errors?.on('data', (chunk: Buffer) => reader.complain(chunk) || end('output-limit'));
  if (launch.extra) streams.extra?.end(launch.extra);
  signal.addEventListener('abort', kill, { once: true });
  try {
    const { code, killedBy, error } = await closed(child);
    signal.throwIfAborted();
    const { stage, output, errors } = reader.finish();
    trouble ??= error?.message;
    if (stage !== 'running' || error) trouble ??= errors.trim() || `it ended with ${killedBy ?? code} before it began`;
    // Nothing inside can reach the outer process: whoever killed it, it was not the program.
    else if (killedBy && ending === 'exited') trouble = `${killedBy} came from outside`;
    if (trouble !== undefined) throw sandboxTrouble(trouble, error);
    return { ending, exitCode: code ?? 137, output, errors };
  } finally {
    clearTimeout(timer);
    signal.removeEventListener('abort', kill);
  }
}

function start({ file, args, uid }: Launch): ChildProcess {
  try {
    return spawn(file, args, {
      env: {},
      cwd: '/',
      // Its own session: a Ctrl-C in our terminal is not the program's end.
      detached: true,
      stdio: ['pipe', 'pipe', 'pipe', 'pipe'],
      ...(uid === undefined ? {} : { uid, gid: uid }),
    });
  } catch (error) {
    throw sandboxTrouble('it could not be started', error);
  }
}

/** bubblewrap takes its whole namespace with it; what has no namespace is at least one group. */
function killGroup(child: ChildProcess): void {
  if (child.pid === undefined || child.exitCode !== null || child.signalCode !== null) return;
  try {
    process.kill(-child.pid, 'SIGKILL');
  } catch {
    child.kill('SIGKILL');
  }
}

function sandboxTrouble(what: string, cause?: unknown): JudgeError {
  return new JudgeError(`The sandbox failed: ${what.slice(0, 500)}`, {
    reason: 'sandbox-trouble',
    fix: '`everturn doctor` tries the sandbox and says what is wrong.',
    retryable: true,
    cause,
  });
}

function streamsOf(child: ChildProcess) {
  // Out of file descriptors there are none at all.
  const streams = (child.stdio as ChildProcess['stdio'] | undefined) ?? [];
  for (const stream of streams) stream?.on('error', () => undefined); // A command that ended early closes them.
  const [input, output, errors, extra] = streams;
  return {
    input: input as Writable | undefined,
    output: output as Readable | undefined,
    errors: errors as Readable | undefined,
    extra: extra as Writable | undefined,
  };
}

interface Closed {
  readonly code: number | null;
  readonly killedBy: NodeJS.Signals | null;
  readonly error?: Error;
}

/** Resolves when the process has ended and nobody holds its streams any more. */
function closed(child: ChildProcess): Promise<Closed> {
  return new Promise((resolve) => {
    child.once('error', (error) => resolve({ code: null, killedBy: null, error }));
    child.once('close', (code, killedBy) => resolve({ code, killedBy }));
  });
}

type Stage = 'starting' | 'given' | 'running';

/** Splits our two marks from what the program prints, and counts. */
function createReader(limitBytes: number) {
  let stage: Stage = 'starting';
  let head = '';
  let printed: Buffer[] = [];
  let bytes = 0;
  let errors = '';
  return {
    stage: () => stage,
    /** False when the program has printed more than it may. */
    print(chunk: Buffer): boolean {
      let rest = chunk;
      while (stage !== 'running' && rest.length > 0) {
        const mark = stage === 'starting' ? READY : GO;
        const taken = rest.subarray(0, mark.length - head.length);
        head += taken.toString('latin1');
        rest = rest.subarray(taken.length);
        if (head.length < mark.length) return true;
        if (head !== mark) return false;
        head = '';
        stage = stage === 'starting' ? 'given' : 'running';
      }
      bytes += rest.length;
      if (bytes > limitBytes) {
        printed = [];
        return false;
      }
      if (rest.length > 0) printed.push(rest);
      return true;
    },
    complain(chunk: Buffer): boolean {
      errors = (errors + chunk.toString('utf8')).slice(-KEPT_ERROR_BYTES);
      bytes += chunk.length;
      return bytes <= limitBytes;
    },
    finish: () => ({ stage, output: Buffer.concat(printed), errors }),
  };
}
