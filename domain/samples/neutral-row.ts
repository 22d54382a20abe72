// One rollout as one token-aligned row: the neutral form that every adapter reads. Every list `response_*` and `logprobs`,
// `versions`, `turn_ids` has one entry per token after the prompt; a value stands at its own token, not one before it.
// No token is re-tokenised, none is left out. Floats are float32 values. Field names are Python's, since Python reads them.
// Leaves out texts, and who trains on the row.

import { completeTurns } from './complete-turns.ts';
import { expertsFields, type ExpertsFields } from './row-experts.ts';
import { type KeptFields, keptFields } from './kept-tokens.ts';
import { isOfCredit, trainedTokens } from '../rollout/credit.ts';
import type { StopReason } from '../rollout/ending.ts';
import type { Task } from '../query/query.ts';
import type { Trajectory } from '../rollout/trajectory.ts';
import type { Finish, TurnRecord, VersionSpan } from '../rollout/turn.ts';
import { tokenRewards } from './token-rewards.ts';
import type { WantedLogprobs } from '../rollout/logprob-meaning.ts';

/** Labels that the row's group or its consumer adds; null if unknown. */
export interface RowLabels {
  /** Rows to be compared with each other. Default: the query's id. */
  readonly group: string;
  /** Members of the group that have a verdict. */
  readonly group_size: number | null;
  /** Share of the members that were right at any turn. */
  readonly group_success_rate: number | null;
  /** All members have the same reward: no signal between them. */
  readonly zero_variance: boolean | null;
  /** The trainer's version less `version_start`. */
  readonly staleness: number | null;
  /** One per turn, for all tokens of its answer. */
  readonly turn_advantages: readonly number[] | null;
}

/** What is asked of a row beside its labels. */
export interface RowOptions {
  /** Whether a span is of weights too old to train on its tokens. `newest`: the newest version in the row. */
  readonly isStale?: (span: VersionSpan, newest: number) => boolean;
}

export interface NeutralRow extends RowLabels, KeptFields, ExpertsFields {
  /** Unique for each (query, sample) of a run: `sampleId`. */
  readonly id: string;
  readonly query: string;
  /** 0-based. */
  readonly sample: number;
  /** 1-based. */
  readonly attempt: number;
  readonly task: Task;
  readonly prompt_ids: readonly number[];
  /** Answers and feedback, in order; it ends with an answer. */
  readonly response_ids: readonly number[];
  /** 1 on a token that is trained: the model sampled it, and nothing masks it; 0 on feedback. */
  readonly response_mask: readonly (0 | 1)[];
  /** Natural logarithm; 0 on feedback. */
  readonly logprobs: readonly number[];
  /** Weight version that sampled the token; -1 on feedback. */
  readonly versions: readonly number[];
  /** 0-based turn; -1 on feedback. */
  readonly turn_ids: readonly number[];
  /** The end of each turn's answer in `response_ids`, exclusive; an answer may be empty. */
  readonly turn_ends: readonly number[];
  readonly turn_success: readonly (0 | 1)[];
  /** r_t: of the turn alone. For trainers that sum or discount over tokens themselves. */
  readonly turn_rewards: readonly number[];
  /** G_t = r_t + discount · G_{t+1}. */
  readonly turn_returns: readonly number[];
  readonly turn_finish: readonly Finish[];
  /** G_1: the one number of the whole rollout. */
  readonly reward: number;
  /** Right at any turn. */
  readonly success: boolean;
  /** How the last answer ended. */
  readonly finish: Finish;
  readonly stop_reason: StopReason;
  /** The oldest and the newest version in the row. */
  readonly version_start: number;
  readonly version_end: number;
  /** The distribution that the logprobs are of. */
  readonly logprobs_of: WantedLogprobs;
  readonly temperature: number;
  /** Epoch milliseconds when the rollout began. */
  readonly birth_time: number;
  /** r_t by token, present in a run whose environment places rewards: each at its last token, or the last trained one before it. */
  readonly token_rewards?: readonly number[];
  /** 1 on a token of weights too old to train on it; absent where nobody asked. */
  readonly mask_stale?: readonly (0 | 1)[];
  /** 0-based: the rollout of an agent's program is one row for each leaf of its calls; a sampled token is trained in one of them. */
  readonly branch?: number;
  /** Rows of the rollout. */
  readonly branches?: number;
  /** The call whose tokens end the prompt, and are trained in another row; null if there is none. */
  readonly parent_call?: string | null;
  /** The id of the call that each turn answers. */
  readonly turn_calls?: readonly string[];
  /** The model that each call asked for, and its tag; null for a call without one. */
  readonly turn_models?: readonly (string | null)[];
  readonly turn_tags?: readonly (string | null)[];
  /** 1 / `branches`: by it the rows of a rollout weigh as much as one. */
  readonly weight?: number;
  /** The parts of the last answer's reward, where an agent or an environment named some. */
  readonly rewards?: Readonly<Record<string, number>>;
}

/** The first fields of a row, by which rollout and group are known: the same in each form. */
export function rowIdentity({ rollout, branch }: Trajectory, { group }: Partial<RowLabels>) {
  const { query, sample, attempt } = rollout;
  const { queryId, task } = query;
  return {
    id: sampleId(queryId, sample, branch?.index),
    group: group ?? queryId,
    query: queryId,
    sample,
    attempt,
    task,
  };
}

export function neutralRow(trajectory: Trajectory, labels: Partial<RowLabels> & RowOptions = {}): NeutralRow {
  const { rollout, turns: played, branch } = trajectory;
  const { settings } = rollout;
  const { turns, end, float32, refuse } = completeTurns(trajectory);
  const ids: number[] = [];
  const mask: (0 | 1)[] = [];
  const logprobs: number[] = [];
  const versions: number[] = [];
  const turnIds: number[] = [];
  const ends: number[] = [];
  for (const [i, record] of turns.entries()) {
    if (record.trainable === false) refuse(`turn ${record.turn} has text and no token ids`);
    const feedback = i === 0 ? [] : record.contextIds;
    const made = tokenVersions(record, refuse);
    for (const id of feedback) push(id, 0, 0, -1, -1);
    const trained = trainedTokens(record, played[i]!.verdict, refuse);
    for (const [k, id] of record.outputIds.entries()) push(id, trained[k]!, float32(record.logprobs[k]!), made[k]!, i);
    ends.push(ids.length);
  }
  if (end.turnRewards.length !== turns.length) refuse(`has ${end.turnRewards.length} turn rewards`);
  const success = played.map(({ verdict }) => (verdict?.verdict === 'right' ? 1 : 0));
  const starts = turns.flatMap((turn) => [turn.versionStart, ...turn.versions.map(({ version }) => version)]);
  const newest = turns.flatMap((turn) => [turn.versionEnd, ...turn.versions.map(({ version }) => version)]);
  const newestVersion = Math.max(...newest);
  const sets = keptFields(turns, settings, refuse);
  const stale = labels.isStale && staleTokens(turns, newestVersion, labels.isStale);
  const whole = mask.map((one, i) => (stale?.[i] === 1 || sets.kept_ids?.[i] === null ? 0 : one));
  const rewards =
    isOfCredit(rollout) && tokenRewards(played, { ends, turnRewards: end.turnRewards, mask: whole }, refuse);
  const returns = end.returns.map(float32);
  const named = played.at(-1)!.verdict?.rewards;
  return {
    ...rowIdentity(trajectory, labels),
    prompt_ids: turns[0]!.contextIds,
    response_ids: ids,
    response_mask: whole,
    logprobs,
    versions,
    turn_ids: turnIds,
    turn_ends: ends,
    turn_success: success,
    turn_rewards: end.turnRewards.map(float32),
    turn_returns: returns,
    turn_finish: turns.map(({ finish }) => finish),
    turn_advantages: labels.turn_advantages?.map(float32) ?? null,
    reward: returns[0]!,
    success: success.includes(1),
    finish: turns.at(-1)!.finish,
    stop_reason: end.stopReason,
    version_start: Math.min(...starts),
    version_end: newestVersion,
    staleness: labels.staleness ?? null,
    group_size: labels.group_size ?? null,
    group_success_rate: labels.group_success_rate ?? null,
    zero_variance: labels.zero_variance ?? null,
    logprobs_of: turns[0]!.logprobsOf ?? 'policy',
    temperature: settings.temperature,
    birth_time: rollout.birthTime,
    ...sets,
    ...expertsFields(turns),
    ...(rewards && { token_rewards: rewards.map(float32) }),
    ...(stale && { mask_stale: stale }),
    ...(branch && ofBranch(branch)),
    ...(named && { rewards: named }),
  };

  function push(id: number, trained: 0 | 1, logprob: number, version: number, turn: number): void {
    ids.push(id);
    mask.push(trained);
    logprobs.push(logprob);
    versions.push(version);
    turnIds.push(turn);
  }
}

const ofBranch = (branch: NonNullable<Trajectory['branch']>) => ({
  branch: branch.index,
  branches: branch.of,
  parent_call: branch.parent,
  turn_calls: branch.calls,
  turn_models: branch.models,
  turn_tags: branch.tags,
  weight: Math.fround(1 / branch.of),
});

/** One entry per token after the prompt. */
function staleTokens(
  turns: readonly TurnRecord[],
  newest: number,
  isStale: NonNullable<RowOptions['isStale']>,
): (0 | 1)[] {
  return turns.flatMap(({ contextIds, versions }, i) => [
    ...(i === 0 ? [] : contextIds.map(() => 0 as const)),
    ...versions.flatMap((span) => Array<0 | 1>(span.end - span.start).fill(isStale(span, newest) ? 1 : 0)),
  ]);
}

/** One version per output token. */
export function tokenVersions({ turn, outputIds, versions }: TurnRecord, wrong: (problem: string) => never): number[] {
  const made: number[] = [];
  for (const { version, start, end } of versions) {
    if (start !== made.length) wrong(`turn ${turn} has version spans that do not follow one another`);
    for (let at = start; at < end; at++) made.push(version);
  }
  if (made.length !== outputIds.length) wrong(`turn ${turn} has version spans for ${made.length} tokens`);
  return made;
}

/**
 * A sample's id in an export: `<query>` for sample 0, `<query>@<sample>` for the others, `<query>@<sample>.<branch>` for the further
 * branches of an agent's rollout. Two (query, sample) never share one, and the text before the first `@` names the query: in the
 * query's own id `@` becomes `%40`. A `%` is escaped only if it could be read as the start of an escape (`%40`, `%25`). Any other id stays byte for byte, as the original has it.
 */
export function sampleId(query: string, sample: number, branch = 0): string {
  const row = query.replace(/@|%(?=40|25)/g, (char) => (char === '@' ? '%40' : '%25'));
  if (branch > 0) return `${row}@${sample}.${branch}`;
  return sample > 0 ? `${row}@${sample}` : row;
}
