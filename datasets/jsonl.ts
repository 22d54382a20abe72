// JSON lines: one row a line, streamed. Every row comes out good or with what is wrong with it, in file
// order; a bad row never hides another. Memory: one block, one line, and the ids seen so far.

import { stat } from 'node:fs/promises';
import { DatasetError } from '../domain/errors.ts';
import type { BadRow, Dataset, Row } from './dataset.ts';
import { readLines, type Line } from './lines.ts';
import { openIdSet, type IdSet } from './id-set.ts';
import { badRowText, printable, wrong, type Problem } from './problem.ts';
import { FROM_ARRAY, idFieldOf, queryFromRow } from './row.ts';

export const MAX_LINE_BYTES = 64 * 1024 * 1024;

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
  if (line.text === null) return bad(flawOf(line));
  let json: unknown;
  try {
    json = JSON.parse(line.text);
  } catch (error) {
    const text = line.text.trim();
    if (text === '') return undefined;
    const hint = /^[[{]+$/.test(text) ? FROM_ARRAY : '';
    return bad(wrong(null, `is not JSON: ${jsonProblem(error)}`, `Write one whole JSON object per line.${hint}`));
  }
  const result = queryFromRow(json, String(line.number));
  if (!result.ok) return bad({ field: result.field, problem: result.problem, fix: result.fix });
  const { query } = result;
  if (!ids.add(query.queryId)) {
    const shown = JSON.stringify(query.queryId);
    const field = idFieldOf(json);
    const problem = field
      ? `${shown} is the id of an earlier row`
      : `is missing, and its line number ${shown} is the id of an earlier row`;
    return bad(wrong(field ?? 'id', problem, 'Give each row an id of its own.'));
  }
  return { ok: true, line: line.number, query };
}

function jsonProblem(error: unknown): string {
  return printable(error instanceof Error ? error.message : String(error), 120);
}

function flawOf({ flaw, length }: Line): Problem {
  if (flaw === 'too-long') {
    const mebibytes = (bytes: number) => Math.ceil(bytes / 2 ** 20);
    return wrong(null, `is ${mebibytes(length)} MiB long`, `A row has at most ${mebibytes(MAX_LINE_BYTES)} MiB.`);
  }
  const problem = flaw === 'utf16' ? 'is UTF-16, not UTF-8' : 'holds bytes that are not UTF-8';
  return wrong(null, problem, 'Save the file as UTF-8.');
}

async function mustBeFile(file: string): Promise<void> {
  const found = await stat(file).catch((error: unknown) => {
    throw unreadable(file, error);
  });
  if (!found.isDirectory()) return;
  throw new DatasetError(`${file} is a folder`, { reason: 'dataset-is-folder', fix: 'Name a file of JSON lines.' });
}

function unreadable(file: string, cause: unknown): DatasetError {
  if (cause instanceof DatasetError) return cause;
  const code = cause instanceof Error && 'code' in cause ? String(cause.code) : '';
  if (code === 'ENOENT' || code === 'ENOTDIR') {
    return new DatasetError(`there is no data set at ${file}`, {
      reason: 'dataset-missing',
      fix: 'Check the path.',
      cause,
    });
  }
  if (code.startsWith('Z_')) {
    return new DatasetError(`${file} is not a whole gzip file`, {
      reason: 'dataset-unreadable',
      fix: 'Pack it again.',
      cause,
    });
  }
  return new DatasetError(`cannot read ${file}`, {
    reason: 'dataset-unreadable',
    fix: 'Check its permissions.',
    cause,
  });
}
