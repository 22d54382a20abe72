// One row that came by itself, through a workflow's input: parsed, or refused with the field at fault.

import { DatasetError } from '../../domain/errors/errors.ts';
import type { Problem } from './problem.ts';
import { queryFromRow, type RowEnvironments } from './row.ts';

export function parsedRow(row: Readonly<Record<string, unknown>>, environments: RowEnvironments | undefined) {
  const result = queryFromRow(row, '1', undefined, environments);
  if (result.ok) return result;
  throw rowError(result);
}

export function rowError({ field, problem, fix }: Problem): DatasetError {
  const where = field === null ? 'The row' : `Field \`${field}\` of the row`;
  return new DatasetError(`${where}: ${problem}`, { reason: 'bad-row', fix });
}
