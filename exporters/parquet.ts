// The neutral rows as one Parquet file, for `datasets`, pyarrow and the like: a column for each field. A row
// group ends with a query, so memory holds one. Reading a float column as float32 changes no bit.

import { ByteWriter, ParquetWriter } from 'hyparquet-writer';
import type { SchemaElement } from 'hyparquet';
import { type NeutralRow, neutralRow } from '../domain/neutral-row.ts';
import type { Encoder, Exporter } from './exporter.ts';

type Kind = 'text' | 'int' | 'long' | 'double' | 'float' | 'bool';
interface Column {
  readonly kind: Kind;
  readonly list?: true;
}

const COLUMNS: Readonly<Record<keyof NeutralRow, Column>> = {
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
const NAMES = Object.keys(COLUMNS) as (keyof NeutralRow)[];

const ELEMENT: Readonly<Record<Kind, Omit<SchemaElement, 'name'>>> = {
  text: { type: 'BYTE_ARRAY', converted_type: 'UTF8' },
  int: { type: 'INT32' },
  long: { type: 'INT64' },
  double: { type: 'DOUBLE' },
  float: { type: 'FLOAT' },
  bool: { type: 'BOOLEAN' },
};

/** Every column may be null, every element of a list is there. */
const SCHEMA: SchemaElement[] = [
  { name: 'schema', num_children: NAMES.length },
  ...Object.entries(COLUMNS).flatMap(([name, { kind, list }]): SchemaElement[] =>
    list
      ? [
          { name, repetition_type: 'OPTIONAL', converted_type: 'LIST', num_children: 1 },
          { name: 'list', repetition_type: 'REPEATED', num_children: 1 },
          { name: 'element', repetition_type: 'REQUIRED', ...ELEMENT[kind] },
        ]
      : [{ name, repetition_type: 'OPTIONAL', ...ELEMENT[kind] }],
  ),
];

/** A row group ends with the query in which it has so many. */
const GROUP_TOKENS = 1 << 17;
/** So many times that: then it ends within a query, which bounds the memory. */
const MOST_TIMES = 8;

export const parquet: Exporter = {
  name: 'parquet',
  extension: 'parquet',
  forTraining: true,
  grouped: true,
  advantages: 'none',
  description: 'the rows as one Parquet file, for datasets and pyarrow',
  lines: (trajectory, labels) => [JSON.stringify(neutralRow(trajectory, labels))],
  open: () => encoder(),
};

export function encoder(groupTokens = GROUP_TOKENS): Encoder {
  const out = drained();
  const writer = new ParquetWriter({ writer: out.writer, schema: SCHEMA, createdBy: 'everturn' });
  let rows: NeutralRow[] = [];
  let tokens = 0;
  function flush(): Uint8Array[] {
    if (rows.length > 0) {
      const columnData = NAMES.map((name) => ({ name, data: rows.map((row) => cell(COLUMNS[name], row[name])) }));
      void writer.write({ columnData, rowGroupSize: rows.length });
    }
    rows = [];
    tokens = 0;
    return out.take();
  }
  return {
    add(trajectory, labels) {
      const row = neutralRow(trajectory, labels);
      const isNext = row.query !== rows.at(-1)?.query;
      const before = tokens >= (isNext ? groupTokens : MOST_TIMES * groupTokens) ? flush() : [];
      rows.push(row);
      tokens += row.prompt_ids.length + row.response_ids.length;
      return before;
    },
    end() {
      const before = flush();
      void writer.finish();
      return [...before, ...out.take()];
    },
  };
}

function cell({ kind }: Column, value: unknown): unknown {
  return kind === 'long' ? BigInt(value as number) : value;
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
