// One line of a file as JSON, or what is wrong with the line; and what is wrong with a file that cannot be read.

import { stat } from 'node:fs/promises';
import { DatasetError } from '../domain/errors.ts';
import type { Line } from './lines.ts';
import { printable, wrong, type Problem } from './problem.ts';
import { FROM_ARRAY } from './row.ts';

export const MAX_LINE_BYTES = 64 * 1024 * 1024;

/** Undefined for a blank line. */
export function readJson(line: Line): { readonly json: unknown } | { readonly problem: Problem } | undefined {
  if (line.text === null) return { problem: flawOf(line) };
  try {
    return { json: JSON.parse(line.text) };
  } catch (error) {
    const text = line.text.trim();
    if (text === '') return undefined;
    const hint = /^[[{]+$/.test(text) ? FROM_ARRAY : '';
    const problem = `is not JSON: ${jsonProblem(error)}`;
    return { problem: wrong(null, problem, `Write one whole JSON object per line.${hint}`) };
  }
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

export async function mustBeFile(file: string): Promise<void> {
  const found = await stat(file).catch((error: unknown) => {
    throw unreadable(file, error);
  });
  if (!found.isDirectory()) return;
  throw new DatasetError(`${file} is a folder`, { reason: 'dataset-is-folder', fix: 'Name a file of JSON lines.' });
}

export function unreadable(file: string, cause: unknown): DatasetError {
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
