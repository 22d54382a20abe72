// Parquet files of a run, a column for each field, each of which may be null: the neutral rows, a rollout a row with its turns
// as lists, for `datasets`, pyarrow and the like; or a turn a row, for people who analyse a run with SQL or pandas. The latter
// holds every rollout that ended, also what no trainer takes. A row group ends with a query, so memory holds one. Reading a
// float column as float32 changes no bit.

import { ByteWriter, ParquetWriter } from 'hyparquet-writer';
import type { SchemaElement } from 'hyparquet';
import { StoreError } from '../../domain/errors/errors.ts';
import { type NeutralRow, neutralRow } from '../../domain/samples/neutral-row.ts';
import type { Exporter, Encoder, Labels } from '../../domain/samples/exporter.ts';
import type { Trajectory } from '../../domain/rollout/trajectory.ts';
import { type TurnRow, turnRows } from './turn-row.ts';

const ROW_COLUMNS = {
  id: { kind: 'text' },
  group: { kind: 'text' },
  query: { kind: 'text' },
  sample: { kind: 'int' },
  attempt: { kind: 'int' },
  task: { kind: 'text' },
} as const;

const TURN_COLUMNS: RowForm<TurnRow>['columns'] = {
  ...ROW_COLUMNS,
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
  columns: TURN_COLUMNS,
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

/** The calls of an agent's branch, the names of rewards, and why a token is masked, are in the rows alone; the id of a row says its branch. */
type OfCalls = 'branch' | 'branches' | 'parent_call' | 'turn_calls' | 'turn_models' | 'turn_tags';
type RolloutColumns = Omit<NeutralRow, OfCalls | 'mask_stale' | 'rewards'>;
const ROLLOUT_COLUMNS: RowForm<RolloutColumns>['columns'] = {
  ...ROW_COLUMNS,
  prompt_ids: { kind: 'int', list: true },
  response_ids: { kind: 'int', list: true },
  response_mask: { kind: 'int', list: true },
  logprobs: { kind: 'float', list: true },
  kept_ids: { kind: 'int', list: 'of lists', sparse: 'kept' },
  kept_missing: { kind: 'int', sparse: 'kept' },
  biased_logprobs: { kind: 'bool', sparse: 'kept' },
  experts: { kind: 'json', list: true, sparse: 'experts' },
  experts_missing: { kind: 'bool', sparse: 'experts' },
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
  token_rewards: { kind: 'float', list: true, sparse: 'credit' },
  weight: { kind: 'float', sparse: 'calls' },
};

export const rolloutTable: RowForm<RolloutColumns> = {
  columns: ROLLOUT_COLUMNS,
  rowsOf: (trajectory, labels) => [neutralRow(trajectory, labels)],
  tokensOf: ({ prompt_ids: prompt, response_ids: response, kept_ids: sets = [] }) =>
    prompt.length + response.length + sets.reduce((sum, set) => sum + (set?.length ?? 0), 0),
};

export const parquet: Exporter = {
  name: 'parquet',
  extension: 'parquet',
  needsIds: true,
  grouped: true,
  advantages: true,
  masks: true,
  description: 'the rows as one Parquet file, for datasets and pyarrow',
  lines: (trajectory, labels) => [JSON.stringify(neutralRow(trajectory, labels))],
  open: () => openParquet(rolloutTable),
};

type Kind = 'text' | 'json' | 'int' | 'long' | 'double' | 'float' | 'bool';
interface Column {
  readonly kind: Kind;
  readonly list?: true | 'of lists';
  /** Rows may lack it: a file has all columns of this name, or none. */
  readonly sparse?: 'kept' | 'experts' | 'credit' | 'calls';
}

/** The rows of a file: their columns, and what one trajectory gives. */
interface RowForm<Row extends { readonly query: string }> {
  readonly columns: Readonly<Record<keyof Row & string, Column>>;
  /** Throws StoreError before its first row. */
  rowsOf(trajectory: Trajectory, labels: Labels): Iterable<Row>;
  /** The memory that a row takes, as tokens. */
  tokensOf(row: Row): number;
}

const ELEMENT: Readonly<Record<Kind, Omit<SchemaElement, 'name'>>> = {
  text: { type: 'BYTE_ARRAY', converted_type: 'UTF8' },
  json: { type: 'BYTE_ARRAY', converted_type: 'UTF8' },
  int: { type: 'INT32' },
  long: { type: 'INT64' },
  double: { type: 'DOUBLE' },
  float: { type: 'FLOAT' },
  bool: { type: 'BOOLEAN' },
};

/** A row group ends with the query in which it has so many. */
const GROUP_TOKENS = 1 << 17;
/** So many times that: then it ends within a query, which bounds the memory. */
const MOST_TIMES = 8;

export function openParquet<Row extends { readonly query: string }>(
  { columns, rowsOf, tokensOf }: RowForm<Row>,
  groupTokens = GROUP_TOKENS,
): Encoder {
  const all = Object.keys(columns) as (keyof Row & string)[];
  const sparseIn = (row: Row) => all.flatMap((name) => (row[name] === undefined ? [] : (columns[name].sparse ?? [])));
  const out = drained();
  let file: { readonly names: typeof all; readonly writer: ParquetWriter } | undefined;
  /** Begun with the first rows, which tell its columns. */
  function begun() {
    const found = new Set(rows.flatMap(sparseIn));
    const names = all.filter((name) => (({ sparse }) => sparse === undefined || found.has(sparse))(columns[name]));
    const schema = schemaOf(Object.fromEntries(names.map((name) => [name, columns[name]])));
    return (file ??= { names, writer: new ParquetWriter({ writer: out.writer, schema, createdBy: 'everturn' }) });
  }
  let rows: Row[] = [];
  let tokens = 0;
  let added = 0;
  function flush(): Uint8Array[] {
    if (rows.length > 0) {
      const { names, writer } = begun();
      const columnData = names.map((name) => ({ name, data: rows.map((row) => cell(columns[name], row[name])) }));
      void writer.write({ columnData, rowGroupSize: rows.length });
    }
    rows = [];
    tokens = 0;
    return out.take();
  }
  return {
    get rows() {
      return added;
    },
    add(trajectory, labels) {
      const before: Uint8Array[] = [];
      for (const row of rowsOf(trajectory, labels)) {
        if (file && all.some((name) => row[name] !== undefined && !file!.names.includes(name))) throw noColumn(row);
        const isNext = row.query !== rows.at(-1)?.query;
        if (tokens >= (isNext ? groupTokens : MOST_TIMES * groupTokens)) before.push(...flush());
        rows.push(row);
        added++;
        tokens += tokensOf(row);
      }
      return before;
    },
    end() {
      const before = flush();
      void begun().writer.finish();
      return [...before, ...out.take()];
    },
  };
}

const noColumn = ({ query }: { readonly query: string }): StoreError =>
  new StoreError(`query ${JSON.stringify(query)}: it has fields that the first rows of the file lack`, {
    reason: 'record-broken',
    fix: 'Export rows as lines: --format rows.',
  });

/** Every column may be null, and every list in one; every other element of a list is there. */
function schemaOf(columns: Readonly<Record<string, Column>>): SchemaElement[] {
  const named = Object.entries(columns);
  return [
    { name: 'schema', num_children: named.length },
    ...named.flatMap(([name, { kind, list }]): SchemaElement[] =>
      list
        ? [
            ...listNamed(name),
            ...(list === 'of lists' ? listNamed('element') : []),
            { name: 'element', repetition_type: 'REQUIRED', ...ELEMENT[kind] },
          ]
        : [{ name, repetition_type: 'OPTIONAL', ...ELEMENT[kind] }],
    ),
  ];
}

const listNamed = (name: string): SchemaElement[] => [
  { name, repetition_type: 'OPTIONAL', converted_type: 'LIST', num_children: 1 },
  { name: 'list', repetition_type: 'REPEATED', num_children: 1 },
];

function cell({ kind }: Column, value: unknown): unknown {
  if (kind === 'json') return (value as readonly unknown[] | undefined)?.map((one) => JSON.stringify(one));
  return kind === 'long' && value !== null ? BigInt(value as number) : value;
}

/** The library's writer keeps all bytes; here they are handed out, and its offsets go on counting. */
function drained() {
  const writer = new ByteWriter();
  return {
    writer,
    take(): Uint8Array[] {
      const bytes = writer.getBytes().slice();
      writer.index = 0;
      return bytes.length > 0 ? [bytes] : [];
    },
  };
}
