// JSON lines: one row a line, streamed. A bad row never hides another; blank lines are skipped. Memory: one block, one
// line, and the ids seen so far.

import { acceptedRows, type NumberedRow } from './accepted-rows.ts';
import type { RowReading } from './row.ts';
import type { Dataset } from './dataset.ts';
import { MAX_LINE_BYTES, readJson } from './json-line.ts';
import { readLines } from './lines.ts';

export function jsonlDataset(file: string, reading?: RowReading): Dataset {
  return { rows: () => acceptedRows(file, () => batches(file), 'Write one JSON object per line.', reading) };
}

async function* batches(file: string): AsyncGenerator<NumberedRow[]> {
  for await (const lines of readLines(file, MAX_LINE_BYTES)) {
    yield lines.flatMap((line) => {
      const read = readJson(line);
      return read ? [{ number: line.number, read }] : [];
    });
  }
}
