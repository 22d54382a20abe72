// The form of a run's settings in its records.

import { FLEET_POLICIES, type RolloutSettings } from '../../domain/run/settings.ts';
import {
  BOOLEAN,
  COUNT,
  type Fields,
  flawIn,
  isObject,
  listOf,
  mapOf,
  maybe,
  NAME,
  NUMBER,
  oneOf,
  orNull,
  PLACE,
  type Test,
} from './field-tests.ts';
import { ENVIRONMENT, LIMIT } from './environment-fields.ts';
import { TOOLS } from './tool-fields.ts';

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
  recheckEvery: maybe(COUNT),
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
