// Reads what a user's environment says: its description, its begin, its replies. Strict: an unknown field, a number that
// is none or a text that cannot be stored is an EnvironmentError that names the field. Nothing of it is trusted.

import {
  type Begun,
  type Credit,
  DEFAULT_TIMEOUT_SECONDS,
  type Description,
  ENVIRONMENT_NAME,
  MAX_IDLE_SECONDS,
  MAX_PROCESSES,
  MAX_TIMEOUT_SECONDS,
  type EnvironmentReply,
  type StateKind,
  STATES,
} from '../../domain/rollout/environment.ts';
import type { Json, JsonObject } from '../../domain/text/json.ts';
import { codePoints, flawOfSpans, withSpans } from '../../domain/rollout/credit.ts';
import { type RewardSettings, turnReward } from '../../domain/rollout/reward.ts';
import type { Verdict } from '../../domain/rollout/verdict.ts';
import * as f from '../../domain/schema/fields.ts';
import { brokenError } from '../processes/envelope.ts';

/** Far below float32's end: the sum over a thousand turns fits as well. */
const MAX_REWARD = 1e30;
const MAX_SPANS = 10_000;
const MAX_MESSAGES = 64;
const MAX_NAMES = 100;
const EXTRACTED_CHARS = 200;

const reward = f.realNumber(-MAX_REWARD, MAX_REWARD);
const NAMED = f.storableText(1, 100);
/** Numbers by name. */
const named = (value: f.Test<number>): f.Test<Readonly<Record<string, number>>> => [
  (map) => {
    const names = f.isObject(map) ? Object.keys(map) : undefined;
    return names !== undefined && names.length <= MAX_NAMES && names.every(NAMED[0]) && f.mapOf(value)[0](map);
  },
  `an object of at most ${MAX_NAMES} names, each ${NAMED[1]}, and of ${value[1]} for each`,
  undefined,
  value,
];
const messageBy = <const R extends string>(...roles: readonly R[]) =>
  f.objectOf({ role: f.oneOf(...roles), content: f.storableText() });
const REASON: f.Test<string> = [
  (value) => typeof value === 'string' && value.length <= 64 && /^[a-z0-9]+(?:-[a-z0-9]+)*$/.test(value),
  'a text of a-z, 0-9 and hyphens, at most 64',
];
const DECISION = f.oneOf('right', 'wrong', 'undecided');
const DECIDED = f.objectOf({
  verdict: DECISION,
  reason: f.maybe(REASON),
  extracted: f.maybe(f.storableText()),
});
const JSON_VALUE: f.Test<Json> = [isStorable, 'a value without NUL, half characters, and deep nesting'];
const JSON_OBJECT: f.Test<JsonObject> = [
  (value) => f.isObject(value) && isStorable(value),
  `an object, and ${JSON_VALUE[1]}`,
];

const BEGUN = f.objectOf({
  messages: f.maybe(f.listOf(messageBy('user', 'system', 'assistant', 'tool', 'developer'), 1, MAX_MESSAGES)),
  state: f.maybe(JSON_VALUE),
});
const SPAN = f.objectOf({ from: f.COUNT, to: f.PLACE, reward: f.maybe(reward), train: f.maybe(f.BOOLEAN) });
const REPLY = f.objectOf({
  verdict: f.maybe(f.eitherOf(DECISION, DECIDED)),
  reward: f.maybe(f.eitherOf(reward, named(reward))),
  credit: f.maybe(f.listOf(SPAN, 0, MAX_SPANS)),
  train: f.maybe(f.BOOLEAN),
  metrics: f.maybe(named(f.NUMBER)),
  messages: f.maybe(f.listOf(messageBy('user', 'system', 'tool'), 0, MAX_MESSAGES)),
  done: f.maybe(f.BOOLEAN),
  state: f.maybe(JSON_VALUE),
});
const HELLO = f.objectOf({
  protocol: f.oneOf(1),
  name: ENVIRONMENT_NAME,
  version: f.eitherOf(f.NUMBER, NAMED),
  state: f.maybe(f.oneOf(...STATES)),
  begins: f.maybe(f.BOOLEAN),
  ends: f.maybe(f.BOOLEAN),
  timeoutSeconds: f.maybe(f.upTo(MAX_TIMEOUT_SECONDS)),
  idleSeconds: f.maybe(f.upTo(MAX_IDLE_SECONDS)),
  idempotent: f.maybe(f.BOOLEAN),
  processes: f.maybe(f.wholeNumber(1, MAX_PROCESSES)),
  credits: f.maybe(f.BOOLEAN),
  fingerprint: f.maybe(f.storableText(1, 200)),
  agents: f.maybe(f.listOf(JSON_OBJECT, 0, MAX_NAMES)),
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
    version: String(version),
    state,
    begins,
    // An environment with live objects must release them.
    ends: ends || state === 'replay' || state === 'held',
    timeoutSeconds,
    ...(idleSeconds !== undefined && (state === 'held' || state === 'replay') && { idleSeconds }),
    ...(repeats && { idempotent: true }),
    ...(processes !== undefined && { processes }),
    ...(said.credits === true && { credits: true as const }),
    ...(fingerprint === undefined ? {} : { fingerprint }),
    ...(agents && { agents }),
  };
}

export function parseBegun(who: string, kind: StateKind, value: unknown): Begun {
  const { messages, state } = parsed(who, 'begin', BEGUN, value ?? {});
  return {
    ...(messages && { messages: messages.map(inOrder) }),
    ...keptState(who, kind, state, null),
  };
}

/** An answer of whose parts the reply may speak. */
export interface AnswerInParts {
  readonly answer: string;
  readonly settings: RewardSettings;
}

/** `before`: the state that was given, which stays where none comes back. `inParts`: absent where it may not speak of parts. */
export function parseReply(
  who: string,
  kind: StateKind,
  value: unknown,
  before: Json | undefined,
  inParts?: AnswerInParts,
): EnvironmentReply {
  const said = parsed(who, 'respond', REPLY, value);
  const { verdict: judged, reward: given, metrics, messages, done, state } = said;
  const placed = said.credit?.some((span) => span.reward !== undefined) === true;
  if (!placed && [judged, given, messages, done].every((one) => one === undefined))
    throw brokenError(who, 'respond', 'the reply is empty', 'It holds a verdict, a reward, messages, or done.');
  const told = messages && messages.length > 0 ? { messages: messages.map(inOrder) } : {};
  // Without a verdict there is no true sentence of ours to go on with.
  const ends = done === true || (judged === undefined && !('messages' in told));
  const verdict = judged && verdictOf(judged);
  const rewards = rewardsOf(given);
  return {
    ...(verdict && { verdict }),
    ...rewards,
    ...creditOf(who, said, verdict, rewards.reward, inParts),
    ...(metrics && { metrics }),
    ...told,
    ...(ends && { done: true }),
    ...keptState(who, kind, state, before),
  };
}

/** As records have them. */
const inOrder = <R extends string>({ role, content }: { readonly role: R; readonly content: string }) => ({
  role,
  content,
});

function verdictOf(given: f.TypeOf<typeof DECISION> | f.TypeOf<typeof DECIDED>): Verdict {
  const { verdict, reason = 'environment', extracted } = typeof given === 'string' ? { verdict: given } : given;
  const shown = extracted === undefined ? {} : { extracted: extracted.slice(0, EXTRACTED_CHARS).toWellFormed() };
  return { verdict, reason, ...shown };
}

function rewardsOf(
  given: number | Readonly<Record<string, number>> | undefined,
): Pick<EnvironmentReply, 'reward' | 'rewards'> {
  if (given === undefined) return {};
  if (typeof given === 'number') return { reward: given === 0 ? 0 : given };
  return { reward: Object.values(given).reduce((sum, value) => sum + value, 0), rewards: given };
}

/** What it says of parts of the answer; with rewards of spans, also the reward of all. */
function creditOf(
  who: string,
  { credit = [], train }: Pick<f.TypeOf<typeof REPLY>, 'credit' | 'train'>,
  verdict: Verdict | undefined,
  own: number | undefined,
  inParts: AnswerInParts | undefined,
): Pick<EnvironmentReply, 'reward' | 'base' | 'credit' | 'train'> {
  if (credit.length === 0 && train !== false) return {};
  if (!inParts) {
    const problem = 'it speaks of parts of an answer, and its hello says no `credits`';
    throw brokenError(who, 'respond', problem, 'Say `credits` in hello; an agent’s answer has no parts.');
  }
  // JSON leaves it out; a function of a program gives it as it is.
  const isUndefined = credit.some((span) => Object.values<unknown>(span).includes(undefined));
  const flaw = isUndefined ? 'a span of `credit` holds undefined' : flawOfSpans(credit, codePoints(inParts.answer));
  if (flaw !== undefined) throw brokenError(who, 'respond', flaw, 'Count code points of the answer that it was sent.');
  const said = { ...(credit.length > 0 && { credit: credit.map(spanInOrder) }), ...(train === false && { train }) };
  if (verdict?.verdict === 'undecided' || credit.every((span) => span.reward === undefined)) return said;
  const base = own ?? (verdict ? turnReward(verdict.verdict === 'right', inParts.settings) : 0);
  return { reward: withSpans(base, credit), base, ...said };
}

/** As records have them. */
const spanInOrder = ({ from, to, reward: own, train }: f.TypeOf<typeof SPAN>): Credit => ({
  ...{ from, to },
  ...(own !== undefined && { reward: own === 0 ? 0 : own }),
  ...(train === false && { train }),
});

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

function parsed<T>(who: string, what: string, form: f.Test<T>, value: unknown): T {
  const hidden = Object.entries(value ?? {}).find(([, one]) => isPlain(one) && Object.hasOwn(one, '__proto__'));
  // Such a name is left out where a value is copied, and its own value with it.
  if (hidden) throw brokenError(who, what, `\`${hidden[0]}.__proto__\`: is no name for a value`);
  const flaw = f.flawOfWritten(form, value);
  if (flaw !== undefined) throw brokenError(who, what, flaw);
  return value as T;
}

const isPlain = (value: unknown): value is object => typeof value === 'object' && value !== null;

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
