// New weights for the servers of a fleet: each is paused, loads them, is told their version, and goes on. No token
// is ever made by other weights than its server says: a server of which that is not sure stays paused, and is named.
// Done twice, the second time changes nothing and lets go on whoever was left paused. Retries nothing.

import { explain, ModelError } from '../../domain/errors.ts';
import type { WeightControls } from './controls.ts';

/**
 * updated     it has the new weights, and goes on
 * already     it had that version; it goes on
 * refused     it goes on with the weights it had
 * paused      what it has is not sure, so it makes no token until the update is repeated
 * unreached   it could not be asked, or not be paused: nothing changed
 * not-asked   a server before it could not load the weights, or the wish was to stop
 */
export type UpdateState = 'updated' | 'already' | 'refused' | 'paused' | 'unreached' | 'not-asked';

export interface ServerUpdate {
  readonly url: string;
  readonly state: UpdateState;
  /** Its own word before and after; null where it told none. */
  readonly before: string | null;
  readonly now: string | null;
  readonly tookMs: number;
  readonly reason: string | null;
  readonly error: string | null;
}

export interface NewWeights {
  /** A folder as the servers see it. */
  readonly from: string;
  /** What they call it from then on. */
  readonly version: string;
}

export interface UpdateOptions {
  /** Aborted: servers that were begun are finished, no other is begun. */
  readonly signal?: AbortSignal;
  readonly onServer?: (update: ServerUpdate) => void;
}

/** One result per server, in their order. Servers go one by one until one has shown that the weights can be loaded. */
export async function updateWeights(
  servers: readonly WeightControls[],
  weights: NewWeights,
  { signal, onServer }: UpdateOptions = {},
): Promise<ServerUpdate[]> {
  const done = new Map<WeightControls, ServerUpdate>();
  const update = async (server: WeightControls, ask: boolean) => {
    const result = ask && !signal?.aborted ? await updateOne(server, weights) : notAsked(server);
    done.set(server, result);
    onServer?.(result);
    return result.state;
  };
  const waiting = [...servers];
  // One that cannot load them may die of it: the others are spared.
  let goOn = true;
  for (let proved = false; goOn && !proved && waiting.length > 0;) {
    const state = await update(waiting.shift()!, true);
    proved = state === 'updated';
    goOn = state !== 'refused' && state !== 'paused';
  }
  await Promise.all(waiting.map((server) => update(server, goOn)));
  return servers.map((server) => done.get(server)!);
}

async function updateOne(server: WeightControls, { from, version }: NewWeights): Promise<ServerUpdate> {
  const startedAt = performance.now();
  let before: string | null = null;
  const result = (state: UpdateState, now: string | null, error?: unknown): ServerUpdate => ({
    url: server.http.url,
    state,
    before,
    now,
    tookMs: Math.round(performance.now() - startedAt),
    reason: error === undefined ? null : error instanceof ModelError ? error.reason : 'unknown',
    error: error === undefined ? null : explain(error),
  });

  try {
    before = await server.version();
    if (before !== version) await server.pause();
  } catch (error) {
    // A pause whose answer was lost would hold it for ever.
    if (before !== null) await server.resume().catch(() => undefined);
    return result('unreached', before, error);
  }
  if (before !== version) {
    try {
      await server.load(from, version);
      const now = await server.version();
      if (now !== version) throw otherVersion(server, now, version);
    } catch (error) {
      if (!server.keptItsWeights(error)) return result('paused', null, error);
      return server.resume().then(
        () => result('refused', before, error),
        () => result('paused', before, error),
      );
    }
  }
  try {
    await server.resume();
    return result(before === version ? 'already' : 'updated', version);
  } catch (error) {
    return result('paused', version, error);
  }
}

function otherVersion({ http }: WeightControls, now: string | null, version: string): ModelError {
  return new ModelError(`${http.url} loaded the weights, and says that they are ${now ?? 'none it has a word for'}`, {
    reason: 'version-not-taken',
    fix: `It should say ${version}.`,
  });
}

function notAsked({ http }: WeightControls): ServerUpdate {
  return { url: http.url, state: 'not-asked', before: null, now: null, tookMs: 0, reason: null, error: null };
}
