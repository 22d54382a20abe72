// A thread that reads and writes files for threaded-disk.ts. It waits only for fsync, and serves other calls meanwhile.

import { StoreError } from '../../domain/errors/errors.ts';
import type { Reason } from '../../domain/errors/reasons.ts';
import { answerQuestions } from '../../local/machine/threads.ts';
import { type Disk, openDisk } from './disk.ts';
import { BLOCKING_FILES } from '../disk/blocking-files.ts';

export interface Call {
  readonly name: keyof Disk;
  readonly args: readonly unknown[];
}

export type Reply = { readonly value: unknown } | { readonly error: ErrorFacts };

/** The parts of an error that survive the message between threads. */
export interface ErrorFacts {
  readonly message: string;
  /** Null for an error that is not a StoreError. */
  readonly store: { readonly reason: Reason<'store'>; readonly fix: string | null; readonly retryable: boolean } | null;
  readonly cause: { readonly message: string; readonly code: string | null } | null;
}

const disk = openDisk(BLOCKING_FILES) as unknown as Record<
  keyof Disk,
  (...args: readonly unknown[]) => Promise<unknown>
>;

answerQuestions<Call, Reply>(({ name, args }) =>
  disk[name](...args).then(
    (value) => ({ value }),
    (error: unknown) => ({ error: factsOf(error) }),
  ),
);

function factsOf(error: unknown): ErrorFacts {
  const { cause } = error as Error;
  return {
    message: error instanceof Error ? error.message : String(error),
    store:
      error instanceof StoreError ? { reason: error.reason, fix: error.fix ?? null, retryable: error.retryable } : null,
    cause:
      cause instanceof Error ? { message: cause.message, code: (cause as NodeJS.ErrnoException).code ?? null } : null,
  };
}
