// Judges answers without a model or a run: one verdict for each line, in order, as soon as it is known. Memory holds the lines in
// flight.

import { availableParallelism } from 'node:os';
import { resolve } from 'node:path';
import type { Verdict } from '../domain/rollout/verdict.ts';
import { createCodeEnvironment } from '../environments/code/code-environment.ts';
import { unsafeCodeAllowed } from '../environments/code/consent.ts';
import type { Judge } from '../environments/environment.ts';
import { inRowOrder, judgePair } from '../environments/judge-pairs.ts';
import { createMathJudge } from '../environments/math-environment.ts';
import { createSolutionReader } from '../environments/solution-reader.ts';
import type { BadRow } from '../formats/datasets/dataset.ts';
import { saidProblem } from '../formats/datasets/examine.ts';
import { type JudgeName, type PairRow, readPairs } from '../formats/datasets/pairs.ts';
import type { Environment } from '../local/machine/user-folders.ts';

export interface JudgeOptions {
  /** For all lines. Default: `input_output` means code. */
  readonly judge?: JudgeName | undefined;
  /** Verdicts also say where the answer was found, and what it was compared with. Default false. */
  readonly explain?: boolean | undefined;
  /** Runs programs that a model wrote unprotected. Default false. */
  readonly unsafeRunCodeWithoutSandbox?: boolean | undefined;
  /** Called for each line that cannot be judged: its verdict is `undecided`, for the reason `bad-line`. */
  readonly onBad?: ((line: BadRow) => void) | undefined;
  /** Called for each field of a line that nothing reads. */
  readonly onNote?: ((field: BadRow) => void) | undefined;
  /** The folder of a relative path, and the variables that are read. Default: those of this process. */
  readonly cwd?: string | undefined;
  readonly env?: Environment | undefined;
}

export interface JudgedPair extends Verdict {
  /** The line's own, or its number. */
  readonly id: string;
}

/**
 * Judges a file of JSON lines `{id, answer, solutions | input_output}`, or a stream of its bytes. Throws a DatasetError for a file that
 * cannot be read, and a SandboxError for code without a sandbox.
 */
export async function* judgedPairs(
  pairs: string | AsyncIterable<Buffer>,
  { judge, explain, onBad, onNote, ...options }: JudgeOptions,
): AsyncGenerator<JudgedPair> {
  const { cwd = process.cwd(), env = process.env, unsafeRunCodeWithoutSandbox: unsafe = false } = options;
  const [source, file] = typeof pairs === 'string' ? [resolve(cwd, pairs), pairs] : [pairs, '(standard input)'];
  const judges = openJudges(env, unsafe);
  const reader = createSolutionReader(judges.math);

  async function judged(row: PairRow): Promise<JudgedPair> {
    const problem = row.ok ? await saidProblem(row.stated, reader) : undefined;
    if (row.ok && !problem) {
      for (const note of row.notes) onNote?.(note);
      const pair = explain ? { ...row.pair, options: { ...row.pair.options, explain } } : row.pair;
      return { id: row.pair.id, ...(await judgePair(pair, judges)) };
    }
    const fault = row.ok ? problem && { file, line: row.line, ...problem } : row.bad;
    if (fault) onBad?.(fault);
    return { id: row.ok ? row.pair.id : row.id, verdict: 'undecided', reason: 'bad-line' };
  }

  try {
    const bounds = { ...IN_FLIGHT, weigh: (row: PairRow) => (row.ok ? row.chars : 0) };
    yield* inRowOrder(readPairs(source, file, judge), judged, bounds);
  } finally {
    await judges.close();
  }
}

/** Answers in flight: enough to keep every core busy, and some queued; and their characters: a longer line is judged by itself. */
export const IN_FLIGHT = { atOnce: 64 * availableParallelism(), mostWeight: 64 * 1024 * 1024 };

/** `code` throws a SandboxError if there is no sandbox, unless the caller, or the environment, takes the risk. */
export function openJudges(env: Environment, unsafe: boolean) {
  const unsafeWithoutSandbox = unsafe || unsafeCodeAllowed(env);
  const math = createMathJudge({ children: availableParallelism() });
  let opened: Promise<Judge> | undefined;
  const code: Pick<Judge, 'judge'> = {
    judge: async (...judged) => (await (opened ??= createCodeEnvironment({ unsafeWithoutSandbox }))).judge(...judged),
  };
  return {
    ...{ math, code },
    async close() {
      math.close();
      await opened?.then(
        (judge) => judge.close(),
        () => undefined,
      );
    },
  };
}
