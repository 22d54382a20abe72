// The user's own environments on a worker: opened when a rollout first needs one, shared by all rollouts of all runs with
// the same code, closed when these runs have ended. Whether this worker may is asked first, each time; the answer may name the operator's own command.

import { join } from 'node:path';
import type { EnvironmentDoor, EnvironmentRecord } from '../../domain/rollout/environment.ts';
import { EnvironmentError, UsageError } from '../../domain/errors/errors.ts';
import type { Environment, Judge } from '../environment.ts';
import type { OwnEnvironments } from '../index.ts';
import { type HasEnded, openSharedResources } from '../../local/machine/shared-resources.ts';
import { createMathEnvironment } from '../math-environment.ts';
import { bundledCodeFile, type ModuleCode } from '../processes/bundle.ts';
import { environmentLaunch, type Log, PROCESSES } from '../processes/launch.ts';
import { type Described, describeCommand, mustBeCommand } from './command.ts';
import { describeModule, moduleLaunch, mustBeModule } from './module.ts';
import { processEnvironment } from './process-environment.ts';
import { openProcessPool } from '../processes/process-pool.ts';
import { parseHello } from './reply.ts';
import { describeRubric, rubricEnvironment } from './rubric/rubric-environment.ts';
import { describedQueue, queueEnvironment } from './queue.ts';
import { parseSpec, type Spec } from './spec.ts';
import { describeUrl, urlEnvironment } from './url.ts';

export interface OwnEnvironmentsOptions {
  readonly log: Log;
  /**
   * May a run use this environment here? Returns what is run for it: the same words, or those that the operator gave for
   * it. Throws EnvironmentError if not.
   */
  readonly permitted: (record: EnvironmentRecord, runFolder: string) => readonly string[];
  /** Default: no run of these has ended. */
  readonly hasEnded?: HasEnded;
  /** Processes of one environment. */
  readonly processes?: number;
  /** The judge of mathematics, for rubrics that ask it first; closed with the environments. */
  readonly math?: Judge;
}

/** Doors whose code lies in the run's folder. */
const CARRIED: ReadonlySet<EnvironmentDoor> = new Set(['module', 'rubric']);

interface Opened {
  readonly environment: Environment;
  isUsed(): boolean;
  close(): void;
}

export function createOwnEnvironments({
  log,
  permitted,
  hasEnded = async () => false,
  processes = PROCESSES,
  math = createMathEnvironment(),
}: OwnEnvironmentsOptions): OwnEnvironments {
  const opened = openSharedResources<Opened>({ hasEnded, isUsed: (it) => it.isUsed(), close: (it) => it.close() });
  let closed = false;

  function make(record: EnvironmentRecord, words: readonly string[], runFolder: string): Opened {
    const ended = { isUsed: () => false, close: () => undefined };
    if (record.door === 'url') return { environment: urlEnvironment(record, words), ...ended };
    if (record.door === 'queue') return { environment: queueEnvironment(record), ...ended };
    if (record.door === 'rubric') {
      const file = join(runFolder, bundledCodeFile(record.fingerprint));
      return { ...ended, ...rubricEnvironment(record, file, math) };
    }
    const [launch, accept] =
      record.door === 'module'
        ? [
            moduleLaunch(record.name, join(runFolder, bundledCodeFile(record.fingerprint)), record.fingerprint, log),
            mustBeModule.bind(null, record),
          ]
        : [environmentLaunch(words, log), mustBeCommand.bind(null, record, words)];
    const own = (said: unknown) => accept(parseHello(launch.who, said));
    const pool = openProcessPool({ most: record.processes ?? processes, launch, accept: own });
    return {
      environment: processEnvironment(record, pool),
      // A rollout that it holds is owed its end, or is lost with its process.
      isUsed: () => pool.isBusy() || ((record.ends || record.state === 'held') && pool.holds()),
      close: () => pool.close(),
    };
  }

  return {
    open(record, runFolder) {
      const words = permitted(record, runFolder);
      if (closed)
        throw new EnvironmentError('The worker is ending.', { reason: 'environment-closed', retryable: true });
      const key = JSON.stringify([record, CARRIED.has(record.door) ? runFolder : words]);
      return opened.of(key, runFolder, () => make(record, words, runFolder)).environment;
    },
    async close() {
      closed = true;
      await Promise.all([opened.close(), math.close()]);
    },
  };
}

export interface DescribedEnvironment extends Described {
  /** The code of a module or a rubric, to be stored in the run's folder. */
  readonly code?: ModuleCode;
  /** Asks a model that judges once. */
  readonly tryOut?: () => Promise<void>;
}

/** The result of the activity `describe` of a queue. */
export type AskQueue = (queue: string) => Promise<unknown>;

/** Loads an environment once, for its own description. Throws EnvironmentError if it does not load. */
export async function describeOwnEnvironment(
  { door, words }: Spec,
  log: Log,
  askQueue?: AskQueue,
  page?: Parameters<typeof describeRubric>[1],
): Promise<DescribedEnvironment> {
  if (door === 'command') return describeCommand(words, log);
  if (door === 'module') return describeModule(words[0]!, log);
  if (door === 'rubric') return describeRubric(words[0]!, page);
  if (door === 'queue') {
    if (askQueue) return describedQueue(words[0]!, await askQueue(words[0]!));
    throw new UsageError(
      `The environment queue:${words[0]} is served by a worker of Temporal, which this command does not ask.`,
      {
        reason: 'bad-value',
        fix: 'Only `everturn run` plays it; try the same code as a command.',
      },
    );
  }
  return describeUrl(words[0]!);
}

/** The operator's own commands, described: a run that has the same code is served with them. */
export function servedBy(
  { serve }: { readonly serve: readonly string[] },
  log: Log,
  cwd = process.cwd(),
): Promise<EnvironmentRecord[]> {
  return Promise.all(serve.map(async (text) => (await describeOwnEnvironment(parseSpec(text, cwd), log)).record));
}
