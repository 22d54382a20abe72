// The replies of models beside the run's own: each request is asked, equal ones as often as they come, and an attempt that makes them
// again gets the replies of the records in their order.

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
  /** Replies of earlier attempts that this one has not given yet, by the hash of their requests, in order. */
  const left = new Map<string, string[]>();
  let next = 1;

  function keep({ hash, reply }: SideRecord): void {
    left.set(hash, [...(left.get(hash) ?? []), reply]);
  }

  /** Those that are there before the first question. */
  const read = (async () => {
    for (; ; next++) {
      const there = await store.get('side', id, next);
      if (!there) return;
      keep(there.record);
    }
  })();
  read.catch(() => undefined);

  return async (to, path, body) => {
    await read;
    const hash = sha256Hex(canonicalJson([path, body]));
    const known = left.get(hash)?.shift();
    if (known !== undefined) return known;
    const startedAt = now();
    const reply = await passOn(to, path, body, signal);
    const finishedAt = Math.max(startedAt, now());
    const record = { hash, path, model: to.name, reply, startedAt, finishedAt };
    for (;;) {
      const stored = await store.put('side', id, { entry: next++, ...record });
      // Another attempt, thought dead, may have taken the number.
      if (stored.record.hash === hash) return stored.record.reply;
      keep(stored.record);
    }
  };
}
