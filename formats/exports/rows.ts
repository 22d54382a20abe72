// The neutral rows as JSON lines: one rollout a line, every token with its mask, logprob, version and turn; with texts, also
// what was asked, answered and replied, when and by which model.

import { feedbackOn } from '../../domain/context/feedback.ts';
import { neutralRow, sampleId } from '../../domain/samples/neutral-row.ts';
import type { Trajectory } from '../../domain/rollout/trajectory.ts';
import type { Message } from '../../domain/query/query.ts';
import type { Exporter } from '../../domain/samples/exporter.ts';

export const rows: Exporter = {
  name: 'rows',
  extension: 'jsonl',
  fields: ['prompt_ids', 'response_ids', 'turn_ends'],
  needsIds: true,
  grouped: true,
  advantages: true,
  masks: true,
  description: 'token-aligned rows, one rollout a line: what the Python package everturn reads',
  id: ({ rollout: { query, sample }, branch }) => sampleId(query.queryId, sample, branch?.index),
  lines: (trajectory, labels) => [JSON.stringify(neutralRow(trajectory, labels))],
};

export const rowsWithTexts: Exporter = {
  ...rows,
  lines: (trajectory, labels) => [JSON.stringify({ ...neutralRow(trajectory, labels), ...textsOf(trajectory) })],
};

/** Fields of `--texts`, behind those of a neutral row; lists have an entry a turn. */
export interface RowTexts {
  readonly run: string;
  /** 0-based line of the run's rows; null for a rollout that a client started. */
  readonly index: number | null;
  /** The prompt's messages; a prompt of bare text, which went through no chat template, is that text. */
  readonly messages: readonly Message[] | string;
  readonly solutions: readonly string[];
  /** The texts that were judged. */
  readonly answers: readonly string[];
  /** The messages after each answer, a person's included; those after the last one were never sent. */
  readonly feedback: readonly (readonly Message[])[];
  /** The environment's numbers on the last turn that has some. */
  readonly metrics: Readonly<Record<string, number>> | null;
  readonly models: readonly string[];
  /** Null for an embedded model. */
  readonly servers: readonly (string | null)[];
  readonly top_p: number;
  readonly max_new_tokens: readonly number[];
  /** Epoch milliseconds of the generation. */
  readonly started_at: readonly number[];
  readonly finished_at: readonly number[];
  /** Milliseconds that the judge took; null for a turn that was not judged. */
  readonly judged_ms: readonly (number | null)[];
  /** The time of the rollout's end. */
  readonly ended_at: number;
}

function textsOf({ rollout, turns, end }: Trajectory): RowTexts {
  const { run, index, query, settings } = rollout;
  const { prompt, solutions } = query;
  const records = turns.map(({ record }) => record);
  return {
    run,
    index,
    messages: prompt.kind === 'messages' ? prompt.messages : prompt.text,
    solutions,
    answers: records.map(({ answer }) => answer),
    feedback: turns.map(({ verdict }, i) => (verdict ? feedbackOn(verdict, records[i + 1]?.said?.text) : [])),
    metrics: turns.findLast(({ verdict }) => verdict?.metrics)?.verdict?.metrics ?? null,
    models: records.map(({ model }) => model),
    servers: records.map(({ server }) => server),
    top_p: settings.topP,
    max_new_tokens: records.map(({ maxNewTokens }) => maxNewTokens),
    started_at: records.map(({ startedAt }) => startedAt),
    finished_at: records.map(({ finishedAt }) => finishedAt),
    judged_ms: turns.map(({ verdict }) => verdict?.tookMs ?? null),
    ended_at: end!.finishedAt,
  };
}
