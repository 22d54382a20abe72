// The judge of the task `code`: runs the program of an answer against every case of its query, one sandboxed process per
// case, and compares the output outside. Right only if every case passes. A failure of the sandbox is a retryable
// JudgeError; a fault of the data set is undecided.

import { randomBytes } from 'node:crypto';
import { availableParallelism } from 'node:os';
import { JudgeError, SandboxError } from '../../domain/errors/errors.ts';
import type { Query } from '../../domain/query/query.ts';
import type { Verdict } from '../../domain/rollout/verdict.ts';
import {
  type CodeLimits,
  createRunner,
  DEFAULT_LIMITS,
  type Language,
  LANGUAGES,
  languageOf,
  outputLimit,
  proveSandbox,
  type Ran,
  readReport,
  type Runner,
  type Runtime,
  type Sandbox,
  SandboxTrouble,
  unsafeSandbox,
} from '../../packages/sandbox/index.ts';
import type { Judge } from '../environment.ts';
import { casesOf, type GoodCase, inputOf } from './cases.ts';
import { sameOutput, isSameValue } from './compare.ts';
import { parseExactJson } from './exact-json.ts';
import { judgeByTests, programIn } from './judge-tests.ts';

interface CodeOptions {
  readonly limits?: Partial<CodeLimits>;
  /** Concurrent sandboxes. Default: one per core. */
  readonly slots?: number;
  /** The compiled script that starts sandboxes. Default: the one beside this file, if there is one. */
  readonly runnerEntry?: string;
  /** Runs model-written programs on this machine, as this user, with only time, memory and output limited. */
  readonly unsafeWithoutSandbox?: boolean;
}

const SHOWN_CHARS = 200;

/** The judge, and the sandbox by itself: for the tool `python`. */
export interface CodeEnvironment extends Judge {
  /** Runs a Python program once, without input. Throws a retryable JudgeError if the sandbox fails. */
  run(program: string, limits: { readonly wallMs: number; readonly signal: AbortSignal }): Promise<Ran>;
}

/** Throws SandboxError if no sandbox holds and the operator did not disable it. */
export async function createCodeEnvironment(options: CodeOptions = {}): Promise<CodeEnvironment> {
  const sandbox = options.unsafeWithoutSandbox ? await unsafeSandbox() : await provenSandbox();
  const runtimes = new Map<Language, Runtime>();
  for (const language of LANGUAGES) {
    const runtime = await language.findRuntime(process.env);
    if (runtime) runtimes.set(language, runtime);
  }
  if (!runtimes.has(LANGUAGES[0]))
    throw new SandboxError(`There is no ${LANGUAGES[0].name} to run programs.`, {
      reason: 'no-runtime',
      fix: `Install ${LANGUAGES[0].name} where every user can read it.`,
    });
  const limits = { ...DEFAULT_LIMITS, ...options.limits };
  const slots = createSlots(options.slots ?? availableParallelism());
  const runner = asOurs(createRunner(options.runnerEntry));
  const closing = new AbortController();
  return {
    judge(query, answer, { signal, cut = false }) {
      const judging = {
        cut,
        sandbox,
        runtimes,
        runner,
        limits,
        slots,
        signal: AbortSignal.any([signal, closing.signal]),
      };
      return judgeCode(query, answer, judging);
    },
    run(program, { wallMs, signal: wanted }) {
      const own = { ...limits, wallMs, cpuSeconds: Math.max(1, Math.ceil(wallMs / 1000)) };
      const [language] = LANGUAGES;
      const runtime = runtimes.get(language)!;
      const launch = sandbox.launch(runtime.command, runtime.folders, own);
      const job = language.encode({ kind: 'stdin', program, stdin: '' }, randomBytes(12).toString('hex'));
      const signal = AbortSignal.any([wanted, closing.signal]);
      return slots.use(signal, async () => (await runner.run([{ launch, job, limits: own }], signal))[0]!);
    },
    async close() {
      closing.abort(new Error('the code judge is closed'));
      await slots.idle();
      await runner.close();
    },
  };
}

function asOurs({ run, close }: Runner): Runner {
  return {
    run: (...given) =>
      run(...given).catch((error: unknown) => {
        if (!(error instanceof SandboxTrouble)) throw error;
        throw new JudgeError(error.message, {
          ...{ reason: 'sandbox-trouble', retryable: true, cause: error.cause },
          fix: '`everturn worker` tests the sandbox at its start and prints the fault.',
        });
      }),
    close,
  };
}

async function provenSandbox(): Promise<Sandbox> {
  const proof = await proveSandbox();
  if (proof.ok) return proof.sandbox;
  throw new SandboxError(`Code is judged in a sandbox only, and there is none: ${proof.why}`, {
    reason: 'no-sandbox',
    fix: proof.fix,
  });
}

interface Judging {
  readonly cut: boolean;
  readonly sandbox: Sandbox;
  readonly runtimes: ReadonlyMap<Language, Runtime>;
  readonly runner: Runner;
  readonly limits: CodeLimits;
  readonly slots: ReturnType<typeof createSlots>;
  readonly signal: AbortSignal;
}

async function judgeCode(query: Query, answer: string, judging: Judging): Promise<Verdict> {
  const { inputOutput = { inputs: [], outputs: [] }, tests } = query;
  if (!tests && inputOutput.inputs.length === 0) return { verdict: 'undecided', reason: 'no-cases' };
  const block = programIn(answer, tests, inputOutput.fn_name === undefined ? undefined : [inputOutput.fn_name]);
  // A cut answer counts by its last closed fence, as any other; without one, the program was never written.
  if (!block) return { verdict: 'wrong', reason: judging.cut ? 'cut-off' : 'no-code' };
  const extracted = shown(block.code);
  const language = languageOf(block.tag);
  if (!language) return { verdict: 'wrong', reason: 'unsupported-language', extracted };
  const runtime = judging.runtimes.get(language);
  if (!runtime) return { verdict: 'undecided', reason: 'no-runtime', extracted };

  const { code: program } = block;
  if (tests) {
    const judged = () => judgeByTests(tests, program, { ...judging, language, runtime });
    return { ...(await judging.slots.use(judging.signal, judged)), extracted };
  }
  const name = inputOutput.fn_name ?? '';
  let undecided: string | undefined;
  let leftMs = judging.limits.programWallMs;
  for (const one of casesOf(inputOutput)) {
    if (one.kind === 'bad') {
      undecided ??= one.reason;
      continue;
    }
    if (one.expectedChars > judging.limits.outputBytes || inputOf(one).length > judging.limits.diskBytes) {
      undecided ??= 'case-too-big';
      continue;
    }
    const wallMs = Math.min(judging.limits.wallMs, leftMs);
    const outputBytes = outputLimit(one.expectedChars, judging.limits);
    // Standard input is a file next to the program's own.
    const diskBytes = judging.limits.diskBytes + (one.kind === 'stdin' ? Buffer.byteLength(one.stdin) : 0);
    const launch = judging.sandbox.launch(runtime.command, runtime.folders, { ...judging.limits, diskBytes });
    const nonce = randomBytes(12).toString('hex');
    const job = language.encode(one.kind === 'stdin' ? { ...one, program } : { ...one, program, name }, nonce);
    const own = { ...judging.limits, wallMs, outputBytes };
    const [ran] = await judging.slots.use(judging.signal, () =>
      judging.runner.run([{ launch, job, limits: own }], judging.signal),
    );
    const failed = failureOf(ran!, one, language, nonce);
    if (failed) return { verdict: 'wrong', ...failed, extracted };
    leftMs -= ran!.ranMs;
    if (leftMs <= 0) return { verdict: 'wrong', reason: 'timeout', extracted };
  }
  // Every other case passed, and this one cannot be judged.
  if (undecided) return { verdict: 'undecided', reason: undecided, extracted };
  return { verdict: 'right', reason: 'all-cases', extracted };
}

/** A UTF-16 surrogate pair is not split. */
function shown(code: string): string {
  return code.slice(0, SHOWN_CHARS).toWellFormed();
}

interface Failed {
  readonly reason: string;
  readonly suspectedTamper?: boolean;
}

/** Undefined if the program passed. */
function failureOf(
  { ending, exitCode, output, errors }: Ran,
  one: GoodCase,
  language: Language,
  nonce: string,
): Failed | undefined {
  if (ending === 'wall-limit') return { reason: 'timeout' };
  if (ending !== 'exited') return { reason: ending };
  const text = output.toString('utf8');
  if (one.kind === 'stdin') {
    if (exitCode !== 0) return { reason: language.reasonOf(exitCode, errors) };
    return sameOutput(one.expected, text) ? undefined : { reason: 'different' };
  }
  const report = readReport(text, nonce);
  // Bytes on the channel that our harness did not write.
  if (!report && text !== '') return { reason: 'forged-result', suspectedTamper: true };
  if (exitCode !== 0) return { reason: language.reasonOf(exitCode, errors) };
  if (!report) return { reason: 'early-exit', suspectedTamper: true };
  if (report.kind === 'no-function') return { reason: 'no-function' };
  if (report.kind === 'odd') return { reason: 'no-value', ...(report.own ? { suspectedTamper: true } : {}) };
  const value = parseExactJson(report.json);
  if (value === undefined) return { reason: 'no-value' };
  return one.expected.some((expected) => isSameValue(expected, value)) ? undefined : { reason: 'different' };
}

export function createSlots(count: number) {
  let used = 0;
  const line: (() => void)[] = [];
  const idlers: (() => void)[] = [];
  const leave = () => {
    const next = line.shift();
    if (next) return next();
    used--;
    if (used === 0) idlers.splice(0).forEach((resolve) => resolve());
  };
  const enter = (signal: AbortSignal) =>
    new Promise<void>((resolve, reject) => {
      signal.throwIfAborted();
      if (used < count) {
        used++;
        return resolve();
      }
      const take = () => {
        signal.removeEventListener('abort', giveUp);
        resolve();
      };
      const giveUp = () => {
        line.splice(line.indexOf(take), 1);
        reject(signal.reason as Error);
      };
      signal.addEventListener('abort', giveUp, { once: true });
      line.push(take);
    });
  return {
    async use<T>(signal: AbortSignal, work: () => Promise<T>): Promise<T> {
      await enter(signal);
      try {
        return await work();
      } finally {
        leave();
      }
    },
    /** Resolves when no place is taken. */
    idle: () => (used === 0 ? Promise.resolve() : new Promise<void>((resolve) => void idlers.push(resolve))),
  };
}
