// A few threads that answer questions, each with the same script: for work that is too much for one processor, or that waits
// where an event loop must not. One serves all; more are started while those there are have enough to do. A thread that ends
// refuses its questions. Idle threads never keep the process alive. Not covered: what structuredClone cannot copy.

import { parentPort, type ResourceLimits, Worker } from 'node:worker_threads';

interface Threads<Ask, Answer> {
  /** Rejects if the thread failed, with its message alone. */
  ask(question: Ask): Promise<Answer>;
  /** Waits for the questions in flight. */
  close(): Promise<void>;
}

interface ThreadOptions {
  readonly script: () => string;
  /** The script's `workerData`. */
  readonly beginning?: unknown;
  /** Threads at most. */
  readonly most: number;
  /** Questions in flight on one thread before another is started. */
  readonly many: number;
  readonly resourceLimits?: ResourceLimits;
}

interface Message<T> {
  readonly id: number;
  readonly value?: T;
  readonly error?: string;
}

interface Pending {
  readonly resolve: (value: never) => void;
  readonly reject: (error: Error) => void;
}

interface Thread {
  readonly worker: Worker;
  readonly pending: Map<number, Pending>;
  /** Questions of this moment, which share one message. */
  asked: Message<unknown>[];
  onIdle: () => void;
}

export function openThreads<Ask, Answer>(options: ThreadOptions): Threads<Ask, Answer> {
  const { script, beginning, most, many, resourceLimits = {} } = options;
  const threads: Thread[] = [];
  let last = 0;

  function start(): Thread {
    const worker = new Worker(script(), { workerData: beginning, resourceLimits });
    const thread: Thread = { worker, pending: new Map(), asked: [], onIdle: () => {} };
    const { pending } = thread;
    const rest = () => {
      worker.unref();
      thread.onIdle();
    };
    worker.unref();
    let reason = 'it was ended';
    worker.on('error', (error) => (reason = String(error)));
    worker.on('exit', () => {
      threads.splice(threads.indexOf(thread), 1);
      for (const { reject } of pending.values()) reject(new Error(`A thread ended: ${reason}`));
      pending.clear();
      rest();
    });
    worker.on('message', (replies: readonly Message<never>[]) => {
      for (const { id, value, error } of replies) {
        const asked = pending.get(id);
        pending.delete(id);
        if (error === undefined) asked?.resolve(value as never);
        else asked?.reject(new Error(error));
      }
      if (pending.size === 0) rest();
    });
    threads.push(thread);
    return thread;
  }

  function least(): Thread {
    let known: Thread | undefined;
    for (const thread of threads) if (!known || thread.pending.size < known.pending.size) known = thread;
    return known && (known.pending.size < many || threads.length >= most) ? known : start();
  }

  function send(thread: Thread): void {
    const { asked } = thread;
    thread.asked = [];
    try {
      // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread, no window
      thread.worker.postMessage(asked);
    } catch (error) {
      for (const { id } of asked) {
        thread.pending.get(id)?.reject(error as Error);
        thread.pending.delete(id);
      }
      if (thread.pending.size === 0) thread.worker.unref();
    }
  }

  return {
    async ask(question) {
      const thread = least();
      return new Promise<Answer>((resolve, reject) => {
        const id = ++last;
        if (thread.pending.size === 0) thread.worker.ref();
        thread.pending.set(id, { resolve, reject });
        if (thread.asked.push({ id, value: question }) === 1) queueMicrotask(() => send(thread));
      });
    },
    async close() {
      await Promise.all(
        threads.map(async (thread) => {
          if (thread.pending.size > 0) await new Promise<void>((resolve) => (thread.onIdle = resolve));
          await thread.worker.terminate();
        }),
      );
    },
  };
}

/** Answers each question in its thread as it comes. Answers that are ready at the same time share one message. */
export function answerQuestions<Ask, Answer>(answer: (question: Ask) => Promise<Answer>): void {
  let replies: Message<Answer>[] = [];
  function send(reply: Message<Answer>): void {
    if (replies.push(reply) > 1) return;
    setImmediate(() => {
      // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread, no window
      parentPort!.postMessage(replies);
      replies = [];
    });
  }
  parentPort!.on('message', (asked: readonly Message<Ask>[]) => {
    for (const { id, value } of asked)
      answer(value as Ask).then(
        (found) => send({ id, value: found }),
        (error: unknown) => send({ id, error: String(error) }),
      );
  });
}
