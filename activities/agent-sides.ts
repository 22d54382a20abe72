// The replies of models beside the run's own: asked once, and given from their records from then on, in each attempt.

import type { SideModel, SideRecord } from '../domain/agent/index.ts';
import type { TrajectoryReference } from '../domain/names/ids.ts';
import { canonicalJson, type JsonObject } from '../domain/text/json.ts';
import { sha256Hex } from '../domain/text/sha256.ts';
import type { AskSide } from '../endpoint/index.ts';
import type { Store } from '../records/store.ts';

/** Sends a request on, and returns the text of the reply. Rejects with a ModelError. */
export type PassOn = (to: SideModel, path: string, body: JsonObject, signal: AbortSignal) => Promise<string>;

export function openSides(
  store: Store,
  id: TrajectoryReference,
  { passOn, now, signal }: { readonly passOn: PassOn; readonly now: () => number; readonly signal: AbortSignal },
): AskSide {
  const known = new Map<string, Promise<string>>();
  let next = 1;

  function add({ hash, reply }: SideRecord): void {
    if (!known.has(hash)) known.set(hash, Promise.resolve(reply));
  }

  /** Those that are there before the first question. */
  const read = (async () => {
    for (; ; next++) {
      const there = await store.get('side', id, next);
      if (!there) return;
      add(there.record);
    }
  })();
  read.catch(() => undefined);

  async function asked(to: SideModel, path: string, body: JsonObject, hash: string): Promise<string> {
    const startedAt = now();
    const reply = await passOn(to, path, body, signal);
    const finishedAt = Math.max(startedAt, now());
    const record = { hash, path, model: to.name, reply, startedAt, finishedAt };
    for (;;) {
      const stored = await store.put('side', id, { entry: next++, ...record });
      // Another attempt, thought dead, may have taken the number.
      if (stored.record.hash === hash) return stored.record.reply;
      add(stored.record);
    }
  }

  return async (to, path, body) => {
    await read;
    const hash = sha256Hex(canonicalJson([path, body]));
    const reply = known.get(hash) ?? asked(to, path, body, hash);
    known.set(hash, reply);
    try {
      return await reply;
    } catch (error) {
      known.delete(hash);
      throw error;
    }
  };
}
