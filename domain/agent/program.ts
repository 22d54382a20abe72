// The program of an agent as a run records it, and the end of the program in a rollout.

import * as f from '../schema/fields.ts';
import { SIDE_MODEL } from './side-model.ts';
import type { Structured } from './reply-form.ts';
import type { RolloutId } from '../names/ids.ts';
import { AGENT_QUEUE, SESSION_QUEUE } from '../names/queues.ts';
import type { Json, JsonObject } from '../text/json.ts';
import type { AgentRequest } from './conversation.ts';
import { MAX_VERIFIER_SECONDS } from './task.ts';

export const DEFAULT_AGENT_SECONDS = 3_600;
export const MAX_AGENT_SECONDS = 86_400;
export const DEFAULT_MAX_CALLS = 500;
/** Its workflow holds a small fact of each. */
export const MAX_CALLS = 10_000;

/** What makes the container of each rollout, in which the tools of its agent run; `none`: there is none. */
export const CONTAINERS = ['bwrap', 'docker', 'podman'] as const;
export type ContainerKind = (typeof CONTAINERS)[number];

const CONTAINER = f.objectOf({
  by: f.oneOf(...CONTAINERS),
  /** With bwrap: the folder whose copy is the root of each container. */
  root: f.maybe(f.NAME),
  /** The folder with the task directories. */
  tasks: f.NAME,
});
export type ContainerRecord = f.TypeOf<typeof CONTAINER>;

/** Fixed when the run is made, and equal on all of its workers. */
export const PROGRAM = f.objectOf({
  /** The words of the command. */
  spec: f.listOf(f.NAME),
  /** SHA-256 over the files that the command names, and its arguments. */
  fingerprint: f.HASH,
  /** Time limit of one attempt. */
  timeoutSeconds: f.POSITIVE,
  /** Calls of the model in one rollout. */
  maxCalls: f.PLACE,
  /** Absent: an attempt that does not make the calls of an earlier one again goes on from where it differs. */
  onDivergence: f.maybe(f.oneOf('fail')),
  /** What becomes of a form that a request asks its reply to have; absent: `prompt`. */
  structured: f.maybe(f.oneOf('constrain', 'pass', 'refuse')),
  /** Those of its calls that are trained (train-calls.ts). Absent: all. */
  trainCalls: f.maybe(f.NAME),
  /** Models that requests may name beside the run's own. */
  sideModels: f.maybe(f.listOf(SIDE_MODEL)),
  /** Absent: its tools run where it runs. */
  container: f.maybe(CONTAINER),
});
export type ProgramRecord = f.TypeOf<typeof PROGRAM>;

/** The words in place of a command where the agent runs elsewhere, and comes for its rollouts (endpoint/sessions.ts). */
export const SESSION: readonly string[] = ['session'];
export const isSession = ({ spec }: Pick<ProgramRecord, 'spec'>): boolean => spec.join(' ') === SESSION.join(' ');

/** The idempotency key of a rollout's side effects: the same for each attempt of its agent. */
export const idempotencyKey = ({ run, query, sample, attempt }: RolloutId): string =>
  `${run}/${query}/${sample}/${attempt}`;

/** `python3 agent.py (3fb0…)` */
export const programTitle = ({ spec, fingerprint }: Pick<ProgramRecord, 'spec' | 'fingerprint'>): string =>
  isSession({ spec })
    ? 'session'
    : `${spec
        .filter((word) => word !== FUNCTION)
        .map((word) => word.slice(word.lastIndexOf('/') + 1))
        .join(' ')} (${fingerprint.slice(0, 12)})`;

/** Before a program starts, calls of an earlier attempt get their replies. */
const STARTING_SECONDS = 7_200;
/** A session waits for its agent, and limits its time itself. */
const SESSION_SECONDS = 30 * 86_400;

/** Small facts of a program, for its rollout's workflow. */
export interface ProgramFacts {
  readonly title: string;
  /** Its task queue. */
  readonly queue: string;
  /** One attempt of the activity. */
  readonly withinSeconds: number;
}

export function programFacts(program: ProgramRecord): ProgramFacts {
  const title = programTitle(program);
  if (isSession(program)) return { title, queue: SESSION_QUEUE, withinSeconds: SESSION_SECONDS };
  const verifying = program.container ? MAX_VERIFIER_SECONDS : 0;
  return { title, queue: AGENT_QUEUE, withinSeconds: program.timeoutSeconds + STARTING_SECONDS + verifying };
}

/** A limit that refused a call of the program: its exit code is then no failure. */
export const CUTS = ['max-calls', 'context-length'] as const;
export type Cut = (typeof CUTS)[number];

/** Cut short: what it did counts, as far as it came. */
const ENDINGS = [...CUTS, 'agent-timeout'] as const;

/** The words by which clients know that a context is too long; each looks for one of the two. */
export const tooLong = (tokens: number | string, most: number): string =>
  `has ${tokens} tokens; prompt is too long: ${tokens} tokens > ${most} maximum; this model's maximum context length is ${most} tokens`;

/** The end of a program, by its own exit. */
const AGENT_END = f.objectOf({
  /** Exit code; null if a signal ended it. */
  code: f.orNull(f.COUNT),
  /** Turns of the rollout: each call with a reply, of whichever attempt. */
  turns: f.PLACE,
  /** The program's own answer; null: the text of its last call's reply. */
  answer: f.orNull(f.TEXT),
  /** The program's own reward. */
  reward: f.maybe(f.NUMBER),
  /** Its named parts. */
  rewards: f.maybe(f.mapOf(f.NUMBER)),
  /** The rewards that the program gave to single calls, by turn. */
  callRewards: f.maybe(f.listOf(f.objectOf({ turn: f.PLACE, reward: f.NUMBER }))),
  /** Present if tests in the rollout's container decided it. */
  verified: f.maybe(
    f.objectOf({
      /** Why they left it undecided. Absent: `reward` is theirs. */
      undecided: f.maybe(f.NAME),
      /** What was seen of it. */
      note: f.maybe(f.TEXT),
      /** The digest of the container's image. */
      image: f.maybe(f.NAME),
    }),
  ),
  cut: f.maybe(f.oneOf(...ENDINGS)),
  /** The turn whose reply it was given last. */
  last: f.PLACE,
  /** Turns whose reply it was not given: of other attempts, or left before they came. */
  abandoned: f.maybe(f.listOf(f.PLACE)),
});
export type AgentEnd = f.TypeOf<typeof AGENT_END>;
export type Verified = NonNullable<AgentEnd['verified']>;

/**
 * An entry of the log of a rollout's attempts; each is written once, behind all that are there. An attempt that begins, and
 * one that ends, takes the next place: one that finds a later attempt there has been followed, and its end counts no more.
 */
export const AGENT_ENTRY = {
  /** 1-based, in the log. */
  entry: f.PLACE,
  /** The attempt of the activity, 1-based. */
  attempt: f.PLACE,
  /** A text that no other attempt has. */
  token: f.NAME,
  /** Epoch milliseconds, by Temporal's clock: a frozen worker may start an attempt long after the next one has begun. */
  scheduledAt: f.COUNT,
  /** Absent: it begins. */
  ended: f.maybe(AGENT_END),
  /** Present: no attempt, but a pause of the rollout, or the end of one. */
  paused: f.maybe(f.BOOLEAN),
};
export type AgentEntry = f.ObjectOf<typeof AGENT_ENTRY>;

/** The word in place of an interpreter: the code is in the run's folder, by its fingerprint. */
export const FUNCTION = 'everturn/agent';

export const isFunction = ({ spec }: { readonly spec: readonly string[] }): boolean => spec[0] === FUNCTION;

export const agentFunctionQueue = (fingerprint: string): string => `everturn-agent-${fingerprint.slice(0, 16)}`;

/** Argument of the agent's workflow. */
export interface FunctionInput {
  readonly row: JsonObject;
  readonly seed: number;
  /** The idempotency key of its side effects. */
  readonly key: string;
  readonly maxCalls: number;
  /** As the run's program has it. */
  readonly structured?: Structured;
}

export interface FunctionOutput {
  /** The value that the function returned. */
  readonly said: Json;
  /** The call whose reply it was given last; null if there is none. */
  readonly last: string | null;
  /** Ids of all calls that it made. */
  readonly calls: readonly string[];
  /** The rewards that it gave to calls, by their ids. */
  readonly callRewards?: Readonly<Record<string, number>>;
}

/** Argument of its activity `askModel`. */
export interface FunctionCall {
  readonly id: string;
  readonly hash: string;
  /** 0-based, among the calls of the hash. */
  readonly occurrence: number;
  readonly request: AgentRequest;
}
