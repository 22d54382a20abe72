// Rows of CSV as Python's `csv` reads them, where it is not strict: quotes may stand anywhere, and a last one may be missing.
// Undefined where it fails: a carriage return between two characters of a line, or a field above its limit.

const MOST_FIELD = 131_072;

type State = 'field-start' | 'bare' | 'quoted' | 'behind-quote' | 'line-end';

export function csvRows(text: string, delimiter: ',' | '\t'): string[][] | undefined {
  const rows: string[][] = [];
  let row: string[] = [];
  let field = '';
  let state = 'field-start' as State;
  let isBlank = true;
  const endRow = () => {
    if (!isBlank) row.push(field);
    rows.push(row);
    [row, field, state, isBlank] = [[], '', 'field-start', true];
  };
  for (const char of text) {
    if (field.length > MOST_FIELD) return undefined;
    const isEnd = char === '\n' || char === '\r';
    if (state === 'line-end') {
      if (!isEnd) return undefined;
      if (char === '\n') endRow();
    } else if (state === 'quoted') {
      if (char === '"') state = 'behind-quote';
      else field += char;
    } else if (isEnd) {
      if (char === '\n') endRow();
      else state = 'line-end';
    } else {
      isBlank = false;
      if (char === '"' && state === 'field-start') state = 'quoted';
      else if (char === delimiter) {
        row.push(field);
        [field, state] = ['', 'field-start'];
      } else {
        field += char;
        state = char === '"' && state === 'behind-quote' ? 'quoted' : 'bare';
      }
    }
  }
  if (!isBlank || state === 'line-end') endRow();
  return rows;
}
