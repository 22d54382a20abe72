// Runs one command in a sandbox, once. The command prints `ready`, gets its job, prints `go`; all later output is the
// program's. A failure before `go` is SandboxTrouble, never the program's fault; so is a kill from outside.
// Time that the machine gave to other processes does not count. Ends in bounded time and leaves no process behind.

import { type ChildProcess, spawn } from 'node:child_process';
import { PassThrough, type Readable, type Writable } from 'node:stream';
import { type Clock, startClock, outOfMemoryKills, programPidNow } from './clock.ts';
import { type CodeLimits, DEFAULT_LIMITS, START_LIMIT_MS, type Launch } from './sandbox.ts';

type Ending = 'exited' | Limit;
type Limit = 'wall-limit' | 'output-limit' | 'file-limit';

export interface Ran {
  readonly ending: Ending;
  /** 128 plus the signal's number if a signal ended it. */
  readonly exitCode: number;
  /** The program's output, without our two marks. */
  readonly output: Buffer;
  /** The end of its standard error. Hostile text. */
  readonly errors: string;
  /** The time from `go` to its end, minus that in which it was ready but the machine was busy. */
  readonly ranMs: number;
}

export type RunLimits = Pick<CodeLimits, 'wallMs' | 'outputBytes' | 'files'>;

const KILLED = 128 + 9;

/** One command and its job. */
export interface Run {
  readonly launch: Launch;
  readonly job: Buffer;
  readonly limits: RunLimits;
}

export type Runs = readonly [Run] | readonly [Run, Run];

/** Two talk: what one prints is the other's input behind its job, and ends with it. The failure of one ends both. */
export async function runAll(runs: Runs, signal: AbortSignal): Promise<readonly Ran[]> {
  if (runs.length === 1) return [await runSandboxed(runs[0].launch, runs[0].job, runs[0].limits, signal)];
  const failed = new AbortController();
  const both = AbortSignal.any([signal, failed.signal]);
  const pipes = [new PassThrough(), new PassThrough()] as const;
  const rans = runs.map(({ launch, job, limits }, i) =>
    runSandboxed(launch, job, limits, both, { hears: pipes[i === 0 ? 0 : 1], says: pipes[i === 0 ? 1 : 0] }).catch(
      (error: unknown) => {
        if (!failed.signal.aborted) failed.abort(error);
        throw failed.signal.reason;
      },
    ),
  );
  await Promise.allSettled(rans);
  return Promise.all(rans);
}

interface Talk {
  readonly hears: PassThrough;
  readonly says: PassThrough;
}

/** `talk`: its output goes there, and is not part of what is returned. */
export async function runSandboxed(
  launch: Launch,
  job: Buffer,
  limits: RunLimits,
  signal: AbortSignal,
  talk?: Talk,
): Promise<Ran> {
  signal.throwIfAborted();
  const oomKills = outOfMemoryKills(1000);
  const child = start(launch);
  const reader = createReader(
    limits.outputBytes,
    DEFAULT_LIMITS.outputBytes,
    talk && ((chunk) => talk.says.write(chunk)),
  );
  let ending: Ending = 'exited';
  let trouble: string | undefined;
  const kill = () => killTree(child, launch);
  const end = (why: Limit) => {
    if (ending === 'exited') ending = why;
    kill();
  };
  const fail = (why: string) => {
    trouble ??= why;
    kill();
  };
  let stopTimers = endLater(START_LIMIT_MS, () => fail(`it did not begin within ${START_LIMIT_MS / 1000} s`));
  let clock: Clock | undefined;
  const mostFiles = launch.countFiles ? limits.files : undefined;
  const began = () => {
    stopTimers();
    clock = startClock(launch.watch ? child.pid : undefined, limits.wallMs, mostFiles, { end, fail });
    stopTimers = clock.stop;
  };
  const streams = streamsOf(child);
  streams.output?.on('data', (chunk: Buffer) => {
    const before = reader.stage();
    if (!reader.print(chunk)) return end('output-limit');
    const after: Stage = reader.stage();
    if (before === 'starting' && after !== 'starting') {
      if (!talk) streams.input?.end(job);
      else if (streams.input?.write(job) !== undefined) talk.hears.pipe(streams.input);
    }
    if (before !== 'running' && after === 'running') began();
  });
  streams.errors?.on('data', (chunk: Buffer) => reader.complain(chunk) || end('output-limit'));
  if (launch.extra) streams.extra?.end(launch.extra);
  child.once('exit', (_code, killedBy) => killedBy && killGroup(child));
  signal.addEventListener('abort', kill, { once: true });
  try {
    const { code, killedBy, error } = await closed(child);
    talk?.says.end();
    signal.throwIfAborted();
    const { stage, output, errors } = reader.finish();
    trouble ??= error?.message;
    if (stage !== 'running') trouble ??= errors.trim() || `it ended with ${killedBy ?? code} before it began`;
    // No program inside can reach the outer process, so it did not cause this.
    else if (killedBy && ending === 'exited') trouble ??= `${killedBy} came from outside`;
    else if (code === KILLED && (await outOfMemoryKills(0)) !== (await oomKills))
      trouble ??= 'the machine ran out of memory';
    if (trouble !== undefined) throw new SandboxTrouble(trouble, error);
    return { ending, exitCode: code ?? KILLED, output, errors, ranMs: clock?.ranMs() ?? 0 };
  } finally {
    stopTimers();
    signal.removeEventListener('abort', kill);
  }
}

function start({ file, args, uid }: Launch): ChildProcess {
  try {
    return spawn(file, args, {
      env: {},
      cwd: '/',
      // Its own session: Ctrl-C in our terminal must not end the program.
      detached: true,
      stdio: ['pipe', 'pipe', 'pipe', 'pipe'],
      ...(uid === undefined ? {} : { uid, gid: uid }),
    });
  } catch (error) {
    throw new SandboxTrouble('it could not be started', error);
  }
}

/**
 * The program first: bubblewrap ends when it has seen the program's end, so nothing is left once we are notified. In the
 * other order the kernel would kill the program too, but a moment later. Without a namespace, at least kill the group.
 */
function killTree(child: ChildProcess, { watch }: Launch): void {
  if (child.pid === undefined || child.exitCode !== null || child.signalCode !== null) return;
  const program = watch ? programPidNow(child.pid) : undefined;
  try {
    process.kill(program ?? -child.pid, 'SIGKILL');
  } catch {
    child.kill('SIGKILL');
  }
}

/** One that is killed while it sets up leaves a process behind, which waits for it for ever and holds the streams. */
function killGroup({ pid }: ChildProcess): void {
  try {
    process.kill(-pid!, 'SIGKILL');
  } catch {
    // Nothing was left.
  }
}

const FAILED = 'The sandbox failed: ';

/** The sandbox could not run a program: another try may. */
export class SandboxTrouble extends Error {
  constructor(what: string, cause?: unknown) {
    super(`${FAILED}${what.replace(FAILED, '').slice(-500)}`, { cause });
    this.name = 'SandboxTrouble';
  }
}

function endLater(ms: number, then: () => unknown): () => void {
  const timer = setTimeout(then, ms);
  return () => clearTimeout(timer);
}

function streamsOf(child: ChildProcess) {
  // If file descriptors are exhausted, the streams do not exist.
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

/** Resolves when the process has ended and its streams are closed. */
function closed(child: ChildProcess): Promise<Closed> {
  return new Promise((resolve) => {
    child.once('error', (error) => resolve({ code: null, killedBy: null, error }));
    child.once('close', (code, killedBy) => resolve({ code, killedBy }));
  });
}

const READY = 'ready\n';
const GO = 'go\n';

/** `starting` until it is ready, `given` until the program begins. */
type Stage = 'starting' | 'given' | 'running';

const KEPT_ERROR_CHARS = 16 * 1024;

/** `outputBytes`, `errorBytes`: the limit of each stream. `keep` gets what is printed, in place of the end's whole. */
export function createReader(outputBytes: number, errorBytes: number, keep?: (chunk: Buffer) => unknown) {
  let stage: Stage = 'starting';
  let head = '';
  let printed: Buffer[] = [];
  let printedBytes = 0;
  let errors = '';
  let complainedBytes = 0;
  return {
    stage: () => stage,
    /** False once the program has exceeded the limit of standard output. */
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
      printedBytes += rest.length;
      if (printedBytes > outputBytes) {
        printed = [];
        return false;
      }
      if (rest.length > 0) (keep ?? ((chunk) => printed.push(chunk)))(rest);
      return true;
    },
    /** False once the program has exceeded the limit of standard error. */
    complain(chunk: Buffer): boolean {
      errors = (errors + chunk.toString('utf8')).slice(-KEPT_ERROR_CHARS);
      complainedBytes += chunk.length;
      return complainedBytes <= errorBytes;
    },
    finish: () => ({ stage, output: Buffer.concat(printed), errors }),
  };
}
