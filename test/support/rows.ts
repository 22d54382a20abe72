// Rows of a test, one JSON value a line, in a file beside it.

import { readFileSync } from 'node:fs';

/** `url`: its `import.meta.url`. */
export function rowsOf<T>(name: string, url: string): T[] {
  const lines = readFileSync(new URL(name, url), 'utf8').trimEnd().split('\n');
  return lines.map((line) => JSON.parse(line) as T);
}
