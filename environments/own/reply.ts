// Reads what a user's environment says: its description, its begin, its replies. Strict: an unknown field, a number that
// is none or a text that cannot be stored is an EnvironmentError that names the field. Nothing of it is trusted.

import { z } from 'zod';
import {
  type Begun,
  DEFAULT_TIMEOUT_SECONDS,
  type Description,
  isEnvironmentName,
  MAX_IDLE_SECONDS,
  MAX_PROCESSES,
  MAX_TIMEOUT_SECONDS,
  type EnvironmentReply,
  type StateKind,
  STATES,
} from '../../domain/rollout/environment.ts';
import type { Json, JsonObject } from '../../domain/text/json.ts';
import { short } from '../../domain/text/foreign-text.ts';
import type { Verdict } from '../../domain/rollout/verdict.ts';
import { brokenError } from '../processes/envelope.ts';

/** Far below float32's end: the sum over a thousand turns fits as well. */
const MAX_REWARD = 1e30;
const MAX_MESSAGES = 64;
const MAX_NAMES = 100;
const EXTRACTED_CHARS = 200;

const text = z.string().refine((value) => value.isWellFormed() && !value.includes('\u0000'), {
  message: 'holds NUL or half a character (a lone surrogate)',
});
const number = z.number().refine(Number.isFinite, { message: 'is no finite number' });
const reward = number.refine((value) => Math.abs(value) <= MAX_REWARD, { message: `is beyond ${MAX_REWARD}` });
const named = <T extends z.ZodType>(value: T) =>
  z
    .record(text.min(1).max(100), value)
    .refine((map) => Object.keys(map).length <= MAX_NAMES, { message: `holds more than ${MAX_NAMES} names` });
const message = z.strictObject({ role: z.enum(['user', 'system', 'tool']), content: text });
const opening = z.strictObject({ role: z.enum(['user', 'system', 'assistant', 'tool', 'developer']), content: text });
const reason = z
  .string()
  .regex(/^[a-z0-9]+(?:-[a-z0-9]+)*$/, 'is not of a-z, 0-9 and hyphens')
  .max(64);
const decision = z.enum(['right', 'wrong', 'undecided']);
const verdict = z.union([
  decision.transform((value): Verdict => ({ verdict: value, reason: 'environment' })),
  z
    .strictObject({ verdict: decision, reason: reason.optional(), extracted: text.optional() })
    .transform(({ verdict: value, reason: why = 'environment', extracted }): Verdict => {
      const shown = extracted === undefined ? {} : { extracted: extracted.slice(0, EXTRACTED_CHARS).toWellFormed() };
      return { verdict: value, reason: why, ...shown };
    }),
]);
const json = z.unknown().refine(isStorable, { message: 'holds NUL, half a character, or is nested too deep' });

const BEGUN = z.strictObject({
  messages: z.array(opening).min(1).max(MAX_MESSAGES).optional(),
  state: json.optional(),
});
const REPLY = z.strictObject({
  verdict: verdict.optional(),
  reward: z.union([reward, named(reward)]).optional(),
  metrics: named(number).optional(),
  messages: z.array(message).max(MAX_MESSAGES).optional(),
  done: z.boolean().optional(),
  state: json.optional(),
});
const HELLO = z.strictObject({
  protocol: z.literal(1),
  name: z.string().refine(isEnvironmentName, { message: 'is not of a-z, 0-9 and hyphens, at most 64' }),
  version: z.union([text.min(1).max(100), number.transform(String)]),
  state: z.enum(STATES).optional(),
  begins: z.boolean().optional(),
  ends: z.boolean().optional(),
  timeoutSeconds: z.number().gt(0).max(MAX_TIMEOUT_SECONDS).optional(),
  idleSeconds: z.number().gt(0).max(MAX_IDLE_SECONDS).optional(),
  idempotent: z.boolean().optional(),
  processes: z.int().min(1).max(MAX_PROCESSES).optional(),
  fingerprint: text.min(1).max(200).optional(),
  agents: z.array(z.record(text, json)).max(MAX_NAMES).optional(),
});

export interface Hello extends Description {
  /** The hash of its code, as it says itself. */
  readonly fingerprint?: string;
  /** Agents that it brings, unread. */
  readonly agents?: readonly JsonObject[];
}

/** `who`: the environment, for messages. */
export function parseHello(who: string, value: unknown): Hello {
  const { protocol: _, state = 'none', begins = false, ends = false, ...said } = parsed(who, 'hello', HELLO, value);
  const { name, version, timeoutSeconds = DEFAULT_TIMEOUT_SECONDS, fingerprint, agents, idleSeconds, processes } = said;
  const repeats = state === 'held' && said.idempotent === true;
  if (state === 'held' && (idleSeconds === undefined || !begins)) {
    throw brokenError(
      who,
      'hello',
      idleSeconds === undefined
        ? 'its state is "held", and it says no `idleSeconds`'
        : 'its state is "held", and it does not begin',
      'A session that is held has a beginning and a lease: say `begins` and `idleSeconds`.',
    );
  }
  return {
    name,
    version,
    state,
    begins,
    // An environment with live objects must release them.
    ends: ends || state === 'replay' || state === 'held',
    timeoutSeconds,
    ...(idleSeconds !== undefined && (state === 'held' || state === 'replay') && { idleSeconds }),
    ...(repeats && { idempotent: true }),
    ...(processes !== undefined && { processes }),
    ...(fingerprint === undefined ? {} : { fingerprint }),
    ...(agents && { agents: agents as JsonObject[] }),
  };
}

export function parseBegun(who: string, kind: StateKind, value: unknown): Begun {
  const { messages, state } = parsed(who, 'begin', BEGUN, value ?? {});
  return {
    ...(messages && { messages }),
    ...keptState(who, kind, state as Json | undefined, null),
  };
}

/** `before`: the state that was given, which stays where none comes back. */
export function parseReply(who: string, kind: StateKind, value: unknown, before: Json | undefined): EnvironmentReply {
  const { verdict: judged, reward: given, metrics, messages, done, state } = parsed(who, 'respond', REPLY, value);
  const nothing = judged === undefined && given === undefined && messages === undefined && done === undefined;
  if (nothing)
    throw brokenError(who, 'respond', 'the reply is empty', 'It holds a verdict, a reward, messages, or done.');
  const said = messages && messages.length > 0 ? { messages } : {};
  // Without a verdict there is no true sentence of ours to go on with.
  const ends = done === true || (judged === undefined && !('messages' in said));
  return {
    ...(judged && { verdict: judged }),
    ...rewardsOf(given),
    ...(metrics && { metrics }),
    ...said,
    ...(ends && { done: true }),
    ...keptState(who, kind, state as Json | undefined, before),
  };
}

function rewardsOf(given: number | Readonly<Record<string, number>> | undefined) {
  if (given === undefined) return {};
  if (typeof given === 'number') return { reward: given === 0 ? 0 : given };
  return { reward: Object.values(given).reduce((sum, value) => sum + value, 0), rewards: given };
}

function keptState(who: string, kind: StateKind, state: Json | undefined, before: Json | undefined) {
  // The beginning of a session that a server holds: its handle.
  if (kind === 'held' && before === null) return heldHandle(who, state);
  if (kind === 'value') return state === undefined ? { state: before ?? null } : { state };
  if (state === undefined || state === null) return {};
  throw brokenError(
    who,
    'state',
    `a state came back, and the environment says that its state is "${kind}"`,
    'Say state "value" in hello.',
  );
}

const MAX_HANDLE_CHARS = 4_096;

function heldHandle(who: string, state: Json | undefined) {
  if (state === undefined || state === null) return {};
  if (JSON.stringify(state).length <= MAX_HANDLE_CHARS) return { state };
  throw brokenError(who, 'begin', `the handle of its session has more than ${MAX_HANDLE_CHARS} characters`);
}

function parsed<T>(who: string, what: string, schema: z.ZodType<T>, value: unknown): T {
  const hidden = Object.entries(value ?? {}).find(([, one]) => isPlain(one) && Object.hasOwn(one, '__proto__'));
  // Parsers leave such a name out, and its value with it.
  if (hidden) throw brokenError(who, what, `\`${hidden[0]}.__proto__\`: is no name for a value`);
  const result = schema.safeParse(value);
  if (result.success) return result.data;
  const { path: places, message: said } = deepestIssue(result.error);
  const path = places.map(String).join('.');
  throw brokenError(who, what, `${path === '' ? 'the value' : `\`${short(path, 80)}\``}: ${short(said, 200)}`);
}

const isPlain = (value: unknown): value is object => typeof value === 'object' && value !== null;

/** The fault of the form that a value has most of, among those that it may have. */
export function deepestIssue({ issues }: z.ZodError): {
  readonly path: readonly PropertyKey[];
  readonly message: string;
} {
  const [issue] = issues;
  if (!issue) return { path: [], message: 'is not of the right form' };
  if (issue.code !== 'invalid_union') return keyed(issue);
  const firsts = issue.errors.flatMap(([first]) => (first ? [first] : []));
  // A value that has none of the forms is told each of them.
  if (firsts.length > 0 && firsts.every(({ path, code }) => path.length === 0 && OTHER_FORM.has(code)))
    return { path: issue.path, message: firsts.map(({ message: said }) => said).join('; or ') };
  const deepest = firsts
    .map(keyed)
    .toSorted((one, two) => one.path.length - two.path.length)
    .at(-1);
  return deepest ? { path: [...issue.path, ...deepest.path], message: deepest.message } : issue;
}

const OTHER_FORM: ReadonlySet<string> = new Set(['invalid_type', 'invalid_value']);

/** A name that does not fit, and the reason; zod says neither in its message. */
function keyed(issue: z.core.$ZodIssue): { readonly path: readonly PropertyKey[]; readonly message: string } {
  const { path, message } = issue;
  return issue.code === 'invalid_key'
    ? { path, message: `its name: ${issue.issues[0]?.message ?? message}` }
    : { path, message };
}

const MAX_NESTING = 64;

/** Uses its own stack: deep nesting must not end the worker. */
export function isStorable(value: unknown): boolean {
  const open: { readonly value: unknown; readonly depth: number }[] = [{ value, depth: 0 }];
  for (let next = open.pop(); next; next = open.pop()) {
    const { value: one, depth } = next;
    if (typeof one === 'string' && (!one.isWellFormed() || one.includes('\u0000'))) return false;
    if (typeof one === 'number' && !Number.isFinite(one)) return false;
    if (typeof one !== 'object' || one === null) continue;
    if (depth >= MAX_NESTING) return false;
    for (const [key, item] of Object.entries(one)) {
      if (!key.isWellFormed()) return false;
      open.push({ value: item, depth: depth + 1 });
    }
  }
  return true;
}
