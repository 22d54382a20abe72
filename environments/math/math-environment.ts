// The environment of mathematics and natural-science problems: right if the answer's final value is any of the
// query's solutions. Judged in killable child processes; a hang or a crash is undecided, never wrong.

import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { JudgeError } from '../../domain/errors.ts';
import type { Verdict } from '../../domain/verdict.ts';
import type { Environment } from '../environment.ts';
import type { JudgeOptions } from './judge.ts';
import { LIMITS } from './limits.ts';
import { JudgePool } from './pool.ts';

export interface MathEnvironmentOptions {
  /** Child processes; default 2. */
  readonly children?: number;
  /** Wall clock of one judgement; default 2,000 ms. */
  readonly limitMs?: number;
  /** Judgements in one message to a child; default 32. */
  readonly batch?: number;
  /** The script of the child; default: the judge. */
  readonly entry?: string;
}

export interface MathJudge {
  judge(answer: string, solutions: readonly string[], options?: JudgeOptions, signal?: AbortSignal): Promise<Verdict>;
  /** Starts the children before the first call. */
  warm(): void;
  close(): void;
  readonly pids: readonly number[];
}

export function createMathJudge(options: MathEnvironmentOptions = {}): MathJudge {
  let pool: JudgePool | undefined;
  const opened = (): JudgePool =>
    (pool ??= new JudgePool({
      entry: options.entry ?? childEntry(),
      children: options.children ?? 2,
      limitMs: options.limitMs ?? 2_000,
      batch: options.batch ?? 32,
    }));
  return {
    judge: async (answer, solutions, judgeOptions, signal) => {
      // The judge looks at no more than this; a longer text need not travel.
      const [own, gold] = [answer.slice(-LIMITS.textChars), solutions.map((text) => text.slice(-LIMITS.textChars))];
      const job = { answer: own, solutions: gold, options: judgeOptions };
      const result = await opened().run(JSON.stringify(job), signal);
      if ('failed' in result) return { verdict: 'undecided', reason: result.failed };
      return JSON.parse(result.reply) as Verdict;
    },
    warm: () => opened().warm(),
    close: () => pool?.close(),
    get pids() {
      return pool?.pids ?? [];
    },
  };
}

export function createMathEnvironment(options: MathEnvironmentOptions = {}): Environment {
  const judge = createMathJudge(options);
  return {
    judge: (query, answer, { signal }) => judge.judge(answer, query.solutions, undefined, signal),
    close: async () => judge.close(),
  };
}

/** The compiled child: Node runs no TypeScript, so from source it is the one in dist/. */
function childEntry(): string {
  const here = import.meta.url;
  const url = here.endsWith('.ts')
    ? new URL('../../dist/environments/math/child.js', here)
    : new URL('./child.js', here);
  const path = fileURLToPath(url);
  if (existsSync(path)) return path;
  throw new JudgeError(`The judge's process is not built (${path})`, {
    reason: 'not-built',
    fix: 'Run `npm run build`.',
  });
}
