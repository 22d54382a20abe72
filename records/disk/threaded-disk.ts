// A disk whose calls run on threads, one message each way: for a worker whose event loop must not wait for files and
// is short of CPU. One thread serves all; if the disk is slow, more are started. Idle threads never keep the process
// alive.

import { Worker } from 'node:worker_threads';
import { StoreError } from '../../domain/errors/errors.ts';
import { compiledScript } from '../../local/machine/compiled.ts';
import type { Disk } from './disk.ts';
import type { Call, ErrorFacts, Reply } from './thread.ts';

export interface ThreadedDisk extends Disk {
  /** Waits for the calls in flight. */
  close(): Promise<void>;
}

const MAX_THREADS = 4;
/** Calls in flight on one thread before another thread is started. */
const MANY = 64;

const threadScript = (): string => compiledScript('./thread', import.meta.url, StoreError);

export function openThreadedDisk(entry: () => string = threadScript): ThreadedDisk {
  const threads: DiskThread[] = [];

  function least(): DiskThread {
    const known = threads.reduce<DiskThread | undefined>((a, b) => (a && a.busy <= b.busy ? a : b), undefined);
    if (known && (known.busy < MANY || threads.length === MAX_THREADS)) return known;
    const fresh = new DiskThread(entry(), () => threads.splice(threads.indexOf(fresh), 1));
    threads.push(fresh);
    return fresh;
  }
  const call =
    <K extends keyof Disk>(name: K) =>
    (...args: Parameters<Disk[K]>) =>
      least().call(name, args) as ReturnType<Disk[K]>;

  return {
    read: call('read'),
    look: call('look'),
    writeOnce: call('writeOnce'),
    writeBeside: call('writeBeside'),
    draft: call('draft'),
    settle: call('settle'),
    end: call('end'),
    close: async () => {
      await Promise.all(threads.map((thread) => thread.end()));
    },
  };
}

interface Pending {
  readonly resolve: (value: unknown) => void;
  readonly reject: (error: unknown) => void;
}

class DiskThread {
  readonly #thread: Worker;
  readonly #pending = new Map<number, Pending>();
  #calls: Call[] = [];
  #lastId = 0;
  #idle: (() => void) | undefined;

  constructor(entry: string, onEnd: () => void) {
    // Texts are short-lived: a large young generation would only take memory.
    this.#thread = new Worker(entry, { resourceLimits: { maxYoungGenerationSizeMb: 8 } });
    this.#thread.unref();
    this.#thread.on('message', (replies: readonly Reply[]) => replies.forEach((reply) => this.#take(reply)));
    let reason = 'it was ended';
    this.#thread.on('error', (error) => (reason = String(error)));
    this.#thread.on('exit', () => {
      onEnd();
      for (const { reject } of this.#pending.values()) reject(ended(reason));
      this.#pending.clear();
      this.#idle?.();
    });
  }

  get busy(): number {
    return this.#pending.size;
  }

  call(name: keyof Disk, args: readonly unknown[]): Promise<unknown> {
    return new Promise((resolve, reject) => {
      const id = ++this.#lastId;
      if (this.#pending.size === 0) this.#thread.ref();
      this.#pending.set(id, { resolve, reject });
      // Calls of the same moment share one message.
      if (this.#calls.push({ id, name, args }) === 1) queueMicrotask(() => this.#send());
    });
  }

  async end(): Promise<void> {
    if (this.#pending.size > 0) await new Promise<void>((resolve) => (this.#idle = resolve));
    await this.#thread.terminate();
  }

  #send(): void {
    const calls = this.#calls;
    this.#calls = [];
    // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread, no window
    this.#thread.postMessage(calls);
  }

  #take(reply: Reply): void {
    const pending = this.#pending.get(reply.id);
    this.#pending.delete(reply.id);
    if ('error' in reply) pending?.reject(asError(reply.error));
    else pending?.resolve(reply.value);
    if (this.#pending.size > 0) return;
    this.#thread.unref();
    this.#idle?.();
  }
}

function asError({ message, store, cause: facts }: ErrorFacts): Error {
  const cause = facts && Object.assign(new Error(facts.message), facts.code === null ? {} : { code: facts.code });
  if (!store) return new Error(message, { cause });
  const { reason, fix, retryable } = store;
  return new StoreError(message, { reason, retryable, ...(fix === null ? {} : { fix }), ...(cause ? { cause } : {}) });
}

function ended(reason: string): StoreError {
  return new StoreError(`The thread that writes the run's files ended: ${reason}`, {
    reason: 'disk-thread',
    retryable: true,
  });
}
