// The algorithm's logs: of each turn a block for people and a JSON line for monitors, in two files of the rollout and of the
// weight version that the turn began with. Each has that turn's own verdict, context and length. Text from a model or a data
// set cannot steer the terminal that shows it.

import { visible } from '../text/foreign-text.ts';
import { safeName, type RolloutId } from '../names/ids.ts';
import { turnReward } from './reward.ts';
import type { RolloutRecord } from './trajectory.ts';
import type { TurnRecord } from './turn.ts';
import type { ReplyFacts } from './rollout-facts.ts';

const DIM_YELLOW = '\u001b[33m\u001b[2m';
const RESET = '\u001b[0m';

/** The log's file name: the query's, with `@<sample>` or `@<sample>.<attempt>` for all but the first. */
export function logName({ query, sample, attempt }: Pick<RolloutId, 'query' | 'sample' | 'attempt'>): string {
  const name = safeName(query);
  if (attempt > 1) return `${name}@${sample}.${attempt}`;
  return sample > 0 ? `${name}@${sample}` : name;
}

/** One turn of a log, or all of it. */
export interface LogText {
  /** The text that people read. */
  readonly txt: string;
  /** The lines that monitors read. */
  readonly jsonl: string;
}

/** `turns` holds at least the turns 1 … `turn`. */
export function turnLog(
  rollout: RolloutRecord,
  turns: readonly TurnRecord[],
  turn: number,
  verdict: ReplyFacts,
): LogText {
  return { txt: turnLogBlock(rollout, turns, turn, verdict), jsonl: turnLogLine(turns[turn - 1]!, verdict) };
}

export const joinedLog = (parts: readonly LogText[]): LogText => ({
  txt: parts.map(({ txt }) => txt).join(''),
  jsonl: parts.map(({ jsonl }) => jsonl).join(''),
});

export function turnLogBlock(
  rollout: RolloutRecord,
  turns: readonly TurnRecord[],
  turn: number,
  verdict: ReplyFacts,
): string {
  const last = turns[turn - 1]!;
  // The context of an agent's call is mostly that of calls before it: the log has what is new.
  const shown = last.asked ? [last] : turns.slice(0, turn);
  const prompt = shown.map((t) => t.contextText + (t === last ? '' : t.outputText)).join('');
  const reward =
    verdict.verdict === 'undecided'
      ? `undecided (${verdict.reason})`
      : decimal(verdict.reward ?? turnReward(verdict.verdict === 'right', rollout.settings));
  return [
    `idx: ${turn} / ${rollout.settings.numTurns}, seqlen: ${last.contextLength + last.outputIds.length}, ` +
      `head version: ${last.versionStart}, tail version: ${last.versionEnd}.`,
    `reward is ${reward}, prompt is ${DIM_YELLOW}${visible(prompt)}${RESET}`,
    `sequence is: ${DIM_YELLOW}${visible(last.answer)}${RESET}.`,
    '',
  ].join('\n');
}

/** `success` is null if the answer is neither right nor wrong. */
export function turnLogLine(record: TurnRecord, { verdict }: ReplyFacts): string {
  const line = {
    version_start: record.versionStart,
    version_end: record.versionEnd,
    success: verdict === 'right' ? true : verdict === 'wrong' ? false : null,
    prompt_len: record.contextLength,
    answer_len: record.outputIds.length,
  };
  return `${JSON.stringify(line)}\n`;
}

/** 1 as `1.0`: a reward is a real number. */
function decimal(value: number): string {
  return Number.isInteger(value) ? value.toFixed(1) : String(value);
}
