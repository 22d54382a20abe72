// The records of a rollout: its query, each verdict, and its end; the trajectory assembled from them,
// and its result.

import { recordedResult, OUTCOMES, type RolloutResult, STOP_REASONS } from './ending.ts';
import { REPLY_FIELDS } from './environment.ts';
import { CARRIED, PARENT } from './lineage.ts';
import { PROMPT, QUERY } from '../query/query.ts';
import type { Boundary } from '../errors/reasons.ts';
import * as f from '../schema/fields.ts';
import { SETTINGS_OF_RECORDS } from './settings.ts';
import { CALL_RESULTS } from '../tools/tool.ts';
import { outputTokens } from './turn-facts.ts';
import type { TurnRecord } from './turn.ts';
import { VERDICT_FIELDS } from './verdict.ts';

/** Written by a rollout's first step: the query and settings it plays, independent of the source file. */
export const ROLLOUT = {
  run: f.NAME,
  query: QUERY,
  /** 0-based place in queries.jsonl; null for a rollout that a client started directly. */
  index: f.orNull(f.COUNT),
  /** 0-based. */
  sample: f.COUNT,
  /** 1-based. */
  attempt: f.PLACE,
  settings: SETTINGS_OF_RECORDS,
  /** Epoch milliseconds when the trajectory began: the sample's birth_time. */
  birthTime: f.COUNT,
  /** Present in a fork: the turns before `parent.turn` are carried over. */
  parent: f.maybe(PARENT),
  /** Present if an environment began the rollout: the prompt of `query` is then its own. */
  begun: f.maybe(
    f.objectOf({
      /** The row's prompt. */
      asked: PROMPT,
      /** The first state. */
      state: f.maybe(f.ANYTHING),
      /** The fingerprint of the environment. */
      environment: f.HASH,
    }),
  ),
};
export type RolloutRecord = f.ObjectOf<typeof ROLLOUT>;

/** The verdict on a turn, and what else a user's environment replied. */
export const VERDICT = {
  turn: f.PLACE,
  ...VERDICT_FIELDS,
  /** The environment's failure, if the answer is undecided because of it; a traceback in further lines. */
  note: f.maybe(f.TEXT),
  ...REPLY_FIELDS,
  /** The fingerprint of the user's environment that replied. */
  environment: f.maybe(f.HASH),
  /** Hash of the turn record that was judged. */
  of: f.HASH,
  /** Milliseconds the judge took. */
  tookMs: f.COUNT,
  /** The answer that an agent's program gave, which was judged in place of the turn's. */
  answer: f.maybe(f.TEXT),
  /** The reward that an agent's program gave to this call alone, beside that of the rollout. */
  callReward: f.maybe(f.NUMBER),
  /** Each call of the reply to a turn that called tools, in order. */
  calls: f.maybe(CALL_RESULTS),
  /** Present if it was carried over from another run. */
  carried: f.maybe(CARRIED),
};
export type VerdictRecord = f.ObjectOf<typeof VERDICT>;

const FAILURE = f.objectOf({
  boundary: f.NAME as f.Test<Boundary>,
  /** Stable machine name. */
  reason: f.NAME,
  /** One line for users, and a traceback in further ones. */
  message: f.TEXT,
  /** The turn that failed, 1-based. */
  turn: f.PLACE,
});
export type Failure = f.TypeOf<typeof FAILURE>;

/** Written by a rollout's last step. */
export const END = {
  outcome: f.oneOf(...OUTCOMES),
  stopReason: f.oneOf(...STOP_REASONS),
  failure: f.orNull(FAILURE),
  /** Undiscounted r_t, one per judged turn: the environment's own, or the seed's formula on the verdict; of an agent's calls their own, too. */
  turnRewards: f.NUMBERS,
  /** Discounted returns G_t, one per turn, along the tree of an agent's calls; empty unless outcome is complete. */
  returns: f.NUMBERS,
  /** 1 right, 0 wrong, null neither; one per finished turn. */
  success: f.listOf(f.oneOf(0, 1, null)),
  /** Hashes of the turn records, in order. */
  turns: f.listOf(f.HASH),
  finishedAt: f.COUNT,
  /** Turns with a person's message in their context; absent if there is none. */
  said: f.maybe(f.listOf(f.PLACE)),
  /** Turns that called tools, or an agent's program asked for, and hold no answer; absent if there is none. */
  called: f.maybe(f.listOf(f.PLACE)),
  /** Turns that no attempt of the agent's program asked for again: no sample is made of them. */
  abandoned: f.maybe(f.listOf(f.PLACE)),
  /** The samples that the rollout of an agent's program makes, one for each leaf of its calls. */
  branches: f.maybe(f.COUNT),
  /** Turns of its calls that are not trained: the run or the program leaves them out. Absent if there is none. */
  untrained: f.maybe(f.listOf(f.PLACE)),
  /** The calls before each of its calls, on its path. */
  depths: f.maybe(f.listOf(f.COUNT)),
};
export type EndRecord = f.ObjectOf<typeof END>;

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

interface Branch {
  /** 0-based. */
  readonly index: number;
  /** Branches of the rollout. */
  readonly of: number;
  /** The call that this branch leaves another one behind; null if it shares none. */
  readonly parent: string | null;
  /** The call of each of its own turns. */
  readonly calls: readonly string[];
  /** Their turns in the rollout, and the model and the tag of each. */
  readonly turns: readonly number[];
  readonly models: readonly (string | null)[];
  readonly tags: readonly (string | null)[];
}

/** The result of a trajectory in the folder `out`; undefined until it has ended. */
export function trajectoryResult(out: string, { rollout, turns, end }: Trajectory): RolloutResult | undefined {
  if (!end) return undefined;
  const { run, query, sample, attempt } = rollout;
  const trajectory = { out, run, query: query.queryId, sample, attempt };
  const counted = turns.map(({ record, verdict }) => ({ tokens: outputTokens(record), verdict }));
  return recordedResult(trajectory, end, counted);
}
