// Judges an answer without a model or a workflow: for users who try the judge, and for a run that is judged again.
// Temporal is not involved, so retryable failures are retried here, a few times; then the answer is undecided.

import { EnvironmentError, JudgeError } from '../domain/errors/errors.ts';
import type { Pair } from '../domain/query/pair.ts';
import type { Query } from '../domain/query/query.ts';
import type { Verdict } from '../domain/rollout/verdict.ts';
import type { Judge } from './environment.ts';
import type { MathJudge } from './math-environment.ts';

export interface PairJudges {
  readonly math: Pick<MathJudge, 'judge'>;
  readonly code: Pick<Judge, 'judge'>;
}

export function judgePair(pair: Pair, { math, code }: PairJudges): Promise<Verdict> {
  const { id, answer, solutions, inputOutput, tests, options } = pair;
  if (pair.judge === 'math') return judgeWithRetries(() => math.judge(answer, solutions, options));
  const query: Query = {
    queryId: id,
    prompt: { kind: 'text', text: '' },
    task: 'code',
    solutions,
    ...(inputOutput && { inputOutput }),
    ...(tests && { tests }),
  };
  const { signal } = new AbortController();
  return judgeWithRetries(() => code.judge(query, answer, { signal, cut: options?.cut ?? false }));
}

const TRIES = 3;

/** A retryable failure that persists leaves the answer undecided, as does any of a user's environment; others are thrown. */
export async function judgeWithRetries<V extends Verdict>(judge: () => Promise<V>): Promise<V | Verdict> {
  for (let n = 1; ; n++) {
    try {
      return await judge();
    } catch (error) {
      const isOwn = error instanceof EnvironmentError;
      if (!isOwn && !(error instanceof JudgeError && error.retryable)) throw error;
      if (!error.retryable || n >= TRIES) return { verdict: 'undecided', reason: error.reason };
    }
  }
}

interface InOrderOptions<T> {
  readonly atOnce: number;
  /** No item is begun while those in progress weigh more than this. */
  readonly mostWeight?: number;
  readonly weigh?: (item: T) => number;
}

interface Open<R> {
  readonly result: Promise<R>;
  readonly weight: number;
}

export async function* inRowOrder<T, R>(
  items: AsyncIterable<T>,
  work: (item: T) => Promise<R>,
  { atOnce, mostWeight = Infinity, weigh = () => 0 }: InOrderOptions<T>,
): AsyncGenerator<R> {
  const source = items[Symbol.asyncIterator]();
  const open: Open<R>[] = [];
  let weight = 0;
  let next: Promise<IteratorResult<T>> | undefined;
  let ended = false;
  try {
    for (;;) {
      const head = open[0];
      const hasRoom = !ended && open.length < atOnce && weight <= mostWeight;
      if (hasRoom) next ??= source.next();
      if (!hasRoom && !head) return;
      const item = hasRoom ? await earlier(next!, head?.result) : undefined;
      if (item === undefined) {
        open.shift();
        weight -= head!.weight;
        yield await head!.result;
        continue;
      }
      next = undefined;
      if (item.done) {
        ended = true;
        continue;
      }
      const begun = { result: work(item.value), weight: weigh(item.value) };
      // It is awaited later; until then its rejection must not count as unhandled.
      begun.result.catch(() => undefined);
      weight += begun.weight;
      open.push(begun);
    }
  } finally {
    // Not awaited: the stream may never settle.
    void source.return?.();
  }
}

/** The stream's next item; undefined if the head's result came first. */
function earlier<T>(
  next: Promise<IteratorResult<T>>,
  head: Promise<unknown> | undefined,
): Promise<IteratorResult<T> | undefined> {
  return head ? Promise.race([next, head.then(() => undefined)]) : next;
}
