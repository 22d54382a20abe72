// A terminal that remembers, a clock that is set by hand, and facts of a run made up for a test.

import type { Io } from '../../cli/io.ts';
import type { CollectionCounts } from '../../domain/run/progress.ts';
import { noCounts } from '../../domain/run/progress.ts';
import type { CollectionProgress, CollectionResult } from '../../domain/run/messages.ts';

export interface ScriptedIo extends Io {
  readonly text: { out: string; err: string };
  readonly clock: { ms: number };
}

export function scriptedIo(
  options: { tty?: boolean; columns?: number; env?: Io['env']; cwd?: string; input?: string } = {},
): ScriptedIo {
  const text = { out: '', err: '' };
  const clock = { ms: 1_000_000 };
  const stream = (name: 'out' | 'err') => ({
    write: (part: string) => (text[name] += part),
    isTTY: options.tty === true,
    columns: options.columns ?? 80,
  });
  return {
    async *input() {
      yield Buffer.from(options.input ?? '');
    },
    out: stream('out'),
    err: stream('err'),
    env: options.env ?? {},
    cwd: options.cwd ?? '/work',
    now: () => clock.ms,
    interrupted: () => new AbortController().signal,
    text,
    clock,
  };
}

export function countsOf(given: Partial<CollectionCounts> = {}): CollectionCounts {
  return { ...noCounts(), ...given, outcomes: { ...noCounts().outcomes, ...given.outcomes } };
}

export function progressOf(given: Partial<CollectionProgress> = {}): CollectionProgress {
  return {
    run: 'r',
    state: 'running',
    total: 100,
    done: 0,
    inFlight: 16,
    maxConcurrent: 16,
    numTurns: 2,
    counts: countsOf(),
    startedAt: 1_000_000,
    ...given,
  };
}

export function resultOf(given: Partial<CollectionResult> = {}): CollectionResult {
  return { run: 'r', total: 4, cancelled: false, numTurns: 2, counts: countsOf(), ...given };
}
