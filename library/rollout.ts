// One ended rollout, as a program reads it: small facts at once, its turns, texts and tokens when they are asked for.

import { conversationOf } from '../domain/context/new-context.ts';
import { feedbackOn } from '../domain/context/feedback.ts';
import { StoreError } from '../domain/errors/errors.ts';
import type { RolloutId } from '../domain/names/ids.ts';
import type { ChatMessage } from '../domain/query/query.ts';
import type { Outcome, StopReason } from '../domain/rollout/ending.ts';
import type { RolloutRow } from '../domain/rollout/rollout-row.ts';
import type { TurnSummary } from '../domain/rollout/rollout-summary.ts';
import type { Trajectory } from '../domain/rollout/trajectory.ts';
import { branchesOf } from '../domain/samples/branches.ts';
import { type NeutralRow, neutralRow } from '../domain/samples/neutral-row.ts';
import { readTrajectory } from '../records/reading/trajectories.ts';
import { summaryOf } from '../records/reading/summary.ts';
import type { Store } from '../records/store.ts';
import { toldMethods } from './told.ts';

/** The facts of a rollout that need no further reading. */
export interface RolloutFacts {
  /** The id of the data set's row. */
  readonly query: string;
  /** 0-based place of that row among the run's; null for a rollout that a client started directly. */
  readonly index: number | null;
  /** 0-based. */
  readonly sample: number;
  /** 1-based: above 1 it was played again, after a failure. */
  readonly attempt: number;
  /** The question's first words. Text of the data set. */
  readonly title: string;
  /** `failed` and `undecided` are never a wrong answer. Null: its end cannot be read (`flaw`). */
  readonly outcome: Outcome | null;
  /** Null where its end cannot be read. */
  readonly stopReason: StopReason | null;
  /** The reason of a rollout that failed or is undecided; else null. */
  readonly reason: string | null;
  /** By answer, in order: 1 right, 0 wrong, null not judged. */
  readonly success: readonly (0 | 1 | null)[];
  /** By turn: the reason of its verdict, `equal`, `different`, `no-answer`, …; empty where a turn is not judged. */
  readonly reasons: readonly string[];
  /** The last final answer that the judge found. Text of a model. */
  readonly extracted: string | null;
  /** G_1, the discounted return of the whole rollout; null unless it is complete. */
  readonly reward: number | null;
  /** Output tokens by turn; null: the server gave text without tokens. */
  readonly tokens: readonly (number | null)[];
  /** The lowest and the highest weight version of its tokens; null without a turn. */
  readonly versions: readonly [number, number] | null;
  /** Epoch milliseconds; null where its end cannot be read. */
  readonly endedAt: number | null;
  /** A person's message is in its context: it counts in no number of the run. */
  readonly steered?: true;
  /** The record of it that cannot be read, by its file, and what is wrong with it; absent where all can. */
  readonly flaw?: string;
}

export interface Rollout extends RolloutFacts {
  /** By turn: verdict, reward, counts of tokens, versions, times, calls of tools. Rejects with a StoreError where a record is damaged. */
  turns(): Promise<readonly TurnSummary[]>;
  /** The conversation. Rejects as `turns` does. */
  texts(): Promise<RolloutTexts>;
  /**
   * All its records: in `turns[t].record` the new context of turn t (`contextIds`, never trained on), the sampled tokens
   * (`outputIds`, the stop token included), `logprobs` (natural, one per output id), and the spans of weight versions
   * (`versions`). Rejects as `turns` does.
   */
  trajectory(): Promise<Trajectory>;
  /**
   * Its tokens as aligned lists with mask, logprobs and versions, as of `run.rows()` without the labels of its group: one row,
   * or one for each branch of an agent. None unless it is complete and its model gave token ids. Rejects as `turns` does.
   */
  rows(): Promise<readonly NeutralRow[]>;
}

export interface RolloutTexts {
  /** The prompt, each answer (`assistant`) and the messages after it; those after the last answer were never sent. */
  readonly messages: readonly ChatMessage[];
  /** The reference solutions. */
  readonly solutions: readonly string[];
}

export const openRollout = (store: Store, run: string, row: RolloutRow): Rollout => ({
  ...factsOf(row),
  ...toldMethods(partsOf(store, { run, query: row.query, sample: row.sample, attempt: row.attempt })),
});

/** What is read when it is asked for. */
export type RolloutParts = Omit<Rollout, keyof RolloutFacts>;

export function partsOf(store: Store, id: RolloutId): RolloutParts {
  const trajectory = async (): Promise<Trajectory> => {
    const read = await readTrajectory(store, id);
    if (read) return read;
    throw damaged(store, id, 'its first record is gone');
  };
  return {
    turns: () => turnsOf(store, id),
    texts: async () => textsOf(await trajectory()),
    trajectory,
    async rows() {
      const read = await trajectory();
      const isText = read.turns.some(({ record }) => record.trainable === false);
      return read.end?.outcome !== 'complete' || isText ? [] : branchesOf(read).map((branch) => neutralRow(branch));
    },
  };
}

function factsOf(row: RolloutRow): RolloutFacts {
  const { query, index, sample, attempt, title, state, stop, reason, success, reward, endedAt, turns, steered, flaw } =
    row;
  const { reasons, extracted, tokens, versions } = turns;
  return {
    ...{ query, index, sample, attempt, title },
    outcome: state === 'open' ? null : state,
    stopReason: stop,
    ...{ reason, success, reasons, extracted, reward, tokens, versions, endedAt },
    ...(steered && { steered }),
    ...(flaw !== undefined && { flaw }),
  };
}

async function turnsOf(store: Store, id: RolloutId): Promise<readonly TurnSummary[]> {
  const { query, sample, attempt } = id;
  let flaw = 'its first record is gone';
  const onBroken = ({ path, problem }: { path: string; problem: string }) => (flaw = `${path} ${problem}`);
  const read = await store.readRecords(id, (files) => summaryOf(files, { query, sample, attempt }, null, { onBroken }));
  if (!read) throw damaged(store, id, flaw);
  return read.turns;
}

function textsOf({ rollout: { query }, turns }: Trajectory): RolloutTexts {
  const played = turns.flatMap(({ record, verdict }, t): readonly ChatMessage[] => [
    { role: 'assistant', content: record.answer },
    ...(verdict ? feedbackOn(verdict, turns[t + 1]?.record.said?.text) : []),
  ]);
  return { messages: [...conversationOf(query.prompt, []), ...played], solutions: query.solutions };
}

const damaged = (store: Store, { query, sample }: RolloutId, problem: string): StoreError =>
  new StoreError(`Query ${JSON.stringify(query)}, sample ${sample} in ${store.folder}: ${problem}.`, {
    reason: 'record-broken',
    fix: `Run \`everturn check ${store.folder}\` to list every fault.`,
  });
