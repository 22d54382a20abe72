// A user's own environment: its identity as run.json records it, and the messages of all doors (module, command, URL).
// The messages are JSON: docs/environment-messages.md describes them for other languages. Pure types, and rules without effects.

import type { Json, JsonObject } from '../text/json.ts';
import { type Message, MESSAGES } from '../query/query.ts';
import * as f from '../schema/fields.ts';
import type { Verdict, VerdictCounts } from './verdict.ts';

/** `function`: code of the program that made the run, called in that program. */
const DOORS = ['module', 'command', 'url', 'rubric', 'queue', 'function'] as const;
export type EnvironmentDoor = (typeof DOORS)[number];

/**
 * The holder of an environment's state between two turns.
 *   none     nobody: a reply depends on the query and its answers alone
 *   value    Everturn: a JSON value goes in and comes back, and is recorded with each reply
 *   replay   the environment's process; after a crash it is rebuilt by playing the recorded answers again
 *   held     the environment's process or server, under a lease; after a crash it is lost, and the rollout fails
 */
export const STATES = ['none', 'value', 'replay', 'held'] as const;
export type StateKind = (typeof STATES)[number];

export function isEnvironmentName(name: string): boolean {
  return /^[a-z0-9](?:[a-z0-9-]{0,62}[a-z0-9])?$/.test(name);
}
export const ENVIRONMENT_NAME: f.Test<string> = [
  (value) => typeof value === 'string' && isEnvironmentName(value),
  'a name of a-z, 0-9 and hyphens, at most 64',
];

/** An environment's own description of itself. */
const DESCRIPTION = {
  /** Lower-case letters, digits and hyphens: rows of a mixed data set name it. */
  name: f.NAME,
  /** The author's. */
  version: f.TEXT,
  state: f.oneOf(...STATES),
  /** It gives the first messages or the first state. */
  begins: f.BOOLEAN,
  /** It is to be called when a rollout has ended. */
  ends: f.BOOLEAN,
  /** Time limit of one call. */
  timeoutSeconds: f.POSITIVE,
  /** The time without a call after which a session, or a copy of one, is given back; with state `held` or `replay`. */
  idleSeconds: f.maybe(f.POSITIVE),
  /** A call that comes again under its key gets its first reply; with state `held` behind an address. */
  idempotent: f.maybe(f.BOOLEAN),
  /** The processes of a command on one worker, each with one call at a time. Absent: as many as the worker has cores. */
  processes: f.maybe(f.COUNT),
  /** Its replies may speak of parts of an answer. */
  credits: f.maybe(f.oneOf(true)),
};
export type Description = f.ObjectOf<typeof DESCRIPTION>;

/** The environment of a run: fixed when the run is made, and equal on all of its workers. */
export const ENVIRONMENT = f.objectOf({
  ...DESCRIPTION,
  door: f.oneOf(...DOORS),
  /** The words of the command, the address, or the module's path as it was given: for people, and for the door. */
  spec: f.listOf(f.NAME),
  /** SHA-256 of the code: a module's bundle, the files of a command, or what a server says. */
  fingerprint: f.HASH,
  /** The server says no fingerprint: the address is all that is known. */
  claimed: f.maybe(f.oneOf(true)),
  /** The server of a rubric's judge, and the environment variable that holds its key. */
  judge: f.maybe(f.objectOf({ server: f.NAME, apiKeyEnv: f.orNull(f.NAME) })),
});
export type EnvironmentRecord = f.TypeOf<typeof ENVIRONMENT>;

export const DEFAULT_TIMEOUT_SECONDS = 60;
export const MAX_TIMEOUT_SECONDS = 1_200;
/** The idle time of state `replay`, if it says no `idleSeconds`. */
export const DEFAULT_COPY_SECONDS = 600;
export const MAX_IDLE_SECONDS = 86_400;
export const MAX_PROCESSES = 256;
/** The size of one reply, and of one state, at most. */
export const MAX_REPLY_BYTES = 1 << 20;

/** The rollout that a call is about. */
export interface Episode {
  /** `<run>/<query>/<sample>/<attempt>`: equal for all calls of one rollout, and for their retries. */
  readonly key: string;
  readonly query: string;
  /** 0-based. */
  readonly sample: number;
  /** Follows from the run's seed, query and sample: the same for every retry. */
  readonly seed: number;
  /** The row of the data set. */
  readonly row: JsonObject;
}

export interface BeginParams {
  readonly episode: Episode;
  /** The row's own prompt; empty if it has none. */
  readonly messages: readonly Message[];
}

/** First messages, in place of the row's prompt; the first state. */
export interface Begun {
  readonly messages?: readonly Message[];
  readonly state?: Json;
}

export interface RespondParams {
  readonly episode: Episode;
  /** 1-based. */
  readonly turn: number;
  readonly answer: string;
  /** A limit or an abort ended the answer. */
  readonly cut: boolean;
  /** The conversation before the answer. */
  readonly messages: readonly Message[];
  /** The last state, where it is a value. */
  readonly state?: Json;
}

export interface EndParams {
  readonly episode: Episode;
  readonly state?: Json;
}

/** The outcome of a call that the workflow made on a user's own queue. */
export type QueueReply =
  { readonly result: unknown } | { readonly failure: { readonly reason: QueueFailure; readonly message: string } };
type QueueFailure = 'environment-broken' | 'environment-error' | 'environment-timeout' | 'environment-not-served';

/** A judgement by a model: the means to repeat it, and its price. */
const JUDGEMENT = f.objectOf({
  model: f.NAME,
  /** SHA-256 of the messages that it was sent, as JSON. */
  prompt: f.HASH,
  /** Its reply, cut in its middle. */
  reply: f.TEXT,
  /** Tokens as the server counts them; null if it does not. */
  promptTokens: f.orNull(f.COUNT),
  completionTokens: f.orNull(f.COUNT),
  /** The price, in the currency of the rubric's prices; absent without prices. */
  cost: f.maybe(f.NUMBER),
  /** The reason of the exact judge, which was asked first and did not show the answer right. */
  exact: f.maybe(f.NAME),
});
export type ModelJudgement = f.TypeOf<typeof JUDGEMENT>;

/** What an environment says of a span of an answer: [from, to) in Unicode code points. */
const CREDIT = {
  from: f.COUNT,
  to: f.PLACE,
  /** Added to the turn's reward, at the span's last token. */
  reward: f.maybe(f.NUMBER),
  /** Its tokens are not trained. */
  train: f.maybe(f.oneOf(false)),
};
export type Credit = f.ObjectOf<typeof CREDIT>;

/** The reply to an answer beside its verdict, as its record has it. */
export const REPLY_FIELDS = {
  /** The environment's own reward, which stands as it is, those of spans included; absent: the seed's formula on the verdict. */
  reward: f.maybe(f.NUMBER),
  /** The parts of `reward`, if the environment named some. */
  rewards: f.maybe(f.mapOf(f.NUMBER)),
  /** The part of `reward` that is of the whole answer, where spans of it have rewards of their own. */
  base: f.maybe(f.NUMBER),
  /** In order, none over another. */
  credit: f.maybe(f.listOf(f.objectOf(CREDIT))),
  /** No token of the answer is trained. */
  train: f.maybe(f.oneOf(false)),
  metrics: f.maybe(f.mapOf(f.NUMBER)),
  /** Messages to the model; absent: Everturn's sentence on the verdict. */
  messages: f.maybe(MESSAGES),
  /** No further turn is played. */
  done: f.maybe(f.BOOLEAN),
  state: f.maybe(f.ANYTHING),
  /** The model that judged. */
  judged: f.maybe(JUDGEMENT),
};
type ReplyFields = f.ObjectOf<typeof REPLY_FIELDS>;
export interface EnvironmentReply extends ReplyFields {
  readonly verdict?: Verdict;
}

/** The part of an environment's record that decides what it replies. */
export function environmentIdentity({ name, door, fingerprint }: EnvironmentRecord): object {
  return { name, door, fingerprint };
}

/** `countdown 1.2 (command, 3fb0…)` */
export function environmentTitle({
  name,
  version,
  door,
  fingerprint,
}: Pick<EnvironmentRecord, 'name' | 'version' | 'door' | 'fingerprint'>): string {
  return `${name} ${version} (${door}, ${fingerprint.slice(0, 12)})`;
}

/** The verdict that is recorded: `scored` where a reply has a reward and no verdict. */
export function verdictOf({ verdict, reward }: EnvironmentReply): Verdict {
  return verdict ?? { verdict: 'scored', reason: reward === undefined ? 'no-reward' : 'reward' };
}

export function replyFields({ verdict, ...fields }: EnvironmentReply): ReplyFields {
  // Neither right nor wrong and without a reward of its own: it counts 0.
  return verdict === undefined && fields.reward === undefined ? { reward: 0, ...fields } : fields;
}

export function countVerdict(counts: VerdictCounts, { verdict, reason }: Verdict, times = 1): void {
  const reasons = (counts[verdict] ??= {});
  reasons[reason] = (Object.hasOwn(reasons, reason) ? reasons[reason]! : 0) + times;
}

export function countedVerdicts(verdicts: Iterable<Verdict>): VerdictCounts {
  const counts: VerdictCounts = {};
  for (const verdict of verdicts) countVerdict(counts, verdict);
  return counts;
}
