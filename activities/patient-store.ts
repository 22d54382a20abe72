// Holds what cannot be made again (answers and their chunks, results of tools) until it is stored: while the disk is full
// or not writable, its activity retries the write instead of failing, so that no answer is generated twice. Its heartbeats
// say why it waits.

import { Context } from '@temporalio/activity';
import { explain, StoreError } from '../domain/errors/errors.ts';
import type { Store } from '../records/store.ts';

const PAUSE_MS = { first: 500, most: 15_000 };

/** A store whose writes of these wait for the disk. `waits` gets the disk's error, and null when it is over. */
export function patientStore(store: Store, waits: (what: string | null) => void): Store {
  async function untilWritten<T>(put: () => Promise<T>): Promise<T> {
    for (let pause = PAUSE_MS.first; ; pause = Math.min(2 * pause, PAUSE_MS.most)) {
      try {
        const stored = await put();
        waits(null);
        return stored;
      } catch (error) {
        if (!(error instanceof StoreError) || !error.retryable) throw error;
        waits(explain(error));
        await Context.current().sleep(pause);
      }
    }
  }
  return {
    ...store,
    putTurn: (id, record) => untilWritten(() => store.putTurn(id, record)),
    putCall: (id, record) => untilWritten(() => store.putCall(id, record)),
    putAsked: (id, record) => untilWritten(() => store.putAsked(id, record)),
    putAgent: (id, record) => untilWritten(() => store.putAgent(id, record)),
    putChunk: (id, record) => untilWritten(() => store.putChunk(id, record)),
  };
}
