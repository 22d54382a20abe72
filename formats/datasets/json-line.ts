// Parses one line of a file as JSON, or reports the line's fault; and reports the fault of an unreadable file.

import { stat } from 'node:fs/promises';
import { short } from '../../domain/text/foreign-text.ts';
import { DatasetError, EverturnError } from '../../domain/errors/errors.ts';
import { deeperThan, jsonFacts, MAX_NESTING } from '../../domain/text/json-text.ts';
import type { Line } from './lines.ts';
import type { Inexact } from './names.ts';
import { isObject } from '../../domain/schema/fields.ts';
import { FROM_ARRAY, rowFault, type RowFault } from './row-fault.ts';

export const MAX_LINE_BYTES = 64 * 1024 * 1024;

export type ReadLine =
  { readonly json: unknown; readonly inexact: Inexact } | { readonly fault: RowFault; readonly json?: undefined };

/** Undefined for a blank line. */
export function parseJsonLine(line: Line): ReadLine | undefined {
  if (line.text === null) return { fault: flawOf(line) };
  const { text } = line;
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch (error) {
    return text.trim() === '' ? undefined : { fault: notJson(text, error) };
  }
  const { doubled, inexact, tooDeep } = jsonFacts(text, json);
  if (tooDeep) return { fault: tooDeepIn(json) };
  if (doubled === undefined) return { json, inexact };
  return { fault: rowFault(short(doubled, 80), 'stands twice in one object', 'Keep one of them.') };
}

function notJson(text: string, error: unknown): RowFault {
  if (text.startsWith('\ufeff'))
    return rowFault(null, 'begins with a byte order mark', 'Leave the mark out; were two files joined?');
  const said = error instanceof Error ? error.message : '';
  // Python writes these.
  const number =
    /^(?:Unexpected token '?[NI]|No number after minus)/.test(said) && /\b(?:NaN|Infinity)\b/.exec(text)?.[0];
  if (number) return rowFault(null, `holds ${number}, which JSON does not have`, 'Write null, or leave the field out.');
  const hint = /^[[{]+$/.test(text.trim()) ? FROM_ARRAY : '';
  return rowFault(null, `is not JSON: ${jsonProblem(error)}`, `Write one whole JSON object per line.${hint}`);
}

function tooDeepIn(json: unknown): RowFault {
  const fields = isObject(json) ? Object.entries(json) : [];
  const field = fields.find(([, value]) => deeperThan(value, MAX_NESTING - 1))?.[0] ?? null;
  const problem = `is nested deeper than ${MAX_NESTING} levels`;
  return rowFault(field && short(field, 80), problem, 'Flatten it, or leave it out.');
}

function jsonProblem(error: unknown): string {
  return short(error instanceof Error ? error.message : String(error), 120);
}

function flawOf({ flaw, length }: Line): RowFault {
  if (flaw === 'too-long') {
    const mebibytes = (bytes: number) => Math.ceil(bytes / 2 ** 20);
    return rowFault(null, `is ${mebibytes(length)} MiB long`, `A row has at most ${mebibytes(MAX_LINE_BYTES)} MiB.`);
  }
  const problem = flaw === 'utf16' ? 'is UTF-16, not UTF-8' : 'holds bytes that are not UTF-8';
  return rowFault(null, problem, 'Save the file as UTF-8.');
}

export async function mustBeFile(file: string): Promise<void> {
  const found = await stat(file).catch((error: unknown) => {
    throw unreadable(file, error);
  });
  if (!found.isDirectory()) return;
  throw new DatasetError(`${file} is a folder`, { reason: 'dataset-is-folder', fix: 'Name a file of JSON lines.' });
}

export function unreadable(file: string, cause: unknown): EverturnError {
  if (cause instanceof EverturnError) return cause;
  const code = cause instanceof Error && 'code' in cause ? String(cause.code) : '';
  if (code === 'ENOENT' || code === 'ENOTDIR') {
    return new DatasetError(`there is no data set at ${file}`, {
      reason: 'dataset-missing',
      fix: 'Check the path.',
      cause,
    });
  }
  if (code.startsWith('Z_')) {
    return new DatasetError(`${file} is not a complete gzip file`, {
      reason: 'dataset-unreadable',
      fix: 'Compress it again.',
      cause,
    });
  }
  return new DatasetError(`cannot read ${file}`, {
    reason: 'dataset-unreadable',
    fix: 'Check its permissions.',
    cause,
  });
}
