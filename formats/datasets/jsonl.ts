// JSON lines: one row a line, streamed. A bad row never hides another; blank lines are skipped. Memory: one block, one
// line, and the ids seen so far. A `.json` may be one array instead: its elements are the rows, numbered from 1.

import { datasetOf, type NumberedRow } from './read-rows.ts';
import type { RowReading } from './row.ts';
import type { Dataset } from './dataset.ts';
import { MAX_LINE_BYTES, parseJsonLine } from './json-line.ts';
import { type Line, readLines } from './lines.ts';

export function jsonlDataset(path: string, reading?: RowReading, files = [path]): Dataset {
  return datasetOf({ path, files, batches, emptyFix: 'Write one JSON object per line.' }, reading);
}

async function* batches(file: string): AsyncGenerator<NumberedRow[]> {
  const lines = readLines(file, MAX_LINE_BYTES);
  for await (const rows of /\.json(?:\.gz)?$/i.test(file) ? elements(lines) : lines) {
    yield rows.flatMap((line) => {
      const read = parseJsonLine(line);
      return read ? [{ number: line.number, read }] : [];
    });
  }
}

const SIGN = /\\.|["[\]{},]/g;

/** The elements of an array as lines, each as it is written; any other file's lines as they are. */
async function* elements(groups: AsyncIterable<readonly Line[]>): AsyncGenerator<readonly Line[]> {
  let isArray: boolean | undefined;
  let number = 1;
  let depth = 0;
  let element = '';
  const ended = (): Line => {
    const text = element;
    element = '';
    return { number: number++, text, flaw: null, length: 0 };
  };
  for await (const group of groups) {
    isArray ??= group
      .find(({ text }) => text?.trim() !== '')
      ?.text?.trimStart()
      .startsWith('[');
    if (!isArray) {
      yield group;
      continue;
    }
    const found: Line[] = [];
    for (const line of group) {
      if (line.text === null) {
        found.push({ ...line, number });
        continue;
      }
      let from = 0;
      // JSON breaks no text into lines.
      let isText = false;
      for (const { index, 0: sign } of line.text.matchAll(SIGN)) {
        if (sign === '"') isText = !isText;
        if (isText || sign.startsWith('\\')) continue;
        const isOuter = depth === 1 && (sign === ',' || sign === ']');
        const opens = sign === '[' || sign === '{';
        if ((opens && depth === 0) || isOuter) {
          element += line.text.slice(from, index);
          from = index + 1;
        }
        if (isOuter) found.push(ended());
        depth += opens ? 1 : sign === ']' || sign === '}' ? -1 : 0;
      }
      element += `${line.text.slice(from)}\n`;
    }
    yield found;
  }
  if (element.trim() !== '') yield [ended()];
}
