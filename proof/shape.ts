// Proves that a record has the form that our own writer gives it: the fields of its type and no others, each of its type,
// in the canonical text. A doubled key, `-0`, `1e400` or other spacing has a valid hash but another meaning in other
// readers. The tables are typed by the records: a new field needs a line here. Not covered: whether values fit together.

import { explain } from '../domain/errors.ts';
import { LOGPROB_MEANINGS } from '../domain/logprob-meaning.ts';
import type { CollectionResult } from '../domain/messages.ts';
import type { CollectionCounts } from '../domain/progress.ts';
import type { InputOutput, Message, Prompt, Query } from '../domain/query.ts';
import { FLEET_POLICIES, type RolloutSettings } from '../domain/settings.ts';
import type { EndRecord, Failure, RolloutRecord, VerdictRecord } from '../domain/trajectory.ts';
import type { ChunkRecord, TurnRecord, VersionSpan } from '../domain/turn.ts';
import type { ModelIdentity } from '../domain/model-identity.ts';
import type { PackRecord } from '../storage/pack/manifest.ts';
import type { RunRecord } from '../storage/record/run-record.ts';
import { encodeRecord, type Owner, type RecordKind } from '../storage/record/text.ts';
import type { Stored } from '../storage/store.ts';

type Test = readonly [(value: unknown) => boolean, string];
const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
const isCount = (value: unknown): boolean => Number.isSafeInteger(value) && (value as number) >= 0;

const TEXT: Test = [(value) => typeof value === 'string', 'a text'];
const NAME: Test = [(value) => typeof value === 'string' && value !== '', 'a text that is not empty'];
const HASH: Test = [(value) => typeof value === 'string' && /^[0-9a-f]{64}$/.test(value), 'a SHA-256'];
const COUNT: Test = [isCount, 'a whole number'];
const PLACE: Test = [(value) => isCount(value) && value !== 0, 'a whole number above 0'];
const IDS: Test = [(value) => Array.isArray(value) && value.every(isCount), 'a list of token ids'];
const NUMBERS: Test = [
  (value) => Array.isArray(value) && value.every((item) => Number.isFinite(item)),
  'a list of numbers',
];
const INT32: Test = [(value) => isCount(value) && (value as number) < 2 ** 31, 'an int32 from 0'];
const oneOf = (...values: readonly unknown[]): Test => [
  (value) => values.includes(value),
  `one of ${values.join(', ')}`,
];
const listOf = (test: Test): Test => [
  (value) => Array.isArray(value) && value.every((item) => test[0](item)),
  `a list, each ${test[1]}`,
];
const orNull = ([test, name]: Test): Test => [(value) => value === null || test(value), `${name} or null`];
const maybe = ([test, name]: Test): Test => [(value) => value === undefined || test(value), name];

/** A test for each field of a record: an optional one may be absent. */
type Fields<T> = { readonly [K in keyof Required<T>]: Test };

/** An object of these fields and no others. */
function only<T>(fields: Fields<T> & Readonly<Record<string, Test>>): Test {
  return [(value) => isObject(value) && flawIn(fields, value) === undefined, `{${Object.keys(fields).join(', ')}}`];
}

function flawIn(fields: Readonly<Record<string, Test>>, value: Readonly<Record<string, unknown>>): string | undefined {
  const alien = Object.keys(value).find((key) => !Object.hasOwn(fields, key));
  if (alien !== undefined) return `has the field ${shown(alien)}, which Everturn does not write`;
  for (const [field, [test, wanted]] of Object.entries(fields))
    if (!test(value[field])) return `has no right ${field}: it should be ${wanted}, and is ${shown(value[field])}`;
  return undefined;
}

const NUMBER: Test = [(value) => Number.isFinite(value), 'a number'];
const BOOLEAN = oneOf(true, false);
const mapOf = ([test, name]: Test): Test => [
  (value) => isObject(value) && Object.values(value).every((item) => test(item)),
  `an object, each of its values ${name}`,
];
const LIMIT: Test = [(value) => Number.isFinite(value) && (value as number) > 0, 'a number above 0'];
const SETTINGS: Fields<RolloutSettings> = {
  model: NAME,
  tokenizer: orNull(NAME),
  numTurns: PLACE,
  stop: oneOf('always', 'success'),
  feedback: oneOf('seed', 'delta'),
  rewardScaling: NUMBER,
  rewardBias: NUMBER,
  turnDiscount: NUMBER,
  maxNewTokens: PLACE,
  newTokensPerChunk: orNull(PLACE),
  temperature: [(value) => Number.isFinite(value) && (value as number) >= 0, 'a number from 0'],
  topP: [(value) => LIMIT[0](value) && (value as number) <= 1, 'a number above 0, at most 1'],
  topK: PLACE,
  deterministic: BOOLEAN,
  logprobs: oneOf('policy', 'raw'),
  apiKeyEnv: orNull(NAME),
  fleetPolicy: oneOf(...FLEET_POLICIES),
  maxInFlightPerServer: orNull(PLACE),
  requestTimeoutSeconds: LIMIT,
  serverLimits: mapOf(LIMIT),
  serverWeights: mapOf(LIMIT),
  seed: COUNT,
};
const SETTINGS_TEST: Test = [
  (value) => isObject(value) && flawIn(SETTINGS, value) === undefined,
  'an object: the settings of a rollout',
];

const FINISH = oneOf('stop', 'length', 'abort');
const SPANS: Test = [
  listOf(only<VersionSpan>({ version: INT32, versionLabel: maybe(TEXT), start: COUNT, end: COUNT }))[0],
  'a list of version spans, each of an int32 from 0',
];
const ANSWERED: Pick<Fields<ChunkRecord>, Exclude<keyof ChunkRecord, 'chunk'>> = {
  turn: PLACE,
  outputIds: IDS,
  logprobs: NUMBERS,
  finish: FINISH,
  versions: SPANS,
  server: orNull(TEXT),
  attempt: PLACE,
  startedAt: COUNT,
  finishedAt: COUNT,
};
const eitherOf = (...tests: readonly Test[]): Test => [
  (value) => tests.some(([test]) => test(value)),
  tests.map(([, name]) => name).join(' or '),
];
const PROMPT = eitherOf(
  only<Extract<Prompt, { kind: 'text' }>>({ kind: oneOf('text'), text: TEXT }),
  only<Extract<Prompt, { kind: 'messages' }>>({
    kind: oneOf('messages'),
    messages: listOf(only<Message>({ role: TEXT, content: TEXT })),
  }),
);
const LIST: Test = [Array.isArray, 'a list'];
const QUERY: Test = [
  only<Query>({
    queryId: NAME,
    prompt: PROMPT,
    task: oneOf('math', 'stem', 'code'),
    solutions: listOf(TEXT),
    inputOutput: maybe(only<InputOutput>({ inputs: LIST, outputs: LIST, fn_name: maybe(TEXT) })),
  })[0],
  'a query',
];
const MODEL = only<ModelIdentity>({
  name: orNull(TEXT),
  tokenizer: orNull(HASH),
  template: orNull(HASH),
  probe: orNull(HASH),
  weights: orNull(HASH),
  canary: orNull(only<NonNullable<ModelIdentity['canary']>>({ version: orNull(TEXT), values: mapOf(NUMBER) })),
});
const MEANING = oneOf(...LOGPROB_MEANINGS);
const DATASET = only<NonNullable<RunRecord['dataset']>>({
  path: NAME,
  sha256: HASH,
  accepted: COUNT,
  refused: COUNT,
  offered: maybe(HASH),
});
const COUNTS = only<CollectionCounts>({
  outcomes: only<CollectionCounts['outcomes']>({
    complete: COUNT,
    undecided: COUNT,
    failed: COUNT,
    cancelled: COUNT,
  }),
  reasons: mapOf(COUNT),
  boundaries: maybe(mapOf(COUNT)),
  verdicts: maybe(mapOf(mapOf(COUNT))),
  turns: COUNT,
  tokens: COUNT,
  judgedAt: listOf(COUNT),
  rightAt: listOf(COUNT),
  rightBy: listOf(COUNT),
  failures: LIST,
});

const RUN: Fields<RunRecord> = {
  format: TEXT,
  run: NAME,
  settings: SETTINGS_TEST,
  origins: mapOf(oneOf('default', 'config', 'environment', 'flag', 'input')),
  samples: PLACE,
  epochs: maybe(orNull(PLACE)),
  train: maybe(orNull([isObject, 'an object'])),
  dataset: orNull(DATASET),
  logprobs: maybe(
    orNull(only<NonNullable<RunRecord['logprobs']>>({ meaning: MEANING, servers: maybe(mapOf(MEANING)) })),
  ),
  model: maybe(orNull(MODEL)),
  versions: only<RunRecord['versions']>({ everturn: NAME, node: NAME }),
  createdAt: COUNT,
};
const RESULT: Fields<CollectionResult & { readonly format: string }> = {
  format: TEXT,
  run: NAME,
  total: COUNT,
  cancelled: BOOLEAN,
  numTurns: PLACE,
  counts: COUNTS,
};
const ROLLOUT: Fields<RolloutRecord> = {
  run: NAME,
  query: QUERY,
  index: orNull(COUNT),
  sample: COUNT,
  attempt: PLACE,
  settings: SETTINGS_TEST,
  birthTime: COUNT,
};
const TURN: Fields<TurnRecord> = {
  ...ANSWERED,
  contextIds: IDS,
  contextText: TEXT,
  outputText: TEXT,
  answer: TEXT,
  versionStart: INT32,
  versionEnd: INT32,
  contextLength: COUNT,
  maxNewTokens: PLACE,
  seed: orNull(COUNT),
  previous: HASH,
  model: TEXT,
  logprobsOf: maybe(oneOf('policy', 'raw')),
  logprobsFound: maybe(MEANING),
  trainable: maybe(BOOLEAN),
  textLogprobs: maybe(listOf(only<{ token: string; logprob: number }>({ token: TEXT, logprob: NUMBER }))),
};
const CHUNK: Fields<ChunkRecord> = { ...ANSWERED, chunk: PLACE };
const VERDICT: Fields<VerdictRecord> = {
  turn: PLACE,
  verdict: oneOf('right', 'wrong', 'undecided'),
  reason: NAME,
  of: HASH,
  extracted: maybe(TEXT),
  suspectedTamper: maybe(BOOLEAN),
  tookMs: COUNT,
};
const END: Fields<EndRecord> = {
  outcome: oneOf('complete', 'undecided', 'failed', 'cancelled'),
  stopReason: oneOf('max-turns', 'success', 'context-length', 'undecided', 'failed', 'cancelled'),
  failure: orNull(only<Failure>({ boundary: maybe(NAME), reason: NAME, message: TEXT, turn: PLACE })),
  turnRewards: NUMBERS,
  rewards: NUMBERS,
  success: listOf(oneOf(0, 1, null)),
  turns: listOf(HASH),
  finishedAt: COUNT,
};
const PACK: Fields<PackRecord & { readonly format: string }> = {
  format: TEXT,
  number: PLACE,
  pack: NAME,
  bytes: COUNT,
  zipSha256: HASH,
  rollouts: listOf(TEXT),
};
const FIELDS: Readonly<Partial<Record<RecordKind, Readonly<Record<string, Test>>>>> = {
  run: RUN,
  result: RESULT,
  rollout: ROLLOUT,
  turn: TURN,
  chunk: CHUNK,
  verdict: VERDICT,
  end: END,
  pack: PACK,
};

/** The fault of a record's fields; undefined if there is none. */
export function shapeProblem(kind: RecordKind, record: object): string | undefined {
  const fields = record as Readonly<Record<string, unknown>>;
  if (!FIELDS[kind]) return undefined;
  const { settings } = fields;
  const flaw = flawIn(FIELDS[kind], fields);
  if (flaw === undefined || !isObject(settings) || !flaw.startsWith('has no right settings')) return flaw;
  return `${flawIn(SETTINGS, settings)} (in settings)`;
}

/** For a record with a valid hash: whether its text is the canonical one. */
export async function textProblem(
  kind: RecordKind,
  owner: Owner | null,
  { record, asWritten = record, hash }: Stored<object>,
): Promise<string | undefined> {
  try {
    const own = await encodeRecord(kind, owner, asWritten);
    if (own.hash === hash) return undefined;
    return 'is not the text that its content gives: a key stands in it twice, or a number or the spacing is not ours';
  } catch (error) {
    return `cannot be written again: ${explain(error)}`;
  }
}

/** JSON reads 1e400 as Infinity. */
function shown(value: unknown): string {
  const whole = JSON.stringify(value, (_, item: unknown) =>
    typeof item === 'number' && !Number.isFinite(item) ? String(item) : item,
  );
  return whole === undefined ? 'missing' : whole.length > 80 ? `${whole.slice(0, 80)}…` : whole;
}
