// Rows of trajectories as one Parquet file: a column for each field, each of which may be null. A row group ends with a
// query, so memory holds one. Reading a float column as float32 changes no bit.

import { ByteWriter, ParquetWriter } from 'hyparquet-writer';
import type { SchemaElement } from 'hyparquet';
import type { Trajectory } from '../../domain/rollout/trajectory.ts';
import type { Encoder, Labels } from './exporter.ts';

type Kind = 'text' | 'int' | 'long' | 'double' | 'float' | 'bool';
export interface Column {
  readonly kind: Kind;
  readonly list?: true;
}

/** The rows of a file: their columns, and what one trajectory gives. */
export interface RowForm<Row extends { readonly query: string }> {
  readonly columns: Readonly<Record<keyof Row & string, Column>>;
  /** Throws StoreError before its first row. */
  rowsOf(trajectory: Trajectory, labels: Labels): Iterable<Row>;
  /** The memory that a row takes, as tokens. */
  tokensOf(row: Row): number;
}

const ELEMENT: Readonly<Record<Kind, Omit<SchemaElement, 'name'>>> = {
  text: { type: 'BYTE_ARRAY', converted_type: 'UTF8' },
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
  const names = Object.keys(columns) as (keyof Row & string)[];
  const schema = schemaOf(columns);
  const out = drained();
  const writer = new ParquetWriter({ writer: out.writer, schema, createdBy: 'everturn' });
  let rows: Row[] = [];
  let tokens = 0;
  function flush(): Uint8Array[] {
    if (rows.length > 0) {
      const columnData = names.map((name) => ({ name, data: rows.map((row) => cell(columns[name], row[name])) }));
      void writer.write({ columnData, rowGroupSize: rows.length });
    }
    rows = [];
    tokens = 0;
    return out.take();
  }
  return {
    add(trajectory, labels) {
      const before: Uint8Array[] = [];
      for (const row of rowsOf(trajectory, labels)) {
        const isNext = row.query !== rows.at(-1)?.query;
        if (tokens >= (isNext ? groupTokens : MOST_TIMES * groupTokens)) before.push(...flush());
        rows.push(row);
        tokens += tokensOf(row);
      }
      return before;
    },
    end() {
      const before = flush();
      void writer.finish();
      return [...before, ...out.take()];
    },
  };
}

/** Every column may be null, every element of a list is there. */
function schemaOf(columns: Readonly<Record<string, Column>>): SchemaElement[] {
  const named = Object.entries(columns);
  return [
    { name: 'schema', num_children: named.length },
    ...named.flatMap(([name, { kind, list }]): SchemaElement[] =>
      list
        ? [
            { name, repetition_type: 'OPTIONAL', converted_type: 'LIST', num_children: 1 },
            { name: 'list', repetition_type: 'REPEATED', num_children: 1 },
            { name: 'element', repetition_type: 'REQUIRED', ...ELEMENT[kind] },
          ]
        : [{ name, repetition_type: 'OPTIONAL', ...ELEMENT[kind] }],
    ),
  ];
}

function cell({ kind }: Column, value: unknown): unknown {
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
