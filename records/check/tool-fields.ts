// The form of what tools leave in the records: the tools of a run, the calls of a reply, their intents and results.

import {
  CALL_OUTCOMES,
  type CallRecord,
  type CallResult,
  EFFECTS,
  type IntentRecord,
  type Marker,
  TOOL_DOORS,
  type ToolRecord,
  type ToolSettings,
} from '../../domain/tools/tool.ts';
import {
  COUNT,
  type Fields,
  HASH,
  isObject,
  LIMIT,
  listOf,
  maybe,
  NAME,
  only,
  oneOf,
  orNull,
  PLACE,
  TEXT,
} from '../../domain/schema/fields.ts';

const TOOL = only<ToolRecord>({
  name: NAME,
  description: TEXT,
  parameters: [isObject, 'an object'],
  effect: oneOf(...EFFECTS),
  timeoutSeconds: LIMIT,
  door: oneOf(...TOOL_DOORS),
  spec: listOf(NAME),
  fingerprint: HASH,
});
export const TOOLS = only<ToolSettings>({
  format: NAME,
  stops: maybe(listOf(NAME)),
  opensResults: maybe(NAME),
  list: listOf(TOOL),
  markers: maybe(listOf(only<Marker>({ text: NAME, id: COUNT }))),
  maxCalls: PLACE,
  outputBytes: PLACE,
});

export const CALL_RESULTS = listOf(
  only<CallResult>({
    name: orNull(TEXT),
    arguments: orNull(TEXT),
    outcome: oneOf(...CALL_OUTCOMES, 'refused'),
    effect: orNull(oneOf(...EFFECTS)),
    ms: orNull(COUNT),
    output: TEXT,
    of: orNull(HASH),
  }),
);
const ONE_CALL = { turn: PLACE, call: PLACE, of: HASH, name: NAME, key: NAME, attempt: PLACE };
export const INTENT: Fields<IntentRecord> = { ...ONE_CALL, at: COUNT };
export const CALL: Fields<CallRecord> = {
  ...ONE_CALL,
  effect: oneOf(...EFFECTS),
  outcome: oneOf(...CALL_OUTCOMES),
  output: TEXT,
  bytes: COUNT,
  tool: HASH,
  startedAt: COUNT,
  finishedAt: COUNT,
};
