// A CSV file's records as bytes: a record ends at a line end outside quotes, as RFC 4180 has it. A quote opens a field only
// at the field's start. One block of the file in memory, and one record up to a limit; a longer one is counted and skipped.

export interface CsvRecord {
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
