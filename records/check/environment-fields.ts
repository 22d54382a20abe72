// The fields of run.json on environments and agents: `records/check/shape.ts` proves them with the rest of the record.

import { type AgentRecord, SAMPLES_OF } from '../../domain/rollout/agent.ts';
import { DOORS, type EnvironmentRecord, type ModelJudgement, STATES } from '../../domain/rollout/environment.ts';
import type { GroupFilter } from '../../domain/rollout/group.ts';
import {
  BOOLEAN,
  COUNT,
  HASH,
  LIMIT,
  listOf,
  maybe,
  NAME,
  NUMBER,
  oneOf,
  only,
  orNull,
  PLACE,
  TEXT,
  type Test,
} from '../../domain/schema/fields.ts';

export const ENVIRONMENT = only<EnvironmentRecord>({
  name: NAME,
  version: TEXT,
  state: oneOf(...STATES),
  begins: BOOLEAN,
  ends: BOOLEAN,
  timeoutSeconds: LIMIT,
  idleSeconds: maybe(LIMIT),
  idempotent: maybe(BOOLEAN),
  processes: maybe(COUNT),
  door: oneOf(...DOORS),
  spec: listOf(NAME),
  fingerprint: HASH,
  claimed: maybe(oneOf(true)),
  judge: maybe(only<NonNullable<EnvironmentRecord['judge']>>({ server: NAME, apiKeyEnv: orNull(NAME) })),
});

export const JUDGED = only<ModelJudgement>({
  model: NAME,
  prompt: HASH,
  reply: TEXT,
  promptTokens: orNull(COUNT),
  completionTokens: orNull(COUNT),
  cost: maybe(NUMBER),
  exact: maybe(NAME),
});

const SHARE: Test = [(value) => Number(value) >= 0 && Number(value) <= 1, 'a number from 0 to 1'];
const RATES: Test = [
  (value) => Array.isArray(value) && value.length === 2 && value.every(SHARE[0]) && value[0] <= value[1],
  'two numbers from 0 to 1 in order',
];
export const KEEP = only<GroupFilter>({
  minMembers: orNull(PLACE),
  successRate: orNull(RATES),
  dropZeroVariance: BOOLEAN,
});
export const AGENT = only<AgentRecord>({ name: NAME, sampleOf: oneOf(...SAMPLES_OF) });
