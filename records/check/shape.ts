// Proves that a record has the form that our own writer gives it: the fields of its type and no others, each of its type,
// in the canonical text. A doubled key, `-0`, `1e400` or other spacing has a valid hash but another meaning in other
// readers. The tables of turns and settings are those that
// give the records their types; the others are typed by the records, and a new field needs a line here. Not covered: whether values fit together.

import { explain } from '../../domain/errors/errors.ts';
import { LOGPROB_MEANINGS } from '../../domain/rollout/logprob-meaning.ts';
import type { CollectionResult } from '../../domain/run/messages.ts';
import type { CollectionCounts, RewardCount } from '../../domain/run/progress.ts';
import type { InputOutput, Message, Prompt, Query } from '../../domain/run/query.ts';
import type { Begun, EndRecord, Failure, RolloutRecord, VerdictRecord } from '../../domain/rollout/trajectory.ts';
import { CARRIED } from '../../domain/rollout/lineage.ts';
import { CHUNK, TURN } from '../../domain/rollout/turn.ts';
import type { ModelIdentity } from '../../domain/weights/model-identity.ts';
import {
  BOOLEAN,
  COUNT,
  flawIn,
  HASH,
  isObject,
  listOf,
  mapOf,
  maybe,
  NAME,
  NUMBER,
  NUMBERS,
  oneOf,
  only,
  orNull,
  PLACE,
  TEXT,
  type Fields,
  type Test,
} from '../../domain/schema/fields.ts';
import { AGENT, JUDGED, KEEP } from './environment-fields.ts';
import { FORKED_FROM, PARENT, SAY, STEERING } from './steering-fields.ts';
import { SETTINGS, SETTINGS_TEST } from './settings-fields.ts';
import { CALL, CALL_RESULTS, INTENT } from './tool-fields.ts';
import { ORIGINS, type RunRecord } from '../record/run-record.ts';
import { VERDICTS } from '../../domain/rollout/verdict.ts';
import { encodeRecord, hashOfParsed, type Owner, type RecordKind } from '../record/text.ts';
import type { Stored } from '../store.ts';

const eitherOf = (...tests: readonly Test[]): Test => [
  (value) => tests.some(([test]) => test(value)),
  tests.map(([, name]) => name).join(' or '),
];
const MESSAGES = listOf(only<Message>({ role: TEXT, content: TEXT, name: maybe(TEXT), tool_call_id: maybe(TEXT) }));
const PROMPT = eitherOf(
  only<Extract<Prompt, { kind: 'text' }>>({ kind: oneOf('text'), text: TEXT }),
  only<Extract<Prompt, { kind: 'messages' }>>({
    kind: oneOf('messages'),
    messages: MESSAGES,
  }),
);
const LIST: Test = [Array.isArray, 'a list'];
const ANY: Test = [() => true, 'anything'];
const QUERY: Test = [
  only<Query>({
    queryId: NAME,
    prompt: PROMPT,
    task: oneOf('math', 'stem', 'code', 'environment'),
    solutions: listOf(TEXT),
    inputOutput: maybe(only<InputOutput>({ inputs: LIST, outputs: LIST, fn_name: maybe(TEXT) })),
    environment: maybe(NAME),
    row: maybe([isObject, 'an object']),
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
  tokens: orNull(COUNT),
  judgedAt: listOf(COUNT),
  rightAt: listOf(COUNT),
  rightBy: listOf(COUNT),
  rewardAt: maybe(
    listOf(
      only<RewardCount>({
        count: COUNT,
        sum: NUMBER,
        squares: NUMBER,
        deviations: maybe(NUMBER),
        min: NUMBER,
        max: NUMBER,
      }),
    ),
  ),
  steered: maybe(COUNT),
  failures: LIST,
});

const RUN: Fields<RunRecord> = {
  format: TEXT,
  run: NAME,
  settings: SETTINGS_TEST,
  origins: mapOf(oneOf(...ORIGINS)),
  samples: PLACE,
  epochs: maybe(orNull(PLACE)),
  train: maybe(orNull([isObject, 'an object'])),
  keep: maybe(KEEP),
  agent: maybe(AGENT),
  dataset: orNull(DATASET),
  logprobs: maybe(
    orNull(only<NonNullable<RunRecord['logprobs']>>({ meaning: MEANING, servers: maybe(mapOf(MEANING)) })),
  ),
  model: maybe(orNull(MODEL)),
  forkedFrom: maybe(FORKED_FROM),
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
  parent: maybe(PARENT),
  begun: maybe(only<Begun>({ asked: PROMPT, state: ANY, environment: HASH })),
};
const VERDICT: Fields<VerdictRecord> = {
  turn: PLACE,
  verdict: oneOf(...VERDICTS),
  reason: NAME,
  of: HASH,
  extracted: maybe(TEXT),
  suspectedTamper: maybe(BOOLEAN),
  tookMs: COUNT,
  reward: maybe(NUMBER),
  rewards: maybe(mapOf(NUMBER)),
  metrics: maybe(mapOf(NUMBER)),
  judged: maybe(JUDGED),
  messages: maybe(MESSAGES),
  done: maybe(BOOLEAN),
  state: ANY,
  environment: maybe(HASH),
  note: maybe(TEXT),
  carried: maybe(CARRIED),
  calls: maybe(CALL_RESULTS),
};
const END: Fields<EndRecord> = {
  outcome: oneOf('complete', 'undecided', 'failed', 'cancelled'),
  stopReason: oneOf('max-turns', 'success', 'done', 'context-length', 'undecided', 'failed', 'cancelled'),
  failure: orNull(only<Failure>({ boundary: maybe(NAME), reason: NAME, message: TEXT, turn: PLACE })),
  turnRewards: NUMBERS,
  rewards: NUMBERS,
  success: listOf(oneOf(0, 1, null)),
  turns: listOf(HASH),
  finishedAt: COUNT,
  said: maybe(listOf(PLACE)),
  called: maybe(listOf(PLACE)),
};
const FIELDS: Readonly<Partial<Record<RecordKind, Readonly<Record<string, Test>>>>> = {
  run: RUN,
  result: RESULT,
  rollout: ROLLOUT,
  turn: TURN,
  chunk: CHUNK,
  verdict: VERDICT,
  end: END,
  say: SAY,
  intent: INTENT,
  call: CALL,
};
/** The fault of a record's fields; undefined if there is none. */
export function shapeProblem(kind: RecordKind, record: object): string | undefined {
  const fields = record as Readonly<Record<string, unknown>>;
  const known = kind === 'steering' ? STEERING[String(fields['act'])] : FIELDS[kind];
  if (kind === 'steering' && !known) return 'is no act that Everturn knows';
  if (!known) return undefined;
  const { settings } = fields;
  const flaw = flawIn(known, fields);
  if (flaw === undefined || !isObject(settings) || !flaw.startsWith('has no right settings')) return flaw;
  return `${flawIn(SETTINGS, settings)} (in settings)`;
}

/** For a record with a valid hash: whether its text is the canonical one. */
export async function textProblem(
  kind: RecordKind,
  owner: Owner | null,
  { record, hash }: Stored<object>,
): Promise<string | undefined> {
  if (owner && hashOfParsed(kind, owner, record) === hash) return undefined;
  try {
    const own = await encodeRecord(kind, owner, record);
    if (own.hash === hash) return undefined;
    return 'is not the text that its content gives: a key stands in it twice, or a number or the spacing is not ours';
  } catch (error) {
    return `cannot be written again: ${explain(error)}`;
  }
}
