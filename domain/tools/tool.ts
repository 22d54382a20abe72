// Tools: their description as run.json records it, the calls of a reply, and the record of each call. Pure types, and rules
// without effects. A call is run as an activity; its record is its result, whatever is killed or tried again.

import * as f from '../schema/fields.ts';
import { type RolloutId, rolloutWorkflowId } from '../names/ids.ts';

/**
 * The promise of a tool about a second call with the same key.
 *   pure         changes nothing: it may be called again
 *   idempotent   a second call with the same key changes nothing more
 *   once         must not be called twice: after an unknown outcome the rollout fails, and the call is not repeated
 */
export const EFFECTS = ['pure', 'idempotent', 'once'] as const;

/**
 * `python`: the sandbox; `module`: the user's own file; `mcp`: a server that speaks the Model Context Protocol; `function`: code
 * of the program that made the run.
 */
const TOOL_DOORS = ['python', 'module', 'mcp', 'function'] as const;

/** The part that the model is told. */
const TOOL_SCHEMA = {
  name: f.NAME,
  description: f.TEXT,
  /** JSON schema of its arguments: an object. */
  parameters: f.OBJECT,
};
export type ToolSchema = f.ObjectOf<typeof TOOL_SCHEMA>;
export const TOOL_SCHEMAS = f.listOf(f.objectOf(TOOL_SCHEMA));

/** A tool of a run: fixed when the run is made, and equal on all of its workers. */
const TOOL = f.objectOf({
  ...TOOL_SCHEMA,
  effect: f.oneOf(...EFFECTS),
  /** Time limit of one call. */
  timeoutSeconds: f.POSITIVE,
  door: f.oneOf(...TOOL_DOORS),
  /** The words of the server's command, or the module's path as it was given. */
  spec: f.listOf(f.NAME),
  /** SHA-256 of the code: a module's bundle, or what a server says of itself and its tools. */
  fingerprint: f.HASH,
  /** Its name at its server, where a model API takes no such name. */
  own: f.maybe(f.NAME),
});
export type ToolRecord = f.TypeOf<typeof TOOL>;

/** A text that opens a call, and the token that the model's tokenizer has for it. */
const MARKER = f.objectOf({ text: f.NAME, id: f.COUNT });
export type Marker = f.TypeOf<typeof MARKER>;

/** All that a run's settings say of its tools. */
export const TOOLS = f.objectOf({
  /** How this model writes a call (environments/tools/formats/). */
  format: f.NAME,
  /** Tokens of the format that may end a reply, as text. */
  stops: f.maybe(f.listOf(f.NAME)),
  /** The one of them that begins the results, if one does: after another it is still to come. */
  opensResults: f.maybe(f.NAME),
  list: f.listOf(TOOL),
  /** Texts that open a call for which the model's tokenizer has tokens; absent if it has none. */
  markers: f.maybe(f.listOf(MARKER)),
  /** Calls before one answer, at most; a reply with further calls is judged as an answer. */
  maxCalls: f.PLACE,
  /** Bytes of a call's output that the model is told. */
  outputBytes: f.PLACE,
});
export type ToolSettings = f.TypeOf<typeof TOOLS>;

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
const GIVEN_CALL = f.objectOf({ id: f.NAME, name: f.TEXT, arguments: f.TEXT, more: f.maybe(f.OBJECT) });
export type GivenCall = f.TypeOf<typeof GIVEN_CALL>;
export const GIVEN_CALLS = f.listOf(GIVEN_CALL);

/** A call as the model wrote it; with `error`, one that cannot be run, and why. */
const WRITTEN_CALL = f.objectOf({
  name: f.orNull(f.TEXT),
  /** JSON text: an object. */
  arguments: f.orNull(f.TEXT),
  /** The id that the model gave it, in formats that have one. */
  id: f.orNull(f.TEXT),
  /** The whole call, as written. */
  raw: f.TEXT,
  error: f.maybe(f.TEXT),
});
export type WrittenCall = f.TypeOf<typeof WRITTEN_CALL>;
export const WRITTEN_CALLS = f.listOf(WRITTEN_CALL);

/**
 * ok          the tool gave its output
 * failed      the tool itself reported a failure
 * timed-out   it gave nothing in its time
 */
const CALL_OUTCOMES = ['ok', 'failed', 'timed-out'] as const;
export type CallOutcome = (typeof CALL_OUTCOMES)[number];

const PLACE_OF_CALL = {
  /** 1-based: the turn whose reply holds the call. */
  turn: f.PLACE,
  /** 1-based place among the calls of the reply. */
  call: f.PLACE,
  /** Hash of that turn's record. */
  of: f.HASH,
  name: f.NAME,
  /** The idempotency key that the tool was given. */
  key: f.NAME,
  /** The attempt of the activity that wrote it, 1-based. */
  attempt: f.PLACE,
};

/** Written once, when a call has ended. */
export const CALL = {
  ...PLACE_OF_CALL,
  effect: f.oneOf(...EFFECTS),
  outcome: f.oneOf(...CALL_OUTCOMES),
  /** The output, cut to MAX_RECORDED_BYTES. */
  output: f.TEXT,
  /** Bytes of the whole output. */
  bytes: f.COUNT,
  /** The last lines of the traceback of an error that it threw; the model is not told. */
  trace: f.maybe(f.TEXT),
  /** The tool's fingerprint. */
  tool: f.HASH,
  /** Epoch milliseconds. */
  startedAt: f.COUNT,
  finishedAt: f.COUNT,
};
export type CallRecord = f.ObjectOf<typeof CALL>;

/** Written before a tool with the effect `once` is called: with it and no outcome, nobody calls again. */
export const INTENT = {
  ...PLACE_OF_CALL,
  /** Epoch milliseconds. */
  at: f.COUNT,
};
export type IntentRecord = f.ObjectOf<typeof INTENT>;

/** A call in the reply to its turn: what the model was told of it. */
const CALL_RESULT = f.objectOf({
  name: f.orNull(f.TEXT),
  /** JSON text. */
  arguments: f.orNull(f.TEXT),
  /** `refused`: it could not be run as it was written. */
  outcome: f.oneOf(...CALL_OUTCOMES, 'refused'),
  /** Null for a call that was not run. */
  effect: f.orNull(f.oneOf(...EFFECTS)),
  ms: f.orNull(f.COUNT),
  /** The output as the model was told it: cut to the run's limit. */
  output: f.TEXT,
  /** That of the call's record. */
  trace: f.maybe(f.TEXT),
  /** Hash of the call's record; null for a call that was not run. */
  of: f.orNull(f.HASH),
});
export type CallResult = f.TypeOf<typeof CALL_RESULT>;
export const CALL_RESULTS = f.listOf(CALL_RESULT);

/** The small fact of a call that the workflow needs. */
export interface CallToRun {
  /** 1-based place among the calls of the reply. */
  readonly call: number;
  readonly name: string;
  /** It needs a worker with a sandbox. */
  readonly code: boolean;
  /** The queue of the program whose function it is. */
  readonly queue?: string;
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
