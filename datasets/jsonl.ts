// JSON lines: one row a line, streamed. Every row is returned, either good or with its fault, in file order; a bad row
// never hides another. Memory: one block, one line, and the ids seen so far.

import { DatasetError } from '../domain/errors.ts';
import type { BadRow, Dataset, Row } from './dataset.ts';
import { readLines, type Line } from './lines.ts';
import { openIdSet, type IdSet } from './id-set.ts';
import { MAX_LINE_BYTES, mustBeFile, readJson, unreadable } from './json-line.ts';
import { badRowText, wrong, type Problem } from './problem.ts';
import { idFieldOf, queryFromRow } from './row.ts';

export function jsonlDataset(file: string): Dataset {
  return { rows: () => rows(file) };
}

async function* rows(file: string): AsyncGenerator<Row> {
  await mustBeFile(file);
  const ids = openIdSet();
  let good = 0;
  let firstBad: BadRow | undefined;
  try {
    for await (const lines of readLines(file, MAX_LINE_BYTES)) {
      for (const line of lines) {
        const row = parseLine(file, line, ids);
        if (!row) continue;
        if (row.ok) good++;
        else firstBad ??= row.bad;
        yield row;
      }
    }
  } catch (error) {
    throw unreadable(file, error);
  }
  if (good > 0) return;
  if (!firstBad) {
    throw new DatasetError(`${file} is empty`, { reason: 'dataset-empty', fix: 'Write one JSON object per line.' });
  }
  throw new DatasetError(`${file} has no good row. The first: ${badRowText(firstBad)}`, {
    reason: 'dataset-no-good-row',
  });
}

/** Undefined for a blank line. */
function parseLine(file: string, line: Line, ids: IdSet): Row | undefined {
  const bad = (problem: Problem): Row => ({ ok: false, bad: { file, line: line.number, ...problem } });
  const read = readJson(line);
  if (!read) return undefined;
  if ('problem' in read) return bad(read.problem);
  const { json, inexact } = read;
  const result = queryFromRow(json, String(line.number), inexact);
  if (!result.ok) return bad({ field: result.field, problem: result.problem, fix: result.fix });
  const { query, stated } = result;
  if (!ids.add(query.queryId)) {
    const shown = JSON.stringify(query.queryId);
    const field = idFieldOf(json);
    const problem = field
      ? `${shown} is the id of an earlier row`
      : `is missing, and its line number ${shown} is the id of an earlier row`;
    return bad(wrong(field ?? 'id', problem, 'Give each row an id of its own.'));
  }
  return { ok: true, line: line.number, query, stated };
}
