// Holds what cannot be made again (answers and their chunks, results of tools) until it is stored: while the disk is full
// or not writable, its activity retries the write instead of failing, so that no answer is generated twice. Its heartbeats
// say why it waits.

import { Context } from '@temporalio/activity';
import { explain, StoreError } from '../domain/errors/errors.ts';
import type { RecordKind, Store } from '../records/store.ts';
import { sleep } from './heartbeat.ts';

const PAUSE_MS = { first: 500, most: 15_000 };

/** Records that cannot be made again. */
const COSTLY: ReadonlySet<RecordKind> = new Set(['turn', 'chunk', 'call', 'asked', 'agent', 'side']);

/** A store whose writes of these wait for the disk. `waits` gets the disk's error, and null when it is over. */
export function patientStore(store: Store, waits: (what: string | null) => void): Store {
  // An agent's call may come from outside the activity's own context.
  const { cancellationSignal: signal } = Context.current();
  async function untilWritten<T>(put: () => Promise<T>): Promise<T> {
    for (let pause = PAUSE_MS.first; ; pause = Math.min(2 * pause, PAUSE_MS.most)) {
      try {
        const stored = await put();
        waits(null);
        return stored;
      } catch (error) {
        if (!(error instanceof StoreError) || !error.retryable) throw error;
        waits(explain(error));
        await sleep(pause, signal);
      }
    }
  }
  return {
    ...store,
    putExperts: (data) => untilWritten(() => store.putExperts(data)),
    put: (kind, of, record) =>
      COSTLY.has(kind) ? untilWritten(() => store.put(kind, of, record)) : store.put(kind, of, record),
  };
}
