// The parts of run.json beside its settings: epochs, training, the filter over groups, the agent, the words around rows.
// They are made from a run's options, or from those that a Temporal client gives with a collection, completed by the
// defaults of the command line.

import type { Agent } from '../domain/rollout/agent.ts';
import { MAX_WINDOW } from '../domain/run/defaults.ts';
import { UsageError } from '../domain/errors/errors.ts';
import { tooManyMembers } from '../domain/samples/group.ts';
import type { Wording } from '../domain/query/query.ts';
import type { RunParts } from '../records/format/run-record.ts';
import { parseValue } from './config.ts';
import { DEFAULT_OPTIONS, type RunOptions } from './options.ts';

const TRAIN_KEYS = ['batchGroups', 'maxStaleness', 'minMembers', 'successRate', 'dropZeroVariance'] as const;

export interface GivenRunParts {
  readonly samples: number;
  readonly epochs?: unknown;
  /** An object with any of TRAIN_KEYS. */
  readonly train?: unknown;
}

/** The parts of run.json on epochs, training, filters, agent and words; empty if the run has none. Throws a UsageError. */
export function runPartsOf(options: RunOptions, agent?: Agent, wording?: Wording): RunParts {
  const { epochs, train, batchGroups, maxStaleness, minMembers, successRate, dropZeroVariance, samples } = options;
  const filter = { minMembers, successRate, dropZeroVariance };
  const filters = minMembers !== null || successRate !== null || dropZeroVariance;
  if (minMembers !== null && minMembers > samples) throw tooManyMembers(minMembers, samples);
  if (train) mustFitTrainer(options.maxConcurrent);
  return {
    ...(epochs === 1 ? {} : { epochs }),
    ...(train ? { train: { batchGroups, maxStaleness, ...filter } } : filters ? { keep: filter } : {}),
    ...(agent && { agent: { name: agent.name, sampleOf: agent.sampleOf } }),
    ...(wording && { wording }),
  };
}

export function parseRunParts({ samples, epochs, train }: GivenRunParts): RunParts {
  const options = { ...DEFAULT_OPTIONS, samples, train: train !== undefined && train !== null };
  if (epochs !== undefined && epochs !== null) options.epochs = parseValue('epochs', epochs, 'epochs');
  if (!options.train) return runPartsOf(options);
  if (typeof train !== 'object' || Array.isArray(train)) throw badTrain(`\`train\` is ${short(train)}.`);
  const unknown = Object.keys(train!).find((key) => !TRAIN_KEYS.some((known) => known === key));
  if (unknown !== undefined) throw badTrain(`train.${unknown.slice(0, 40)} is no setting of training.`);
  const put = <K extends (typeof TRAIN_KEYS)[number]>(key: K) => {
    const value = (train as Readonly<Record<string, unknown>>)[key];
    if (value !== undefined) Object.assign(options, { [key]: parseValue(key, value, `train.${key}`) });
  };
  for (const key of TRAIN_KEYS) put(key);
  return runPartsOf(options);
}

function badTrain(message: string): UsageError {
  return new UsageError(message, { reason: 'bad-settings', fix: `It takes an object of ${TRAIN_KEYS.join(', ')}.` });
}

function short(value: unknown): string {
  return (JSON.stringify(value) ?? typeof value).slice(0, 60);
}

/** More rollouts in flight would need blocks, and the feed of such a run lets only the groups of its next steps begin. */
function mustFitTrainer(maxConcurrent: number): void {
  if (maxConcurrent <= MAX_WINDOW) return;
  const most = `at most ${MAX_WINDOW}`;
  throw new UsageError(`--max-concurrent ${maxConcurrent}: a run with --train has ${most} rollouts in flight.`, {
    reason: 'bad-value',
    fix: `Give ${most}: its feed lets only the groups of its next steps begin.`,
  });
}
