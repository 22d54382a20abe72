// The registry of environments, by task: one object that dispatches, built once per worker.

import type { Task } from '../domain/query.ts';
import type { Environment } from './environment.ts';
import { createMathEnvironment } from './math/math-environment.ts';

export interface Environments {
  readonly math?: Environment;
  /** If absent, code is undecided, with the reason `no-code-judge`. */
  readonly code?: Environment;
}

/** Environments passed here are closed together with the others. */
export function createEnvironments({ math = createMathEnvironment(), code }: Environments = {}): Environment {
  const byTask: Readonly<Partial<Record<Task, Environment>>> = { math, stem: math, ...(code && { code }) };
  return {
    judge: async (query, answer, options) =>
      byTask[query.task]?.judge(query, answer, options) ?? { verdict: 'undecided', reason: `no-${query.task}-judge` },
    close: async () => {
      await Promise.all([...new Set(Object.values(byTask))].map((environment) => environment.close()));
    },
  };
}
