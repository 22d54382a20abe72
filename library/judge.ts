// The judge of answers for a program, loaded with its first use.

import type { JudgedPair, JudgeOptions } from './judge-pairs.ts';
import { mustTake } from './open-run.ts';
import { toldItems } from './told.ts';

/**
 * Judges answers without a model or a run: a file of JSON lines `{id, answer, solutions | input_output}`, or a stream of its bytes. One
 * verdict for each line, in order. Throws a DatasetError for a file that cannot be read, a SandboxError for code without a sandbox.
 */
export function judgePairs(
  pairs: string | AsyncIterable<Buffer>,
  options: JudgeOptions = {},
): AsyncGenerator<JudgedPair> {
  return toldItems(judged(pairs, options));
}

async function* judged(pairs: string | AsyncIterable<Buffer>, options: JudgeOptions): AsyncGenerator<JudgedPair> {
  await mustTake('judgePairs', options);
  const { judgedPairs } = await import('./judge-pairs.ts');
  yield* judgedPairs(pairs, options);
}
