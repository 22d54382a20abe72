// The form of a run's settings in its records.

import { DOORS, type EnvironmentRecord, STATES } from '../domain/environment.ts';
import { FLEET_POLICIES, type RolloutSettings } from '../domain/settings.ts';
import {
  BOOLEAN,
  COUNT,
  type Fields,
  flawIn,
  HASH,
  isObject,
  listOf,
  mapOf,
  maybe,
  NAME,
  NUMBER,
  oneOf,
  only,
  orNull,
  PLACE,
  type Test,
  TEXT,
} from './field-tests.ts';
import { TOOLS } from './tool-fields.ts';

const LIMIT: Test = [(value) => Number.isFinite(value) && (value as number) > 0, 'a number above 0'];
const ENVIRONMENT = only<EnvironmentRecord>({
  name: NAME,
  version: TEXT,
  state: oneOf(...STATES),
  begins: BOOLEAN,
  ends: BOOLEAN,
  timeoutSeconds: LIMIT,
  door: oneOf(...DOORS),
  spec: listOf(NAME),
  fingerprint: HASH,
  claimed: maybe(oneOf(true)),
});
export const SETTINGS: Fields<RolloutSettings> = {
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
  environments: maybe(listOf(ENVIRONMENT)),
  tools: maybe(TOOLS),
};
export const SETTINGS_TEST: Test = [
  (value) => isObject(value) && flawIn(SETTINGS, value) === undefined,
  'an object: the settings of a rollout',
];
