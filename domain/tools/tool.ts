// Tools: their description as run.json records it, the calls of a reply, and the record of each call. Pure types, and rules
// without effects. A call is run as an activity; its record is its result, whatever is killed or tried again.

import {
  COUNT,
  HASH,
  POSITIVE,
  listOf,
  maybe,
  NAME,
  OBJECT,
  type ObjectOf,
  objectOf,
  oneOf,
  orNull,
  PLACE,
  TEXT,
  type TypeOf,
} from '../schema/fields.ts';
import { type RolloutId, rolloutWorkflowId } from '../names/ids.ts';

/**
 * The promise of a tool about a second call with the same key.
 *   pure         changes nothing: it may be called again
 *   idempotent   a second call with the same key changes nothing more
 *   once         must not be called twice: after an unknown outcome the rollout fails, and the call is not repeated
 */
export const EFFECTS = ['pure', 'idempotent', 'once'] as const;

/** `python`: the sandbox; `module`: the user's own file; `mcp`: a server that speaks the Model Context Protocol. */
export const TOOL_DOORS = ['python', 'module', 'mcp'] as const;

/** The part that the model is told. */
const TOOL_SCHEMA = {
  name: NAME,
  description: TEXT,
  /** JSON schema of its arguments: an object. */
  parameters: OBJECT,
};
export type ToolSchema = ObjectOf<typeof TOOL_SCHEMA>;
export const TOOL_SCHEMAS = listOf(objectOf(TOOL_SCHEMA));

/** A tool of a run: fixed when the run is made, and equal on all of its workers. */
const TOOL = objectOf({
  ...TOOL_SCHEMA,
  effect: oneOf(...EFFECTS),
  /** Time limit of one call. */
  timeoutSeconds: POSITIVE,
  door: oneOf(...TOOL_DOORS),
  /** The words of the server's command, or the module's path as it was given. */
  spec: listOf(NAME),
  /** SHA-256 of the code: a module's bundle, or what a server says of itself and its tools. */
  fingerprint: HASH,
  /** Its name at its server, where a model API takes no such name. */
  own: maybe(NAME),
});
export type ToolRecord = TypeOf<typeof TOOL>;

/** A text that opens a call, and the token that the model's tokenizer has for it. */
const MARKER = objectOf({ text: NAME, id: COUNT });
export type Marker = TypeOf<typeof MARKER>;

/** All that a run's settings say of its tools. */
export const TOOLS = objectOf({
  /** How this model writes a call (environments/tools/formats/). */
  format: NAME,
  /** Tokens of the format that may end a reply, as text. */
  stops: maybe(listOf(NAME)),
  /** The one of them that begins the results, if one does: after another it is still to come. */
  opensResults: maybe(NAME),
  list: listOf(TOOL),
  /** Texts that open a call for which the model's tokenizer has tokens; absent if it has none. */
  markers: maybe(listOf(MARKER)),
  /** Calls before one answer, at most; a reply with further calls is judged as an answer. */
  maxCalls: PLACE,
  /** Bytes of a call's output that the model is told. */
  outputBytes: PLACE,
});
export type ToolSettings = TypeOf<typeof TOOLS>;

export const DEFAULT_MAX_TOOL_CALLS = 32;
export const DEFAULT_TOOL_OUTPUT_BYTES = 16_384;
export const DEFAULT_TOOL_TIMEOUT_SECONDS = 60;
export const MAX_TOOL_TIMEOUT_SECONDS = 1_200;
/** Calls of one reply; the model is told of the others that they were not run. */
export const MAX_CALLS_OF_A_REPLY = 8;
/** The part of a call's output that its record holds, at most. */
export const MAX_RECORDED_BYTES = 1 << 20;

/**
 * A call as an endpoint gives it. `arguments`: JSON text, if the model wrote any; `more`: the endpoint's own fields beside it,
 * such as a signature of the thoughts that led to it, which go back with it.
 */
const GIVEN_CALL = objectOf({ id: NAME, name: TEXT, arguments: TEXT, more: maybe(OBJECT) });
export type GivenCall = TypeOf<typeof GIVEN_CALL>;
export const GIVEN_CALLS = listOf(GIVEN_CALL);

/** A call as the model wrote it; with `error`, one that cannot be run, and why. */
const WRITTEN_CALL = objectOf({
  name: orNull(TEXT),
  /** JSON text: an object. */
  arguments: orNull(TEXT),
  /** The id that the model gave it, in formats that have one. */
  id: orNull(TEXT),
  /** The whole call, as written. */
  raw: TEXT,
  error: maybe(TEXT),
});
export type WrittenCall = TypeOf<typeof WRITTEN_CALL>;
export const WRITTEN_CALLS = listOf(WRITTEN_CALL);

/**
 * ok          the tool gave its output
 * failed      the tool itself reported a failure
 * timed-out   it gave nothing in its time
 */
export const CALL_OUTCOMES = ['ok', 'failed', 'timed-out'] as const;
export type CallOutcome = (typeof CALL_OUTCOMES)[number];

const PLACE_OF_CALL = {
  /** 1-based: the turn whose reply holds the call. */
  turn: PLACE,
  /** 1-based place among the calls of the reply. */
  call: PLACE,
  /** Hash of that turn's record. */
  of: HASH,
  name: NAME,
  /** The idempotency key that the tool was given. */
  key: NAME,
  /** The attempt of the activity that wrote it, 1-based. */
  attempt: PLACE,
};

/** Written once, when a call has ended. */
export const CALL = {
  ...PLACE_OF_CALL,
  effect: oneOf(...EFFECTS),
  outcome: oneOf(...CALL_OUTCOMES),
  /** The output, cut to MAX_RECORDED_BYTES. */
  output: TEXT,
  /** Bytes of the whole output. */
  bytes: COUNT,
  /** The last lines of the traceback of an error that it threw; the model is not told. */
  trace: maybe(TEXT),
  /** The tool's fingerprint. */
  tool: HASH,
  /** Epoch milliseconds. */
  startedAt: COUNT,
  finishedAt: COUNT,
};
export type CallRecord = ObjectOf<typeof CALL>;

/** Written before a tool with the effect `once` is called: with it and no outcome, nobody calls again. */
export const INTENT = {
  ...PLACE_OF_CALL,
  /** Epoch milliseconds. */
  at: COUNT,
};
export type IntentRecord = ObjectOf<typeof INTENT>;

/** A call in the reply to its turn: what the model was told of it. */
const CALL_RESULT = objectOf({
  name: orNull(TEXT),
  /** JSON text. */
  arguments: orNull(TEXT),
  /** `refused`: it could not be run as it was written. */
  outcome: oneOf(...CALL_OUTCOMES, 'refused'),
  /** Null for a call that was not run. */
  effect: orNull(oneOf(...EFFECTS)),
  ms: orNull(COUNT),
  /** The output as the model was told it: cut to the run's limit. */
  output: TEXT,
  /** That of the call's record. */
  trace: maybe(TEXT),
  /** Hash of the call's record; null for a call that was not run. */
  of: orNull(HASH),
});
export type CallResult = TypeOf<typeof CALL_RESULT>;
export const CALL_RESULTS = listOf(CALL_RESULT);

/** The small fact of a call that the workflow needs. */
export interface CallToRun {
  /** 1-based place among the calls of the reply. */
  readonly call: number;
  readonly name: string;
  /** It needs a worker with a sandbox. */
  readonly code: boolean;
  /** Others may run at the same time. */
  readonly pure: boolean;
}

/** The same for every retry and every replay of this call, and of no other call. */
export function callKey(id: RolloutId, turn: number, call: number): string {
  return `${rolloutWorkflowId({ ...id, attempt: 1 })}/${id.attempt}/${turn}/${call}`;
}

/** True for a name that every model API takes. */
export function isToolName(name: string): boolean {
  return /^[A-Za-z0-9_-]{1,64}$/.test(name);
}

export const ownName = ({ own, name }: ToolRecord): string => own ?? name;

/** The part of a tool that decides what it does and what the model is told. */
export function toolIdentity({ name, description, parameters, effect, timeoutSeconds, door, fingerprint }: ToolRecord) {
  return { name, description, parameters, effect, timeoutSeconds, door, fingerprint };
}

/** `search (mcp, once, 3fb0…)` */
export function toolTitle({ name, door, effect, fingerprint }: ToolRecord): string {
  return `${name} (${door}, ${effect}, ${fingerprint.slice(0, 12)})`;
}
