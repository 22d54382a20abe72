// The registry: which environment answers for which query. The judges of mathematics and code by the query's task, the
// user's own environments by the name that the query gives. Built once per worker.

import { EnvironmentError } from '../domain/errors/errors.ts';
import type { EnvironmentRecord } from '../domain/rollout/environment.ts';
import type { Query, Task } from '../domain/query/query.ts';
import type { RolloutSettings } from '../domain/rollout/settings.ts';
import type { Environment, Environments, Judge } from './environment.ts';
import { createMathEnvironment } from './math-environment.ts';
import { rulesEnvironment } from './rules/rules-environment.ts';

export interface Judges {
  readonly math?: Judge;
  /** Absent: code is undecided, `no-code-judge`. */
  readonly code?: Judge;
}

/** The user's own environments. */
export interface OwnEnvironments {
  /** Throws EnvironmentError if this worker may not use it. */
  open(record: EnvironmentRecord, runFolder: string): Environment;
  close(): Promise<void>;
}

/** Judges and environments passed here are closed together with the others. */
export function createEnvironments(judges: Judges = {}, own?: OwnEnvironments): Environments {
  const judge = judgeByTask(judges);
  const judged = asEnvironment(judge);
  return {
    of({ query, settings }, runFolder) {
      if (query.environment === undefined) return query.task === 'rules' ? rulesEnvironment : judged;
      const record = environmentOf(query, settings);
      if (own) return own.open(record, runFolder);
      throw new EnvironmentError(`This worker has no environment ${JSON.stringify(record.name)}.`, {
        reason: 'environment-not-served',
        retryable: true,
      });
    },
    close: async () => {
      await Promise.all([judge.close(), own?.close()]);
    },
  };
}

/** The environment of a run that this query names. */
export function environmentOf(
  query: Pick<Query, 'environment'>,
  settings: Pick<RolloutSettings, 'environments'>,
): EnvironmentRecord {
  const found = settings.environments?.find(({ name }) => name === query.environment);
  if (found) return found;
  throw new EnvironmentError(`The run has no environment ${JSON.stringify(query.environment)}, which a row names.`, {
    reason: 'environment-missing',
    fix: 'Give it with --environment.',
  });
}

/** One judge that dispatches by task. */
export function judgeByTask({ math = createMathEnvironment(), code }: Judges = {}): Judge {
  const byTask: Readonly<Partial<Record<Task, Judge>>> = { math, stem: math, ...(code && { code }) };
  return {
    judge: async (query, answer, options) =>
      byTask[query.task]?.judge(query, answer, options) ?? { verdict: 'undecided', reason: `no-${query.task}-judge` },
    close: async () => {
      await Promise.all([...new Set(Object.values(byTask))].map((one) => one.close()));
    },
  };
}

/** A judge as an environment: its reply is the verdict, and Everturn's sentence follows it. */
export function asEnvironment(judge: Pick<Judge, 'judge'>): Environment {
  return {
    respond: async ({ rollout, answer, cut }, { signal }) => ({
      verdict: await judge.judge(rollout.query, answer, { signal, cut }),
    }),
  };
}
