// The lines of a text file, on a disk or in a bucket. Memory: one line.

import { streamOf } from './facts.ts';

/** Each with its LF, if present. Only LF ends a line: a JSON text may hold U+2028. */
export const linesOf = (path: string): AsyncGenerator<string> => linesIn(streamOf(path));

export async function* linesIn(stream: AsyncIterable<Buffer>): AsyncGenerator<string> {
  let rest = '';
  const decoder = new TextDecoder();
  for await (const chunk of stream) {
    const lines = (rest + decoder.decode(chunk, { stream: true })).split('\n');
    rest = lines.pop() ?? '';
    for (const line of lines) yield `${line}\n`;
  }
  rest += decoder.decode();
  if (rest !== '') yield rest;
}
