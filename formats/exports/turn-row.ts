// One turn of a rollout as one row, for people who analyse a run: the exact tokens, the verdict, the reward and the return
// of that turn, beside facts of its rollout. A rollout that failed or could not be judged has rows for its finished turns,
// without returns; what nobody knows is null, never 0. Floats are float32 values. Field names are Python's.

import { mustFitTraining, completeTurns, openNumberChecks } from '../../domain/samples/complete-turns.ts';
import type { Outcome, StopReason } from '../../domain/rollout/ending.ts';
import type { WantedLogprobs } from '../../domain/rollout/logprob-meaning.ts';
import { rowIdentity, type RowLabels, tokenVersions } from '../../domain/samples/neutral-row.ts';
import { questionOf, type Task } from '../../domain/query/query.ts';
import { contextIds, contextTokens, noEos, outputTokens } from '../../domain/rollout/turn-facts.ts';
import type { Trajectory } from '../../domain/rollout/trajectory.ts';
import type { Finish } from '../../domain/rollout/turn.ts';
import type { VerdictValue } from '../../domain/rollout/verdict.ts';

type OfGroup = Pick<RowLabels, 'group' | 'group_size' | 'group_success_rate' | 'zero_variance'>;

export interface TurnRow extends OfGroup {
  /** The rollout's, unique for each (query, sample) of a run: `sampleId`. With `turn` it names the row. */
  readonly id: string;
  readonly query: string;
  /** 0-based. */
  readonly sample: number;
  /** 1-based. */
  readonly attempt: number;
  readonly task: Task;
  /** 1-based. */
  readonly turn: number;
  /** Turns of the rollout. */
  readonly turns: number;
  /** C_t: everything before the answer. Null, like the next three, if the server gave text without token ids. */
  readonly prompt_ids: readonly number[] | null;
  /** O_t, the stop token included. */
  readonly response_ids: readonly number[] | null;
  /** Natural logarithm, one per token of the answer. */
  readonly logprobs: readonly number[] | null;
  /** Weight version that sampled each token of the answer. */
  readonly versions: readonly number[] | null;
  /** The versions of the answer's first and last token. */
  readonly version_start: number | null;
  readonly version_end: number | null;
  /** The distribution that the logprobs are of. */
  readonly logprobs_of: WantedLogprobs | null;
  readonly temperature: number;
  /** Tokens of the context and of the answer; null where the server did not count them. */
  readonly prompt_tokens: number | null;
  readonly response_tokens: number | null;
  /** The last user message of the data set's prompt, or its text. */
  readonly question: string;
  /** The text new in this turn's context: the prompt at turn 1, feedback and results of tools after it. */
  readonly context_text: string;
  /** The text that was judged. */
  readonly answer: string;
  readonly finish: Finish;
  /** 1 if the answer was cut off: `finish` is not `stop`. */
  readonly truncated: 0 | 1;
  /** Null if the turn was not judged. */
  readonly verdict: VerdictValue | null;
  /** The judge's, a stable name. */
  readonly reason: string | null;
  /** The final answer that the judge found. */
  readonly extracted: string | null;
  /** Right 1, wrong 0, null neither. A number, so that every engine has its mean. */
  readonly success: 0 | 1 | null;
  /** r_t: of the turn alone; null if it was not judged. */
  readonly reward: number | null;
  /** G_t = r_t + discount · G_{t+1}; null unless the rollout is complete. */
  readonly discounted_return: number | null;
  readonly advantage: number | null;
  /** Right at any turn; null if that is not known. */
  readonly rollout_success: 0 | 1 | null;
  readonly outcome: Outcome;
  readonly stop_reason: StopReason;
  readonly model: string;
  readonly server: string | null;
  /** The times of the generation, in epoch milliseconds. */
  readonly started_at: number;
  readonly finished_at: number;
}

/** The rollout must have ended. Throws StoreError before the first row. */
export function turnRows(trajectory: Trajectory, labels: Partial<RowLabels> = {}): Iterable<TurnRow> {
  const { rollout, turns, end } = trajectory;
  const { query, settings } = rollout;
  const { float32, refuse } = openNumberChecks(rollout);
  if (!end) return refuse('has not ended');
  const records = turns.map(({ record }) => record);
  const withIds = records.every(({ trainable }) => trainable !== false);
  const complete = end.outcome === 'complete';
  if (withIds) {
    if (complete) completeTurns(trajectory);
    else mustFitTraining(records, refuse);
  }
  if (end.success.length !== turns.length) refuse(`has ${end.success.length} successes for ${turns.length} turns`);
  if (complete && end.returns.length !== turns.length)
    refuse(`has ${end.returns.length} returns for ${turns.length} turns`);
  const rewards = rewardsOf(trajectory, end.turnRewards.map(float32), refuse);
  const shared = rowIdentity(trajectory, labels);
  const ofRollout = {
    rollout_success: end.success.includes(1) ? (1 as const) : complete ? (0 as const) : null,
    outcome: end.outcome,
    stop_reason: end.stopReason,
    group_size: labels.group_size ?? null,
    group_success_rate: labels.group_success_rate ?? null,
    zero_variance: labels.zero_variance ?? null,
  };
  const question = questionOf(query);
  const advantages = labels.turn_advantages?.map(float32) ?? [];
  const made = turns.map(({ record, verdict }, t): Omit<TurnRow, 'prompt_ids'> => ({
    ...shared,
    turn: t + 1,
    turns: turns.length,
    response_ids: withIds ? record.outputIds : null,
    logprobs: withIds ? record.logprobs.map(float32) : null,
    versions: withIds ? tokenVersions(record, refuse) : null,
    version_start: withIds ? record.versionStart : null,
    version_end: withIds ? record.versionEnd : null,
    logprobs_of: withIds ? (record.logprobsOf ?? 'policy') : null,
    temperature: settings.temperature,
    prompt_tokens: contextTokens(record),
    response_tokens: outputTokens(record),
    question,
    context_text: record.contextText,
    answer: record.answer,
    finish: record.finish,
    truncated: noEos(record.finish) ? 1 : 0,
    verdict: verdict?.verdict ?? null,
    reason: verdict?.reason ?? null,
    extracted: verdict?.extracted ?? null,
    success: end.success[t] ?? null,
    reward: rewards[t] ?? null,
    discounted_return: complete ? float32(end.returns[t]!) : null,
    advantage: advantages[t] ?? null,
    ...ofRollout,
    model: record.model,
    server: record.server,
    started_at: record.startedAt,
    finished_at: record.finishedAt,
  }));
  return rows();

  /** One at a time: together the contexts are quadratic in the turns. */
  function* rows(): Generator<TurnRow> {
    for (const row of made) yield { ...row, prompt_ids: withIds ? contextIds(records, row.turn) : null };
  }
}

/** r_t by turn: an end lists those of judged turns alone. */
function rewardsOf(
  { turns }: Trajectory,
  recorded: readonly number[],
  wrong: (problem: string) => never,
): (number | null)[] {
  let judged = 0;
  const rewards = turns.map(({ verdict }) =>
    verdict && verdict.verdict !== 'undecided' ? (recorded[judged++] ?? null) : null,
  );
  if (judged !== recorded.length) wrong(`has ${recorded.length} turn rewards for ${judged} judged turns`);
  return rewards;
}
