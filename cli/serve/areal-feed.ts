// A run's feed as the pusher to AReaL uses it, and the file in the run's folder in which that pusher remembers its step.

import { randomUUID } from 'node:crypto';
import { mkdir } from 'node:fs/promises';
import { TemporalError, UsageError } from '../../domain/errors/errors.ts';
import type { FeedProgress, LeaseResult, RewindResult, Verb } from '../../domain/feed/messages.ts';
import { epochOf, groupId } from '../../domain/rollout/group.ts';
import { readText, replaceFile } from '../../records/disk/write-once.ts';
import type { Chunk, Encoder } from '../../records/encoder.ts';
import { dirname, isShared, join } from '../../records/place.ts';
import type { Store } from '../../records/store.ts';
import type { Session } from '../../client/temporal/connection.ts';
import { callFeed, type FeedPlace, feedProgressOf } from '../../client/temporal/feed.ts';
import type { ArealFeed, ArealSaved } from './areal-push.ts';
import { openBatch, type RunShape } from '../../client/feed/feed-rows.ts';

export interface ArealFeedOptions {
  readonly place: FeedPlace;
  readonly store: Store;
  readonly session: () => Session;
  readonly shape: RunShape;
  /** Groups of a step: the run's --batch-groups. */
  readonly groups: number;
  /** AReaL's samples of a batch, each as JSON. */
  readonly encoder: () => Encoder;
  /** The folder of a version's weights; null: only the clock moves. */
  readonly weights: (version: number) => string | null;
  readonly signal: AbortSignal;
}

const TRIES = 20;
const LEASE_SECONDS = 3600;

export function arealFeed(options: ArealFeedOptions): ArealFeed {
  const { place, store, session, shape, groups, encoder, weights, signal } = options;
  let line = 0;

  return {
    async rewind(version) {
      const answer = await call<RewindResult>('rewind', { version, request: randomUUID() });
      ({ line } = answer);
      return { line, version: (await progress()).version };
    },
    async attach(former) {
      const now = await progress();
      if (now.line !== former) return null;
      line = former;
      return { version: now.version, leases: now.leases.map(({ lease }) => lease) };
    },
    async lease(request) {
      for (;;) {
        const asked = { consumer: 'areal', groups, wait: 20, seconds: LEASE_SECONDS, request, line };
        const result = await call<LeaseResult>('lease', asked, 20_000);
        if (result.lease === null) {
          if (result.why === 'finished' || signal.aborted) return null;
          continue;
        }
        const batch = await openBatch(store, shape, result.lease);
        const encode = encoder();
        const found: Chunk[] = [];
        for await (const trajectory of batch.trajectories()) {
          const { query, sample } = trajectory.rollout;
          found.push(...encode.add(trajectory, { group: groupId(query.queryId, epochOf(shape, sample)) }));
        }
        found.push(...encode.end());
        return { lease: result.lease.id, samples: found.map((line) => String(line).trimEnd()) };
      }
    },
    async acknowledge(lease, version) {
      try {
        await call('acknowledge', { lease, version });
        return true;
      } catch (error) {
        if (error instanceof UsageError && GONE.has(error.reason)) return false;
        throw error;
      }
    },
    async version(version) {
      await call('version', { version, weights: weights(version), line }, 1_800_000);
    },
    async renew(lease) {
      await call('renew', { lease, seconds: LEASE_SECONDS, line });
    },
  };

  async function progress(): Promise<FeedProgress> {
    for (let n = 1; ; n++) {
      const found = await feedProgressOf(session(), place);
      if (found) return found;
      if (n >= TRIES || signal.aborted) {
        throw new TemporalError(`The feed of run "${place.run}" does not answer.`, {
          reason: 'no-worker',
          retryable: true,
        });
      }
      await new Promise((resolve) => setTimeout(resolve, 1000));
    }
  }

  /** Repeating any verb is harmless, so a server that is away for a moment is asked again. */
  async function call<T>(verb: Verb, given: object, waitMs = 0): Promise<T> {
    for (let n = 1; ; n++) {
      try {
        return await callFeed<T>(session(), place, verb, given, waitMs);
      } catch (error) {
        const passes = error instanceof TemporalError || (error instanceof UsageError && BUSY.has(error.reason));
        if (!passes || n >= TRIES || signal.aborted) throw error;
        await new Promise((resolve) => setTimeout(resolve, Math.min(10_000, 250 * 2 ** n)));
      }
    }
  }
}

const GONE: ReadonlySet<string> = new Set(['no-such-lease', 'version-goes-back', 'version-skips']);
const BUSY: ReadonlySet<string> = new Set(['feed-busy', 'update-in-progress']);

/** `<run>/.feed/areal.json`. */
export function arealMemory(folder: string) {
  const path = join(folder, '.feed', 'areal.json');
  return {
    async load(): Promise<ArealSaved | undefined> {
      const text = await readText(path);
      return text === undefined ? undefined : (JSON.parse(text) as ArealSaved);
    },
    async save(saved: ArealSaved): Promise<void> {
      if (isShared(folder)) await mkdir(dirname(path), { recursive: true, mode: 0o700 });
      await replaceFile(path, `${JSON.stringify(saved)}\n`);
    },
  };
}
