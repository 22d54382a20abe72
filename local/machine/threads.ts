// A few threads that answer questions, each with the same script and the same beginning: for work that is too much for one
// processor and whose answers are small. A thread that ends refuses its questions; the caller then does the work itself.
// Threads never outlive `close`. Not covered: questions or answers that structuredClone cannot copy.

import { parentPort, Worker } from 'node:worker_threads';

export interface Threads<Ask, Answer> {
  /** Rejects if the thread failed, with its message alone. */
  ask(question: Ask): Promise<Answer>;
  close(): Promise<void>;
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
}

/** `beginning`: the script's `workerData`. */
export function openThreads<Ask, Answer>(script: string, beginning: unknown, count: number): Threads<Ask, Answer> {
  const threads = Array.from({ length: count }, (): Thread => {
    const worker = new Worker(script, { workerData: beginning });
    const pending = new Map<number, Pending>();
    let reason = 'it was ended';
    const fail = () => {
      threads.splice(0, threads.length, ...threads.filter((one) => one.worker !== worker));
      for (const { reject } of pending.values()) reject(new Error(`A thread ended: ${reason}`));
      pending.clear();
    };
    worker.on('error', (error) => (reason = String(error)));
    worker.on('exit', fail);
    worker.on('message', ({ id, value, error }: Message<never>) => {
      const asked = pending.get(id);
      pending.delete(id);
      if (error === undefined) asked?.resolve(value as never);
      else asked?.reject(new Error(error));
    });
    return { worker, pending };
  });
  let last = 0;

  return {
    ask(question) {
      const [thread] = threads.toSorted((a, b) => a.pending.size - b.pending.size);
      if (!thread) return Promise.reject(new Error('No thread is left'));
      return new Promise<Answer>((resolve, reject) => {
        const id = ++last;
        thread.pending.set(id, { resolve, reject });
        // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread, no window
        thread.worker.postMessage({ id, value: question } satisfies Message<Ask>);
      });
    },
    async close() {
      await Promise.all(threads.map(({ worker }) => worker.terminate()));
    },
  };
}

/** In a thread: answers each question, one after the other. */
export function answerQuestions<Ask, Answer>(answer: (question: Ask) => Promise<Answer>): void {
  let before = Promise.resolve();
  parentPort!.on('message', ({ id, value }: Message<Ask>) => {
    const reply = async (): Promise<Message<Answer>> => ({ id, value: await answer(value as Ask) });
    const failed = (error: unknown): Message<Answer> => ({ id, error: String(error) });
    before = before.then(async () => {
      // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread, no window
      parentPort!.postMessage(await reply().catch(failed));
    });
  });
}
