// The most that a run takes, computed from its size and its limits, and shown as text. Upper bounds: rollouts end early,
// and answers end before their limit.

import type { RunOptions } from '../../run/options.ts';
import { count, plural } from '../format.ts';

/** Measured: a turn of 2,000 tokens is a record of 69 kB, and each record has some hundred bytes beside. */
const BYTES_PER_TOKEN = 35;
const BYTES_PER_RECORD = 600;
/** A file takes at least one block. */
const BLOCK_BYTES = 4096;
/** The run's own files: run.json, queries.jsonl, queries.index, result.json, and a segment with its index. */
const RUN_FILES = 6;

export interface PlanInput {
  readonly queries: number;
  readonly refused: number;
  readonly options: Pick<RunOptions, 'samples' | 'epochs' | 'numTurns' | 'maxNewTokens' | 'newTokensPerChunk'>;
  /** Null: the server does not say. */
  readonly contextLength: number | null;
  /** Tokens of the prompts that were rendered; null: the server tokenises. */
  readonly promptTokens: { readonly mean: number; readonly most: number; readonly of: number } | null;
}

export type Plan = ReturnType<typeof planOf>;

export function planOf({ queries, refused, options, contextLength, promptTokens }: PlanInput) {
  const { samples, epochs, numTurns, maxNewTokens, newTokensPerChunk } = options;
  const rollouts = queries * samples * epochs;
  const room = contextLength === null ? Infinity : Math.max(0, contextLength - Math.floor(promptTokens?.mean ?? 0));
  const perRollout = Math.min(numTurns * maxNewTokens, room);
  const chunks = newTokensPerChunk === null ? 1 : Math.ceil(Math.min(maxNewTokens, room) / newTokensPerChunk);
  // Its records become a line; a log for people and one for monitors stay.
  const logs = 2;
  const records = (2 + 2 * numTurns) * BYTES_PER_RECORD;
  const prompt = (promptTokens?.mean ?? 0) * BYTES_PER_TOKEN;
  const bytesFor = (tokens: number) =>
    RUN_FILES * BLOCK_BYTES +
    Math.round(queries * prompt) +
    rollouts * Math.round(logs * BLOCK_BYTES + records + prompt + tokens * BYTES_PER_TOKEN);
  return {
    ...{ queries, refused, samples, epochs, numTurns, rollouts, promptTokens },
    // Generations at most: one a turn, or one a chunk.
    calls: rollouts * numTurns * chunks,
    outputTokens: rollouts * perRollout,
    // The context's length rather than --max-new-tokens limits that.
    limitedByContext: room < numTurns * maxNewTokens,
    files: rollouts * logs + RUN_FILES,
    bytes: bytesFor(perRollout),
    // Most runs are nearer to 1,000 output tokens a turn.
    bytesPerThousand: bytesFor(Math.min(perRollout, 1000 * numTurns)),
  };
}

/** `each`: what a rollout has of, a turn or a program's call. */
export function planText(plan: Plan, freeBytes: number | null, each: 'turn' | 'call'): string {
  const { queries, refused, samples, epochs, numTurns, rollouts, calls, promptTokens, outputTokens, files } = plan;
  const left = refused > 0 ? `, ${plural(refused, 'bad row')} left out` : '';
  const prompt =
    promptTokens === null
      ? 'the server tokenises'
      : `${count(promptTokens.mean)} in the mean, ${count(promptTokens.most)} at most (of ${plural(promptTokens.of, 'query', 'queries')})`;
  const room = freeBytes !== null && freeBytes < plan.bytesPerThousand ? ', which is NOT free' : '';
  const usual = `${bytesText(plan.bytesPerThousand)} with up to 1,000 tokens a ${each}${room}`;
  const free = freeBytes === null ? '' : `; ${bytesText(freeBytes)} free`;
  return [
    `Rows       ${plural(queries, 'query', 'queries')}${left}`,
    `Rollouts   ${count(rollouts)}: × ${plural(samples, 'sample')}${epochs > 1 ? ` × ${epochs} epochs` : ''}, of at most ${plural(numTurns, each)}`,
    `Calls      ${count(calls)} generations at most`,
    `Prompts    tokens: ${prompt}`,
    `Output     ${count(outputTokens)} tokens at most${plan.limitedByContext ? ", by the model's context" : ', by --max-new-tokens'}`,
    `Disk       ${count(files)} files; ${usual}, ${bytesText(plan.bytes)} at most${free}`,
  ].join('\n');
}

export function bytesText(bytes: number): string {
  const units = ['kB', 'MB', 'GB', 'TB', 'PB'];
  let value = bytes / 1000;
  let unit = 0;
  for (; value >= 1000 && unit < units.length - 1; unit++) value /= 1000;
  return `${value >= 100 ? value.toFixed(0) : value.toFixed(1)} ${units[unit]}`;
}
