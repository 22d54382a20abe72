// Epochs and training as a Temporal client gives them with a collection, completed by the defaults of the command line.

import { UsageError } from '../domain/errors.ts';
import type { RunRecord } from '../storage/record/run-record.ts';
import { parseValue } from './config.ts';
import { DEFAULT_OPTIONS, groupsOf } from './options.ts';

const TRAIN_KEYS = ['batchGroups', 'maxStaleness', 'minMembers', 'successRate', 'dropZeroVariance'] as const;

export interface GivenGroups {
  readonly samples: number;
  readonly epochs?: unknown;
  /** An object with any of TRAIN_KEYS. */
  readonly train?: unknown;
}

export function parseGroups({ samples, epochs, train }: GivenGroups): Pick<RunRecord, 'epochs' | 'train'> {
  const options = { ...DEFAULT_OPTIONS, samples, train: train !== undefined && train !== null };
  if (epochs !== undefined && epochs !== null) options.epochs = parseValue('epochs', epochs, 'epochs');
  if (!options.train) return groupsOf(options);
  if (typeof train !== 'object' || Array.isArray(train)) throw badTrain(`\`train\` is ${short(train)}.`);
  const unknown = Object.keys(train!).find((key) => !TRAIN_KEYS.some((known) => known === key));
  if (unknown !== undefined) throw badTrain(`train.${unknown.slice(0, 40)} is no setting of training.`);
  const put = <K extends (typeof TRAIN_KEYS)[number]>(key: K) => {
    const value = (train as Readonly<Record<string, unknown>>)[key];
    if (value !== undefined) Object.assign(options, { [key]: parseValue(key, value, `train.${key}`) });
  };
  for (const key of TRAIN_KEYS) put(key);
  return groupsOf(options);
}

function badTrain(message: string): UsageError {
  return new UsageError(message, { reason: 'bad-settings', fix: `It takes an object of ${TRAIN_KEYS.join(', ')}.` });
}

function short(value: unknown): string {
  return (JSON.stringify(value) ?? typeof value).slice(0, 60);
}
