// A turn a row as one Parquet file, for people who analyse a run with SQL, pandas or pyarrow. It holds every rollout that
// ended, also what no trainer takes: answers of text alone, and the finished turns of rollouts that are not complete.

import type { Exporter } from './exporter.ts';
import { openParquet, type RowForm } from './parquet-file.ts';
import { type TurnRow, turnRows } from './turn-row.ts';

const COLUMNS: RowForm<TurnRow>['columns'] = {
  id: { kind: 'text' },
  group: { kind: 'text' },
  query: { kind: 'text' },
  sample: { kind: 'int' },
  attempt: { kind: 'int' },
  task: { kind: 'text' },
  turn: { kind: 'int' },
  turns: { kind: 'int' },
  prompt_ids: { kind: 'int', list: true },
  response_ids: { kind: 'int', list: true },
  logprobs: { kind: 'float', list: true },
  versions: { kind: 'int', list: true },
  version_start: { kind: 'int' },
  version_end: { kind: 'int' },
  logprobs_of: { kind: 'text' },
  temperature: { kind: 'double' },
  prompt_tokens: { kind: 'int' },
  response_tokens: { kind: 'int' },
  question: { kind: 'text' },
  context_text: { kind: 'text' },
  answer: { kind: 'text' },
  finish: { kind: 'text' },
  truncated: { kind: 'int' },
  verdict: { kind: 'text' },
  reason: { kind: 'text' },
  extracted: { kind: 'text' },
  success: { kind: 'int' },
  reward: { kind: 'float' },
  discounted_return: { kind: 'float' },
  advantage: { kind: 'float' },
  rollout_success: { kind: 'int' },
  outcome: { kind: 'text' },
  stop_reason: { kind: 'text' },
  group_size: { kind: 'int' },
  group_success_rate: { kind: 'double' },
  zero_variance: { kind: 'bool' },
  model: { kind: 'text' },
  server: { kind: 'text' },
  started_at: { kind: 'long' },
  finished_at: { kind: 'long' },
};

const CHARS_PER_TOKEN = 4;

export const turnRowForm: RowForm<TurnRow> = {
  columns: COLUMNS,
  rowsOf: turnRows,
  tokensOf: ({ prompt_ids: prompt, response_ids: response, question, context_text: context, answer }) =>
    (prompt?.length ?? 0) +
    (response?.length ?? 0) +
    Math.ceil((question.length + context.length + answer.length) / CHARS_PER_TOKEN),
};

export const parquetTurns: Exporter = {
  name: 'parquet-turns',
  extension: 'parquet',
  needsIds: false,
  incomplete: true,
  grouped: true,
  advantages: true,
  description: 'a turn a row as one Parquet file, for DuckDB, pandas and pyarrow',
  note: 'parquet-turns also holds the finished turns of rollouts that are not complete, without returns: `outcome` names them.',
  lines: (trajectory, labels) => Array.from(turnRows(trajectory, labels), (row) => JSON.stringify(row)),
  open: () => openParquet(turnRowForm),
};
