// Proves that a record has the form that our own writer gives it: the fields of its table and no others, each of its type, in
// the canonical text. A doubled key, `-0`, `1e400` or other spacing has a valid hash but another meaning in other readers.
// Not covered: whether values fit together.

import { flawIn } from '../../domain/schema/fields.ts';
import { type RecordKind, tableOf } from '../format/kinds.ts';
import { hashOfParsed, type Owner } from '../format/text.ts';
import type { Stored } from '../store.ts';

/** The fault of a record's fields; undefined if there is none. */
export function shapeProblem(kind: RecordKind, record: object): string | undefined {
  const { format: _, ...fields } = record as { readonly format?: string };
  const table = tableOf(kind, fields);
  return table ? flawIn(table, fields) : 'is of no kind that Everturn knows';
}

/** The fault of a record with a valid hash. */
export function formProblem(
  kind: RecordKind,
  owner: Owner | null,
  { record, hash }: Stored<object>,
): string | undefined {
  const flaw = shapeProblem(kind, record);
  if (flaw !== undefined) return flaw;
  if (hashOfParsed(kind, owner, record) === hash) return undefined;
  return 'is not the text that its content gives: a key stands in it twice, or a number, the order or the spacing is not ours';
}
