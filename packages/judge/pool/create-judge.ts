// The judge in killable child processes, for texts that nobody trusts. An answer that kills them while the solution alone
// does not is wrong, `too-big`; a solution that does is undecided. A failure of neither is a JudgeError.

import { fileURLToPath } from 'node:url';
import type { Judged, JudgeOptions } from '../judge.ts';
import { LIMITS } from '../base/limits.ts';
import { mustBeAsked, type SolutionExam } from '../solution.ts';
import type { ChildJob, ChildReply } from './child.ts';
import { JudgeError } from './judge-error.ts';
import { JudgePool } from './pool.ts';

export interface ProcessOptions {
  /** Child processes; default 2. */
  readonly children?: number;
  /** Processor time of one judgement; default 2,000 ms, several times what the worst known text takes. */
  readonly cpuLimitMs?: number;
  /** Wall clock of one judgement, against a child that does not even use its time; default 20,000 ms. */
  readonly limitMs?: number;
  /** The compiled script of the child; default: the judge's, beside this file. */
  readonly entry?: string;
}

/** Every call is answered, or throws a JudgeError; for a caller's mistake as `judge` does. */
export interface Judge {
  judge(
    answer: string,
    solutions: string | readonly string[],
    options?: JudgeOptions,
    signal?: AbortSignal,
  ): Promise<Judged>;
  /** For each solution, in order, whether an answer can be judged against it. */
  examine(solutions: readonly string[], signal?: AbortSignal): Promise<SolutionExam[]>;
  /** Starts the children before the first call. */
  warm(): void;
  close(): void;
  readonly pids: readonly number[];
}

const TOO_BIG = 'too-big';

export function createJudge(options: ProcessOptions = {}): Judge {
  const pool = new JudgePool({
    entry: options.entry ?? fileURLToPath(new URL('./child.js', import.meta.url)),
    args: [String(options.cpuLimitMs ?? 2_000)],
    children: options.children ?? 2,
    limitMs: options.limitMs ?? 20_000,
  });

  /** The child's result; undefined where the job kills its child. */
  async function run<T>(job: ChildJob, signal: AbortSignal | undefined): Promise<T | undefined> {
    const reply = await pool.run(JSON.stringify(job), signal);
    if (reply === undefined) return undefined;
    const { result, fault } = JSON.parse(reply) as ChildReply<T>;
    if (fault !== undefined) throw new JudgeError(`The judge failed: ${fault}`, { reason: 'judge-process' });
    return result;
  }

  async function examineOne(solution: string, signal: AbortSignal | undefined): Promise<SolutionExam> {
    const exam = await run<SolutionExam>({ examine: solution }, signal);
    return exam ?? { usable: false, reason: TOO_BIG };
  }

  async function judge(
    answer: string,
    solutions: readonly string[],
    judgeOptions: JudgeOptions | undefined,
    signal: AbortSignal | undefined,
  ): Promise<Judged> {
    const verdict = await run<Judged>({ answer, solutions, options: judgeOptions }, signal);
    if (verdict) return verdict;
    // Which of them it is, shows alone.
    if (solutions.length > 1)
      return anyOf(await Promise.all(solutions.map((one) => judge(answer, [one], judgeOptions, signal))));
    const [exam] = await Promise.all(solutions.map((one) => examineOne(one, signal)));
    return exam?.usable
      ? { verdict: 'wrong', reason: TOO_BIG }
      : { verdict: 'undecided', reason: exam ? 'solution-unreadable' : 'no-solution' };
  }

  return {
    // The judge looks at no more than this; a longer text need not travel.
    async judge(answer, solutions, judgeOptions, signal) {
      mustBeAsked(answer, solutions, judgeOptions);
      const question = judgeOptions?.question;
      const own = question === undefined ? judgeOptions : { ...judgeOptions, question: tail(question) };
      return judge(tail(answer), [solutions].flat().map(tail), own, signal);
    },
    examine: (solutions, signal) => Promise.all(solutions.map((solution) => examineOne(tail(solution), signal))),
    warm: () => pool.warm(),
    close: () => pool.close(),
    get pids() {
      return pool.pids;
    },
  };
}

const tail = (text: string): string => text.slice(-LIMITS.textChars);

/** One that is right settles it; a solution that cannot be used leaves it to the others. */
function anyOf(verdicts: readonly Judged[]): Judged {
  const first = (value: Judged['verdict']) => verdicts.find(({ verdict }) => verdict === value);
  return first('right') ?? first('wrong') ?? verdicts[0]!;
}
