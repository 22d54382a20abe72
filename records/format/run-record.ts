// run.json: the input of a run, fixed at its creation. Settings carry the source of each value.

import { AGENT } from '../../domain/rollout/agent.ts';
import { FOUND_LOGPROBS } from '../../domain/rollout/logprob-meaning.ts';
import { FORKED_FROM } from '../../domain/rollout/lineage.ts';
import { FILTER } from '../../domain/samples/group.ts';
import { EVALUATES, EVALUATION } from '../../domain/run/evaluation.ts';
import { HUB_SOURCE } from '../../domain/run/hub-source.ts';
import { MODEL } from '../../domain/weights/model-identity.ts';
import { WORDING } from '../../domain/query/query.ts';
import { SETTINGS_OF_RECORDS } from '../../domain/rollout/settings.ts';
import {
  COUNT,
  HASH,
  mapOf,
  maybe,
  NAME,
  type ObjectOf,
  objectOf,
  oneOf,
  orNull,
  PLACE,
  type TypeOf,
} from '../../domain/schema/fields.ts';

/** `agent`: the preset that `agent` names; `benchmark`: the page of its rows. */
export const ORIGINS = ['default', 'agent', 'benchmark', 'config', 'environment', 'flag', 'input'] as const;
export type Origin = (typeof ORIGINS)[number];

/** Groups that a trainer learns from, and how far it may be ahead of them. */
const TRAIN = objectOf({
  ...FILTER,
  /** Groups in one training step. */
  batchGroups: PLACE,
  /** Versions that a sample may be old when it is trained. */
  maxStaleness: COUNT,
});
export type TrainRecord = TypeOf<typeof TRAIN>;

const DATASET = objectOf({
  path: NAME,
  sha256: HASH,
  accepted: COUNT,
  refused: COUNT,
  /** The hash of the rows before their solutions were read, if some were refused then: the same command offers these again. */
  offered: maybe(HASH),
  /** Present for a data set from a hub, whose place `path` is. */
  hub: maybe(HUB_SOURCE),
  /** The benchmark whose page the rows were read by. */
  benchmark: maybe(NAME),
  /** Where its page says another number of rows than its data have, bad ones included. */
  pageSize: maybe(objectOf({ said: COUNT, rows: COUNT })),
});

export type DatasetRecord = TypeOf<typeof DATASET>;

export const RUN = {
  run: NAME,
  settings: SETTINGS_OF_RECORDS,
  origins: mapOf(oneOf(...ORIGINS)),
  /** Samples of each query, in one epoch. */
  samples: PLACE,
  /** Absent: 1. Epoch e has the samples e × samples … of each query. */
  epochs: maybe(PLACE),
  /** Present if a trainer paces the run through its feed. */
  train: maybe(TRAIN),
  /** Present if versions of its weights are evaluated on held-out rows. */
  evaluation: maybe(EVALUATION),
  /** Groups that are trained on, of a run that no trainer paces: the filter of its exports. Absent: all. */
  keep: maybe(objectOf(FILTER)),
  /** Absent: settings alone, and a sample of each rollout. */
  agent: maybe(AGENT),
  /** Absent: the rows' own words. */
  wording: maybe(WORDING),
  /** The file of the queries, and the SHA-256 of the accepted rows; null if rollouts are started one by one. */
  dataset: orNull(DATASET),
  /** The kind of logprobs that the servers or the model returned when the run was made; null if not probed. */
  logprobs: maybe(orNull(FOUND_LOGPROBS)),
  /** The model's identity when the run was made; null if not probed, absent if rollouts are started one by one. */
  model: maybe(orNull(MODEL)),
  /** Present in a held-out evaluation of a training run. */
  evaluates: maybe(EVALUATES),
  /** Present in a fork of another run. */
  forkedFrom: maybe(FORKED_FROM),
  versions: objectOf({ everturn: NAME, node: NAME }),
  createdAt: COUNT,
};
export type RunRecord = ObjectOf<typeof RUN> & { readonly format: 'everturn-run/1' };

export interface RecordedSetting {
  readonly name: string;
  readonly value: unknown;
  readonly origin: Origin;
}

/** The options out of which a setting of another name was made. */
const MADE_OF: Readonly<Record<string, readonly string[]>> = {
  program: ['agent'],
  environments: ['environment'],
  tools: ['tool', 'mcp'],
};

/** Settings of the rollouts, and those options of a run that are none. */
export function settingsWithOrigins({
  settings,
  origins,
  samples,
  epochs = 1,
  agent,
  wording,
  train,
}: RunRecord): RecordedSetting[] {
  const { system = null, template: prompt = null } = wording ?? {};
  const preset = agent && { agent: agent.name };
  const all = { ...settings, ...preset, samples, epochs, system, prompt, ...train };
  return Object.entries(all).map(([name, value]) => {
    const from = (MADE_OF[name] ?? [name]).map((option) => origins[option] ?? 'default');
    return { name, value, origin: from.find((origin) => origin !== 'default') ?? 'default' };
  });
}

/** Parts of run.json beside its settings that decide what is played and trained on; each is absent where a run has none. */
export const RUN_PARTS = ['epochs', 'train', 'evaluation', 'keep', 'agent', 'wording'] as const;
export type RunParts = Pick<RunRecord, (typeof RUN_PARTS)[number]>;

/** The parts that are there, in one order: a derived name follows from them. */
export function runParts(record: RunParts): RunParts {
  const there = RUN_PARTS.filter((part) => record[part] !== undefined);
  return Object.fromEntries(there.map((part) => [part, record[part]]));
}
