// The neutral rows as one Parquet file, for `datasets`, pyarrow and the like: a rollout a row, its turns as lists.

import { type NeutralRow, neutralRow } from '../../domain/samples/neutral-row.ts';
import type { Exporter } from './exporter.ts';
import { openParquet, type RowForm } from './parquet-file.ts';

/** The calls of an agent's branch are in the rows alone; the id of a row says its branch. */
type Column = Omit<NeutralRow, 'branch' | 'branches' | 'parent_call' | 'turn_calls'>;
const COLUMNS: RowForm<Column>['columns'] = {
  id: { kind: 'text' },
  group: { kind: 'text' },
  query: { kind: 'text' },
  sample: { kind: 'int' },
  attempt: { kind: 'int' },
  task: { kind: 'text' },
  prompt_ids: { kind: 'int', list: true },
  response_ids: { kind: 'int', list: true },
  response_mask: { kind: 'int', list: true },
  logprobs: { kind: 'float', list: true },
  versions: { kind: 'int', list: true },
  turn_ids: { kind: 'int', list: true },
  turn_ends: { kind: 'int', list: true },
  turn_success: { kind: 'int', list: true },
  turn_rewards: { kind: 'float', list: true },
  turn_returns: { kind: 'float', list: true },
  turn_finish: { kind: 'text', list: true },
  turn_advantages: { kind: 'float', list: true },
  reward: { kind: 'float' },
  success: { kind: 'bool' },
  finish: { kind: 'text' },
  stop_reason: { kind: 'text' },
  version_start: { kind: 'int' },
  version_end: { kind: 'int' },
  staleness: { kind: 'int' },
  group_size: { kind: 'int' },
  group_success_rate: { kind: 'double' },
  zero_variance: { kind: 'bool' },
  logprobs_of: { kind: 'text' },
  temperature: { kind: 'double' },
  birth_time: { kind: 'long' },
};

export const rolloutTable: RowForm<Column> = {
  columns: COLUMNS,
  rowsOf: (trajectory, labels) => [neutralRow(trajectory, labels)],
  tokensOf: ({ prompt_ids: prompt, response_ids: response }) => prompt.length + response.length,
};

export const parquet: Exporter = {
  name: 'parquet',
  extension: 'parquet',
  needsIds: true,
  grouped: true,
  advantages: true,
  description: 'the rows as one Parquet file, for datasets and pyarrow',
  lines: (trajectory, labels) => [JSON.stringify(neutralRow(trajectory, labels))],
  open: () => openParquet(rolloutTable),
};
