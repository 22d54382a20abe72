// A disk whose calls run on threads, one message each way: for a worker whose event loop must not wait for files and
// is short of CPU. One thread serves all; if the disk is slow, more are started.

import { StoreError } from '../../domain/errors/errors.ts';
import { compiledScript } from '../../local/machine/compiled.ts';
import { openThreads } from '../../local/machine/threads.ts';
import type { Disk } from './disk.ts';
import type { Call, ErrorFacts, Reply } from './thread.ts';

export interface ThreadedDisk extends Disk {
  /** Waits for the calls in flight. */
  close(): Promise<void>;
}

const threadScript = (): string => compiledScript('./thread', import.meta.url, StoreError);

export function openThreadedDisk(script: () => string = threadScript): ThreadedDisk {
  // Texts are short-lived: a large young generation would only take memory.
  const resourceLimits = { maxYoungGenerationSizeMb: 8 };
  const threads = openThreads<Call, Reply>({ script, most: 4, many: 64, resourceLimits });

  function call<K extends keyof Disk>(name: K) {
    return async (...args: Parameters<Disk[K]>): Promise<Awaited<ReturnType<Disk[K]>>> => {
      const reply = await threads.ask({ name, args }).catch(ended);
      if ('error' in reply) throw asError(reply.error);
      return reply.value as Awaited<ReturnType<Disk[K]>>;
    };
  }

  return {
    read: call('read'),
    look: call('look'),
    isThere: call('isThere'),
    writeOnce: call('writeOnce'),
    writeBeside: call('writeBeside'),
    draft: call('draft'),
    settle: call('settle'),
    end: call('end'),
    close: threads.close,
  };
}

function asError({ message, store, cause: facts }: ErrorFacts): Error {
  const cause = facts && Object.assign(new Error(facts.message), facts.code === null ? {} : { code: facts.code });
  if (!store) return new Error(message, { cause });
  const { reason, fix, retryable } = store;
  return new StoreError(message, { reason, retryable, ...(fix === null ? {} : { fix }), ...(cause ? { cause } : {}) });
}

function ended(error: unknown): never {
  if (error instanceof StoreError) throw error;
  throw new StoreError(`A call of the run's files came to nothing. ${(error as Error).message}`, {
    reason: 'disk-thread',
    retryable: true,
  });
}
