// Proves that a record has the form that our own writer gives it: fields of their types, and the canonical text. A doubled
// key, `-0`, `1e400` or other spacing has a valid hash but another meaning in other readers. Not covered: field values.

import { explain } from '../domain/errors.ts';
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
const OBJECT: Test = [isObject, 'an object'];
const SPANS: Test = [
  (value) =>
    Array.isArray(value) &&
    value.every(
      (span) => isObject(span) && INT32[0](span['version']) && isCount(span['start']) && isCount(span['end']),
    ),
  'a list of version spans, each of an int32 from 0',
];
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

const FINISH = oneOf('stop', 'length', 'abort');
const ANSWERED = {
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
const QUERY: Test = [
  (value) =>
    isObject(value) &&
    NAME[0](value['queryId']) &&
    isObject(value['prompt']) &&
    (value['prompt']['kind'] === 'text'
      ? TEXT[0](value['prompt']['text'])
      : value['prompt']['kind'] === 'messages' &&
        listOf([(m) => isObject(m) && TEXT[0](m['role']) && TEXT[0](m['content']), ''])[0](
          value['prompt']['messages'],
        )) &&
    oneOf('math', 'stem', 'code')[0](value['task']) &&
    listOf(TEXT)[0](value['solutions']),
  'a query',
];

const FIELDS: Readonly<Partial<Record<RecordKind, Readonly<Record<string, Test>>>>> = {
  run: { run: NAME, settings: OBJECT, samples: PLACE, dataset: orNull(OBJECT), createdAt: COUNT },
  result: { run: NAME, total: COUNT, cancelled: oneOf(true, false), numTurns: PLACE, counts: OBJECT },
  rollout: {
    run: NAME,
    query: QUERY,
    index: orNull(COUNT),
    sample: COUNT,
    attempt: PLACE,
    settings: OBJECT,
    birthTime: COUNT,
  },
  turn: {
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
    trainable: maybe(oneOf(true, false)),
  },
  chunk: { ...ANSWERED, chunk: PLACE },
  verdict: { turn: PLACE, verdict: oneOf('right', 'wrong', 'undecided'), reason: NAME, of: HASH, tookMs: COUNT },
  end: {
    outcome: oneOf('complete', 'undecided', 'failed', 'cancelled'),
    stopReason: oneOf('max-turns', 'success', 'context-length', 'undecided', 'failed', 'cancelled'),
    failure: orNull(OBJECT),
    turnRewards: NUMBERS,
    rewards: NUMBERS,
    success: listOf(oneOf(0, 1, null)),
    turns: listOf(HASH),
    finishedAt: COUNT,
  },
};

/** The fault of a record's fields; undefined if there is none. */
export function shapeProblem(kind: RecordKind, record: object): string | undefined {
  for (const [field, [test, wanted]] of Object.entries(FIELDS[kind] ?? {})) {
    const value = (record as Readonly<Record<string, unknown>>)[field];
    if (!test(value)) return `has no right ${field}: it should be ${wanted}, and is ${shown(value)}`;
  }
  return undefined;
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
