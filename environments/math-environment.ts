// The environment of mathematics and natural-science problems: right if the answer's final value is any of the query's
// solutions. The judge is packages/judge in killable child processes; what hinders these is a JudgeError of ours.

import {
  createJudge,
  JudgeError as Hindrance,
  type Judge as MathJudge,
  type ProcessOptions,
} from '../packages/judge/index.ts';
import { JudgeError } from '../domain/errors/errors.ts';
import { questionOf } from '../domain/query/query.ts';
import { compiledScript } from '../local/machine/compiled.ts';
import type { Judge } from './environment.ts';

export type { MathJudge };

export function createMathJudge(options: ProcessOptions = {}): MathJudge {
  let judge: MathJudge | undefined;
  const opened = (): MathJudge =>
    (judge ??= createJudge({
      entry: compiledScript('../packages/judge/pool/child', import.meta.url, JudgeError),
      ...options,
    }));
  return {
    judge: (...given) => asOurs(async () => opened().judge(...given)),
    examine: (...given) => asOurs(async () => opened().examine(...given)),
    warm: () => opened().warm(),
    close: () => judge?.close(),
    get pids() {
      return judge?.pids ?? [];
    },
  };
}

async function asOurs<T>(call: () => Promise<T>): Promise<T> {
  try {
    return await call();
  } catch (error) {
    if (!(error instanceof Hindrance)) throw error;
    const { message, reason, fix, retryable } = error;
    throw new JudgeError(message, { reason, ...(fix !== undefined && { fix }), retryable, cause: error });
  }
}

export function createMathEnvironment(options: ProcessOptions = {}): Judge {
  const judge = createMathJudge(options);
  return {
    judge: (query, answer, { signal, cut = false }) =>
      judge.judge(answer, query.solutions, { cut, question: questionOf(query) }, signal),
    close: async () => judge.close(),
  };
}
