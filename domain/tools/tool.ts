// Tools: their description as run.json records it, the calls of a reply, and the record of each call. Pure types, and rules
// without effects. A call is run as an activity; its record is its result, whatever is killed or tried again.

import { listOf, maybe, type ObjectOf, objectOf, orNull, TEXT } from '../schema/fields.ts';
import { type RolloutId, rolloutWorkflowId } from '../run/ids.ts';
import type { JsonObject } from '../text/json.ts';

/**
 * The promise of a tool about a second call with the same key.
 *   pure         changes nothing: it may be called again
 *   idempotent   a second call with the same key changes nothing more
 *   once         must not be called twice: after an unknown outcome the rollout fails, and the call is not repeated
 */
export const EFFECTS = ['pure', 'idempotent', 'once'] as const;
export type Effect = (typeof EFFECTS)[number];

/** `python`: the sandbox; `module`: the user's own file; `mcp`: a server that speaks the Model Context Protocol. */
export const TOOL_DOORS = ['python', 'module', 'mcp'] as const;
export type ToolDoor = (typeof TOOL_DOORS)[number];

/** The part that the model is told. */
export interface ToolSchema {
  readonly name: string;
  readonly description: string;
  /** JSON schema of its arguments: an object. */
  readonly parameters: JsonObject;
}

/** A tool of a run: fixed when the run is made, and equal on all of its workers. */
export interface ToolRecord extends ToolSchema {
  readonly effect: Effect;
  /** Time limit of one call. */
  readonly timeoutSeconds: number;
  readonly door: ToolDoor;
  /** The words of the server's command, or the module's path as it was given. */
  readonly spec: readonly string[];
  /** SHA-256 of the code: a module's bundle, or what a server says of itself and its tools. */
  readonly fingerprint: string;
}

/** A text that opens a call, and the token that the model's tokenizer has for it. */
export interface Marker {
  readonly text: string;
  readonly id: number;
}

/** All that a run's settings say of its tools. */
export interface ToolSettings {
  /** How this model writes a call (environments/tools/formats/). */
  readonly format: string;
  /** Tokens of the format that may end a reply, as text. */
  readonly stops?: readonly string[];
  /** The one of them that begins the results, if one does: after another it is still to come. */
  readonly opensResults?: string;
  readonly list: readonly ToolRecord[];
  /** Texts that open a call for which the model's tokenizer has tokens; absent if it has none. */
  readonly markers?: readonly Marker[];
  /** Calls before one answer, at most; a reply with further calls is judged as an answer. */
  readonly maxCalls: number;
  /** Bytes of a call's output that the model is told. */
  readonly outputBytes: number;
}

export const DEFAULT_MAX_TOOL_CALLS = 32;
export const DEFAULT_TOOL_OUTPUT_BYTES = 16_384;
export const DEFAULT_TOOL_TIMEOUT_SECONDS = 60;
export const MAX_TOOL_TIMEOUT_SECONDS = 1_200;
/** Calls of one reply; the model is told of the others that they were not run. */
export const MAX_CALLS_OF_A_REPLY = 8;
/** Of a call's output, in its record. */
export const MAX_RECORDED_BYTES = 1 << 20;

/** A call as the model wrote it; with `error`, one that cannot be run, and why. */
const WRITTEN_CALL = {
  name: orNull(TEXT),
  /** JSON text: an object. */
  arguments: orNull(TEXT),
  /** The id that the model gave it, in formats that have one. */
  id: orNull(TEXT),
  /** The whole call, as written. */
  raw: TEXT,
  error: maybe(TEXT),
};
export type WrittenCall = ObjectOf<typeof WRITTEN_CALL>;
export const WRITTEN_CALLS = listOf(objectOf(WRITTEN_CALL));

/**
 * ok          the tool gave its output
 * failed      the tool itself reported a failure
 * timed-out   it gave nothing in its time
 */
export const CALL_OUTCOMES = ['ok', 'failed', 'timed-out'] as const;
export type CallOutcome = (typeof CALL_OUTCOMES)[number];

/** Written once, when a call has ended. */
export interface CallRecord {
  /** 1-based: the turn whose reply holds the call. */
  readonly turn: number;
  /** 1-based place among the calls of the reply. */
  readonly call: number;
  /** Hash of that turn's record. */
  readonly of: string;
  readonly name: string;
  readonly effect: Effect;
  readonly outcome: CallOutcome;
  /** At most MAX_RECORDED_BYTES of it. */
  readonly output: string;
  /** Bytes of the whole output. */
  readonly bytes: number;
  /** The tool's fingerprint. */
  readonly tool: string;
  /** The idempotency key that the tool was given. */
  readonly key: string;
  /** The attempt of the activity that wrote it, 1-based. */
  readonly attempt: number;
  /** Epoch milliseconds. */
  readonly startedAt: number;
  readonly finishedAt: number;
}

/** Written before a tool with the effect `once` is called: with it and no outcome, nobody calls again. */
export interface IntentRecord extends Pick<CallRecord, 'turn' | 'call' | 'of' | 'name' | 'key' | 'attempt'> {
  /** Epoch milliseconds. */
  readonly at: number;
}

/** A call in the reply to its turn: what the model was told of it. */
export interface CallResult {
  readonly name: string | null;
  /** JSON text. */
  readonly arguments: string | null;
  /** `refused`: it could not be run as it was written. */
  readonly outcome: CallOutcome | 'refused';
  /** Null for a call that was not run. */
  readonly effect: Effect | null;
  readonly ms: number | null;
  /** As the model was told it: cut to the run's limit. */
  readonly output: string;
  /** Hash of the call's record; null for a call that was not run. */
  readonly of: string | null;
}

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

export function isToolName(name: string): boolean {
  return /^[A-Za-z0-9_-]{1,64}$/.test(name);
}

/** The part of a tool that decides what it does and what the model is told. */
export function toolIdentity({ name, description, parameters, effect, timeoutSeconds, door, fingerprint }: ToolRecord) {
  return { name, description, parameters, effect, timeoutSeconds, door, fingerprint };
}

/** `search (mcp, once, 3fb0…)` */
export function toolTitle({ name, door, effect, fingerprint }: ToolRecord): string {
  return `${name} (${door}, ${effect}, ${fingerprint.slice(0, 12)})`;
}

/** The text, cut in its middle to so many bytes of UTF-8, with the count of what is left out. */
export function clipped(text: string, mostBytes: number): string {
  const bytes = new TextEncoder().encode(text);
  if (bytes.length <= mostBytes) return text;
  const half = Math.floor(mostBytes / 2);
  const [head, tail] = [bytes.subarray(0, boundary(bytes, half)), bytes.subarray(boundary(bytes, bytes.length - half))];
  const decode = (part: Uint8Array): string => new TextDecoder().decode(part);
  return `${decode(head)}\n[${bytes.length - head.length - tail.length} bytes left out]\n${decode(tail)}`;
}

/** The place at or before `at` where no character is cut. */
function boundary(bytes: Uint8Array, at: number): number {
  let place = at;
  while (place > 0 && (bytes[place]! & 0xc0) === 0x80) place--;
  return place;
}
