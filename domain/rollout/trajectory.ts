// The records of a rollout: its query, each verdict, and its end; the trajectory assembled from them,
// and its result.

import { recordedResult, OUTCOMES, type RolloutResult, STOP_REASONS } from './ending.ts';
import { REPLY_FIELDS } from './environment.ts';
import { CARRIED, PARENT } from './lineage.ts';
import { PROMPT, QUERY } from '../query/query.ts';
import type { Boundary } from '../errors/reasons.ts';
import {
  ANYTHING,
  COUNT,
  HASH,
  listOf,
  maybe,
  NAME,
  NUMBERS,
  type ObjectOf,
  objectOf,
  oneOf,
  orNull,
  PLACE,
  type Test,
  TEXT,
  type TypeOf,
} from '../schema/fields.ts';
import { SETTINGS_OF_RECORDS } from './settings.ts';
import { CALL_RESULTS } from '../tools/tool.ts';
import { outputTokens } from './turn-facts.ts';
import type { TurnRecord } from './turn.ts';
import { VERDICT_FIELDS } from './verdict.ts';

/** Written by a rollout's first step: the query and settings it plays, independent of the source file. */
export const ROLLOUT = {
  run: NAME,
  query: QUERY,
  /** 0-based place in queries.jsonl; null for a rollout that a client started directly. */
  index: orNull(COUNT),
  /** 0-based. */
  sample: COUNT,
  /** 1-based. */
  attempt: PLACE,
  settings: SETTINGS_OF_RECORDS,
  /** Epoch milliseconds when the trajectory began: the sample's birth_time. */
  birthTime: COUNT,
  /** Present in a fork: the turns before `parent.turn` are carried over. */
  parent: maybe(PARENT),
  /** Present if an environment began the rollout: the prompt of `query` is then its own. */
  begun: maybe(
    objectOf({
      /** The row's prompt. */
      asked: PROMPT,
      /** The first state. */
      state: maybe(ANYTHING),
      /** The fingerprint of the environment. */
      environment: HASH,
    }),
  ),
};
export type RolloutRecord = ObjectOf<typeof ROLLOUT>;

/** The verdict on a turn, and what else a user's environment replied. */
export const VERDICT = {
  turn: PLACE,
  ...VERDICT_FIELDS,
  /** The environment's failure, if the answer is undecided because of it; a traceback in further lines. */
  note: maybe(TEXT),
  ...REPLY_FIELDS,
  /** The fingerprint of the user's environment that replied. */
  environment: maybe(HASH),
  /** Hash of the turn record that was judged. */
  of: HASH,
  /** Milliseconds the judge took. */
  tookMs: COUNT,
  /** The answer that an agent's program gave, which was judged in place of the turn's. */
  answer: maybe(TEXT),
  /** Each call of the reply to a turn that called tools, in order. */
  calls: maybe(CALL_RESULTS),
  /** Present if it was carried over from another run. */
  carried: maybe(CARRIED),
};
export type VerdictRecord = ObjectOf<typeof VERDICT>;

const FAILURE = objectOf({
  boundary: NAME as Test<Boundary>,
  /** Stable machine name. */
  reason: NAME,
  /** One line for users, and a traceback in further ones. */
  message: TEXT,
  /** The turn that failed, 1-based. */
  turn: PLACE,
});
export type Failure = TypeOf<typeof FAILURE>;

/** Written by a rollout's last step. */
export const END = {
  outcome: oneOf(...OUTCOMES),
  stopReason: oneOf(...STOP_REASONS),
  failure: orNull(FAILURE),
  /** Undiscounted r_t, one per judged turn: the environment's own, or the seed's formula on the verdict. */
  turnRewards: NUMBERS,
  /** Discounted returns G_t, one per turn; empty unless outcome is complete. */
  returns: NUMBERS,
  /** 1 right, 0 wrong, null neither; one per finished turn. */
  success: listOf(oneOf(0, 1, null)),
  /** Hashes of the turn records, in order. */
  turns: listOf(HASH),
  finishedAt: COUNT,
  /** Turns with a person's message in their context; absent if there is none. */
  said: maybe(listOf(PLACE)),
  /** Turns that called tools, or an agent's program asked for, and hold no answer; absent if there is none. */
  called: maybe(listOf(PLACE)),
  /** Turns that no attempt of the agent's program asked for again: no sample is made of them. */
  abandoned: maybe(listOf(PLACE)),
  /** The samples that the rollout of an agent's program makes, one for each leaf of its calls. */
  branches: maybe(COUNT),
};
export type EndRecord = ObjectOf<typeof END>;

export interface PlayedTurn {
  readonly record: TurnRecord;
  readonly verdict: VerdictRecord | null;
}

export interface Trajectory {
  readonly rollout: RolloutRecord;
  readonly turns: readonly PlayedTurn[];
  /** Null until the rollout has ended. */
  readonly end: EndRecord | null;
  /** The path to one leaf of the calls of an agent's program, as domain/samples/branches.ts makes it. */
  readonly branch?: Branch;
}

export interface Branch {
  /** 0-based. */
  readonly index: number;
  /** Branches of the rollout. */
  readonly of: number;
  /** The call that this branch leaves another one behind; null if it shares none. */
  readonly parent: string | null;
  /** The call of each of its own turns. */
  readonly calls: readonly string[];
}

/** The result of a trajectory in the folder `out`; undefined until it has ended. */
export function trajectoryResult(out: string, { rollout, turns, end }: Trajectory): RolloutResult | undefined {
  if (!end) return undefined;
  const { run, query, sample, attempt } = rollout;
  const trajectory = { out, run, query: query.queryId, sample, attempt };
  const counted = turns.map(({ record, verdict }) => ({ tokens: outputTokens(record), verdict }));
  return recordedResult(trajectory, end, counted);
}
