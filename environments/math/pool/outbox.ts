// Replies on their way out of the judge's process, in memory that its two threads share: the judging thread puts
// lines in and sends them when it has nothing else to do; while it works or hangs, the watching thread sends them.
// So a reply is never held up by the job behind it, and not every reply costs a system call.

import { writeSync } from 'node:fs';

const LOCK = 0;
const LENGTH = 1;
const BUSY = 2;
const NEVER = 3;
const JOB = 4;
const HEADER_BYTES = 32;

export const newOutboxMemory = (): SharedArrayBuffer => new SharedArrayBuffer(HEADER_BYTES + 256 * 1024);

export interface Outbox {
  /** One line, without its end. */
  put(line: string): void;
  send(): void;
  busy(yes: boolean): void;
  /** The next job begins. */
  begin(): void;
  /** A number that is another one for each job. */
  job(): number;
  /** Sleeps until there is work, or for so long. */
  waitForWork(ms: number): boolean;
  sleep(ms: number): void;
}

/** `write` puts all of what it is given where it belongs. */
export function openOutbox(memory: SharedArrayBuffer, write: (bytes: Uint8Array) => void = writeOut): Outbox {
  const words = new Int32Array(memory, 0, HEADER_BYTES / 4);
  const bytes = Buffer.from(memory, HEADER_BYTES);
  const lock = (): void => {
    while (Atomics.compareExchange(words, LOCK, 0, 1) !== 0) Atomics.wait(words, LOCK, 1, 1);
  };
  const unlock = (): void => {
    Atomics.store(words, LOCK, 0);
    Atomics.notify(words, LOCK);
  };
  const sendLocked = (): void => {
    const length = Atomics.load(words, LENGTH);
    if (length > 0) write(bytes.subarray(0, length));
    Atomics.store(words, LENGTH, 0);
  };
  return {
    put: (line) => {
      const text = `${line}\n`;
      lock();
      // Three bytes a character at most.
      if (Atomics.load(words, LENGTH) + text.length * 3 > bytes.length) sendLocked();
      const length = Atomics.load(words, LENGTH);
      if (text.length * 3 > bytes.length) write(Buffer.from(text));
      else Atomics.store(words, LENGTH, length + bytes.write(text, length));
      unlock();
    },
    send: () => {
      if (Atomics.load(words, LENGTH) === 0) return;
      lock();
      sendLocked();
      unlock();
    },
    busy: (yes) => {
      Atomics.store(words, BUSY, yes ? 1 : 0);
      if (yes) Atomics.notify(words, BUSY);
    },
    begin: () => void Atomics.add(words, JOB, 1),
    job: () => Atomics.load(words, JOB),
    waitForWork: (ms) => Atomics.wait(words, BUSY, 0, ms) !== 'timed-out',
    sleep: (ms) => void Atomics.wait(words, NEVER, 0, ms),
  };
}

function writeOut(bytes: Uint8Array): void {
  for (let at = 0; at < bytes.length;) {
    try {
      at += writeSync(1, bytes, at);
    } catch (error) {
      // The reader is slow: a full pipe is retried, a closed one ends this process.
      if ((error as NodeJS.ErrnoException).code !== 'EAGAIN') process.kill(process.pid, 'SIGKILL');
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1);
    }
  }
}
