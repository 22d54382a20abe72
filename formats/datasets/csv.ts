// CSV with a header (RFC 4180; tabs in .tsv; another separator where the header has that alone): one row a record, streamed. A
// record ends at a line end outside quotes; a quote opens a field only at the field's start. A cell is a text; an empty one is
// absent. A cell of a field that holds lists or objects is read as JSON. Bad rows are returned in place. Memory: a block, and one
// record up to a limit.

import { isUtf8 } from 'node:buffer';
import { DatasetError } from '../../domain/errors/errors.ts';
import { datasetOf, type NumberedRow } from './read-rows.ts';
import type { RowReading } from './row.ts';
import type { Dataset } from './dataset.ts';
import { MAX_LINE_BYTES, parseJsonLine, type ReadLine } from './json-line.ts';
import { blocks, isUtf16 } from './lines.ts';
import { type Inexact, ANSWER_FIELDS, WORKED } from './names.ts';
import { shown, rowFault, type RowFault } from './row-fault.ts';

/** Read as JSON where a cell begins as a list or an object. `answer` is not: [1, 2] is an interval. */
const STRUCTURED: ReadonlySet<string> = new Set([
  ...['messages', 'solutions', 'choices', 'options', 'reward_model', 'extra_info'],
]);

export function csvDataset(path: string, reading?: RowReading, files = [path]): Dataset {
  const usual = /\.tsv(?:\.gz)?$/i.test(files[0]!) ? '\t' : ',';
  const emptyFix = `Write a header such as question${usual}answer, and a row a line.`;
  return datasetOf(
    { path, files, batches: (file) => batches(file, usual), columns: (file) => columnsOf(file, usual), emptyFix },
    reading,
  );
}

async function columnsOf(file: string, usual: string): Promise<readonly string[]> {
  let names: readonly string[] = [];
  for await (const _ of batches(file, usual, (header) => (names = header))) if (names.length > 0) break;
  return names.filter((name) => name !== '');
}

/** Spreadsheets write semicolons where the comma is in numbers. The usual one, unless the header has another one alone. */
async function delimiterOf(file: string, usual: string): Promise<string> {
  for await (const records of csvRecords(blocks(file), NONE, MAX_LINE_BYTES)) {
    const first = records.find(({ bytes }) => bytes?.length !== 0);
    if (!first) continue;
    const line = first.bytes?.toString('utf8').replace(/"[^"]*"/g, '') ?? '';
    return [usual, ';', '\t', ','].find((one) => line.includes(one)) ?? usual;
  }
  return usual;
}

const NONE = -1;
/** What Excel takes for the separator, and no header. */
const SEPARATOR = /^\ufeff?sep=.$/;

async function* batches(
  file: string,
  usual: string,
  onHeader: (header: readonly string[]) => void = () => {},
): AsyncGenerator<NumberedRow[]> {
  const delimiter = await delimiterOf(file, usual);
  let header: readonly string[] | undefined;
  for await (const records of csvRecords(blocks(file), delimiter.charCodeAt(0), MAX_LINE_BYTES)) {
    const rows: NumberedRow[] = [];
    for (const record of records) {
      if (record.bytes?.length === 0) continue;
      if (!header && record.length < 10 && SEPARATOR.test(String(record.bytes))) continue;
      if (header) rows.push({ number: record.line, read: rowOf(header, record, delimiter) });
      else onHeader((header = headerOf(file, record, delimiter)));
    }
    yield rows;
  }
}

function headerOf(file: string, record: CsvRecord, delimiter: string): readonly string[] {
  const cells = cellsOf(record, delimiter);
  const refuse = (problem: string, fix: string): never => {
    throw new DatasetError(`${file}:${record.line}: the header ${problem}`, { reason: 'dataset-unreadable', fix });
  };
  if (!Array.isArray(cells)) return refuse((cells as RowFault).problem, (cells as RowFault).fix);
  if ((cells as string[]).some((cell) => cell.trim().includes('\r'))) {
    refuse('holds a carriage return: the lines of this file end in CR alone', 'End lines in LF or CR LF (mac2unix).');
  }
  const names = (cells as string[]).map((name) => name.trim());
  const twice = names.find((name, i) => name !== '' && names.indexOf(name) !== i);
  if (twice !== undefined) refuse(`names ${JSON.stringify(twice)} twice`, 'Name each column once.');
  const [only] = names;
  if (names.length === 1 && only!.includes('|'))
    refuse(`is one column, ${JSON.stringify(only)}`, 'Separate columns with commas, semicolons or tabs.');
  return names;
}

function rowOf(header: readonly string[], record: CsvRecord, delimiter: string): ReadLine {
  const cells = cellsOf(record, delimiter);
  if (!Array.isArray(cells)) return { fault: cells as RowFault };
  const texts = cells as string[];
  if (texts.length !== header.length) {
    const problem = `has ${texts.length} cells, and the header has ${header.length}`;
    return { fault: rowFault(null, problem, 'Put a cell that holds a separator or a quote into quotes.') };
  }
  const row: Record<string, unknown> = Object.create(null) as Record<string, unknown>;
  const inexact = new Set<number>();
  for (const [i, text] of texts.entries()) {
    const name = header[i]!;
    // An empty cell is absent; a column without a name is an index that a table's writer left.
    if (name === '' || text === '') continue;
    const value = valueOf(name, text, delimiter);
    if (value.fault !== undefined) return { fault: { ...value.fault, field: name } };
    row[name] = value.json;
    for (const number of value.inexact) inexact.add(number);
  }
  return { json: { ...row }, inexact };
}

type Value =
  { readonly fault?: undefined; readonly json: unknown; readonly inexact: Inexact } | { readonly fault: RowFault };
const NO_NUMBERS: Inexact = new Set();

/** Words that writers of tables put into a cell without a value. */
const NO_VALUE = /^\s*(?:null|none|nan|nat|undefined|<na>|#?n\/a)\s*$/i;
const DECIMAL_COMMA = /^\s*[-+]?\d+,\d+\s*$/;
const REFERENCES: ReadonlySet<string> = new Set([...ANSWER_FIELDS, ...WORKED]);

function valueOf(name: string, text: string, delimiter: string): Value {
  if (REFERENCES.has(name) && NO_VALUE.test(text)) {
    const fix = `Leave the cell empty where there is none; an answer that is this word is ["${text.trim()}"] in \`solutions\`.`;
    return { fault: rowFault(name, `is ${shown(text)}, which tables write for a missing value`, fix) };
  }
  if (delimiter === ';' && REFERENCES.has(name) && DECIMAL_COMMA.test(text)) {
    const fix = `Write ${text.trim().replace(',', '.')} for a decimal; ["${text.trim()}"] in \`solutions\` is taken as it stands.`;
    return { fault: rowFault(name, `is ${shown(text)}: its comma may be that of a decimal, or of a list`, fix) };
  }
  const asText = { json: text, inexact: NO_NUMBERS };
  if (!(STRUCTURED.has(name) && /^\s*[[{]/.test(text))) return asText;
  const read = parseJsonLine({ number: 1, text, flaw: null, length: 0 });
  if (!read) return asText;
  if (!('fault' in read)) return read;
  const fix = 'Write the cell as JSON: lists and objects with double quotes, as json.dumps writes them.';
  return { fault: rowFault(name, read.fault.problem, fix) };
}

/** The cells of a record as texts, or its fault. */
function cellsOf({ bytes, length, open }: CsvRecord, delimiter: string): string[] | RowFault {
  if (!bytes) {
    const mebibytes = (size: number) => Math.ceil(size / 2 ** 20);
    return rowFault(null, `is ${mebibytes(length)} MiB long`, `A row has at most ${mebibytes(MAX_LINE_BYTES)} MiB.`);
  }
  if (open)
    return rowFault(null, 'opens a quote that nothing closes', 'Close it, or write a quote inside quotes twice.');
  if (!isUtf8(bytes)) {
    const problem = isUtf16(bytes) ? 'is UTF-16, not UTF-8' : 'holds bytes that are not UTF-8';
    return rowFault(null, problem, 'Save the file as UTF-8.');
  }
  const text = bytes.toString('utf8').replace(/^\ufeff/, '');
  const cells: string[] = [];
  for (let at = 0; ; at++) {
    if (text[at] === '"') {
      let cell = '';
      let close = text.indexOf('"', at + 1);
      let from = at + 1;
      while (text[close + 1] === '"') {
        cell += text.slice(from, close + 1);
        from = close + 2;
        close = text.indexOf('"', from);
      }
      cells.push(cell + text.slice(from, close));
      at = close + 1;
      if (at < text.length && text[at] !== delimiter)
        return rowFault(null, 'has text behind a closing quote', 'Write a quote inside quotes twice.');
    } else {
      const end = text.indexOf(delimiter, at);
      cells.push(text.slice(at, end < 0 ? undefined : end));
      at = end < 0 ? text.length : end;
    }
    if (at >= text.length) return cells;
  }
}

interface CsvRecord {
  /** 1-based line on which it begins. */
  readonly line: number;
  /** Without its line end; null if it is too long. */
  readonly bytes: Buffer | null;
  readonly length: number;
  /** A quoted field was never closed: the record ends with the file. */
  readonly open: boolean;
}

const [QUOTE, CR, LF] = [0x22, 0x0d, 0x0a];

export async function* csvRecords(
  blocks: AsyncIterable<Buffer>,
  delimiter: number,
  maxBytes: number,
): AsyncGenerator<CsvRecord[]> {
  // `quote`: a quote inside a quoted field, which ends it or is doubled.
  let state: 'start' | 'plain' | 'quoted' | 'quote' = 'start';
  let parts: Buffer[] = [];
  let length = 0;
  let line = 1;
  let began = 1;

  function keep(part: Buffer): void {
    length += part.length;
    if (length > maxBytes) parts = [];
    else if (part.length > 0) parts.push(part);
  }
  function finish(open: boolean): CsvRecord {
    const whole = parts.length === 1 ? parts[0]! : Buffer.concat(parts);
    const bytes = whole.at(-1) === CR && !open ? whole.subarray(0, -1) : whole;
    const record = { line: began, bytes: length > maxBytes ? null : bytes, length, open };
    [parts, length, state, began] = [[], 0, 'start', line];
    return record;
  }

  for await (const block of blocks) {
    const records: CsvRecord[] = [];
    let from = 0;
    for (let at = 0; at < block.length; at++) {
      const byte = block[at]!;
      if (byte === LF) {
        line++;
        if (state === 'quoted') continue;
        keep(block.subarray(from, at));
        from = at + 1;
        records.push(finish(false));
      } else if (byte === QUOTE) {
        if (state === 'start' || state === 'quote') state = 'quoted';
        else if (state === 'quoted') state = 'quote';
      } else if (state !== 'quoted') {
        state = byte === delimiter ? 'start' : 'plain';
      }
    }
    keep(block.subarray(from));
    yield records;
  }
  if (length > 0) yield [finish(state === 'quoted')];
}
