// An answer that was paid for is held until it can be kept: while the disk is full or cannot be written, its activity
// goes on trying instead of failing, so that no model is asked for the same answer again, and its heartbeats say why.

import { Context } from '@temporalio/activity';
import { explain, StoreError } from '../domain/errors.ts';
import type { Store } from '../storage/store.ts';

const PAUSE_MS = { first: 500, most: 15_000 };

/** The store with puts of answers that wait for the disk. `waits`: for what, or null when it waits no more. */
export function patientStore(store: Store, waits: (what: string | null) => void): Store {
  async function untilWritten<T>(put: () => Promise<T>): Promise<T> {
    for (let pause = PAUSE_MS.first; ; pause = Math.min(2 * pause, PAUSE_MS.most)) {
      try {
        const kept = await put();
        waits(null);
        return kept;
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
    putChunk: (id, record) => untilWritten(() => store.putChunk(id, record)),
  };
}
