// JSON lines, as the command line prints and writes them.

/** One value for each line that holds one. */
export function jsonLines<T>(text: string): T[] {
  return text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as T);
}
