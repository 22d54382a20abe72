// Tokenises long texts in a thread of their own, so that a worker's event loop (heartbeats, Temporal) never waits for
// one. The thread is started by the first long text, ends after a quiet minute, and never keeps the process alive.

import { Worker } from 'node:worker_threads';

import { ModelError } from '../../domain/errors.ts';
import type { TokenizerFiles } from './tokenizer-engine.ts';
import type { FromThread, ToThread } from './tokenizer-thread.ts';

const IDLE_MS = 60_000;

interface Pending {
  readonly resolve: (ids: number[]) => void;
  readonly reject: (error: ModelError) => void;
}

export class LongTexts {
  readonly #entry: () => string;
  readonly #files: TokenizerFiles;
  readonly #pending = new Map<number, Pending>();
  #thread: Worker | null = null;
  #idle: NodeJS.Timeout | undefined;
  #nextId = 1;

  /** `entry` gives the path of the compiled tokenizer-thread. */
  constructor(entry: () => string, files: TokenizerFiles) {
    this.#entry = entry;
    this.#files = files;
  }

  encode(text: string, addSpecialTokens: boolean): Promise<number[]> {
    const thread = (this.#thread ??= this.#start());
    clearTimeout(this.#idle);
    const message: ToThread = { id: this.#nextId++, text, addSpecialTokens };
    return new Promise((resolve, reject) => {
      this.#pending.set(message.id, { resolve, reject });
      thread.ref();
      // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread, no window
      thread.postMessage(message);
    });
  }

  async close(): Promise<void> {
    clearTimeout(this.#idle);
    await this.#thread?.terminate();
  }

  #start(): Worker {
    const thread = new Worker(this.#entry(), { workerData: this.#files });
    thread.on('message', (message: FromThread) => {
      const pending = this.#pending.get(message.id);
      this.#pending.delete(message.id);
      if (this.#pending.size === 0) this.#rest(thread);
      if ('ids' in message) pending?.resolve(toArray(message.ids));
      else pending?.reject(failed(message.error, false));
    });
    let reason = 'it was ended';
    thread.on('error', (error) => (reason = String(error)));
    thread.on('exit', () => {
      if (this.#thread !== thread) return;
      this.#thread = null;
      for (const { reject } of this.#pending.values()) reject(failed(reason, true));
      this.#pending.clear();
    });
    return thread;
  }

  #rest(thread: Worker): void {
    thread.unref();
    this.#idle = setTimeout(() => {
      this.#thread = null; // a text that comes now gets a new one
      void thread.terminate();
    }, IDLE_MS).unref();
  }
}

/** Array.from() takes ten times as long, on the loop. */
function toArray(ids: Int32Array): number[] {
  const array: number[] = [];
  for (const id of ids) array.push(id);
  return array;
}

function failed(reason: string, retryable: boolean): ModelError {
  return new ModelError(`A long text could not be tokenised: ${reason}`, { reason: 'tokenizer-failed', retryable });
}
