// Feeds AReaL's trainer: leases a step's groups, pushes their samples to its pullers, and acknowledges them when
// `training_samples` proves that the trainer has loaded all of them; its `model_version` is the version. Samples not proven are
// sent again, each sample to the same puller: AReaL skips an id that lies there already. Leaves out identity: the trainer
// counts samples and names none, so nobody else may push to it, and what it loaded twice cannot be told.

import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { UsageError } from '../../domain/errors/errors.ts';
import type { ArealNames } from './areal-names.ts';
import type { Pusher } from './zeromq.ts';

export interface ArealStep {
  readonly lease: string;
  /** JSON of each sample, in order. */
  readonly samples: readonly string[];
}

/** The run's feed, as this pusher uses it. */
export interface ArealFeed {
  /** Returns the line that began, and the version that is published then. */
  rewind(version: number): Promise<{ readonly line: number; readonly version: number }>;
  /** Goes on with a line that this run's pusher began: its version and open leases; null if it has ended. */
  attach(line: number): Promise<{ readonly version: number; readonly leases: readonly string[] } | null>;
  /** One step's groups, the same for the same request; null when the run is finished. */
  lease(request: string): Promise<ArealStep | null>;
  /** False if it was refused: its groups were given to others, or offered again. */
  acknowledge(lease: string, version: number): Promise<boolean>;
  version(version: number): Promise<void>;
  renew(lease: string): Promise<void>;
}

/** Left by a pusher that was killed: written before the first sample of a step is sent. */
export interface ArealSaved {
  /** The highest count of samples that was read; a lower one is of a trainer that was started again. */
  readonly seen: number;
  /** Steps that were acknowledged. */
  readonly trained: number;
  readonly line: number;
  readonly step: {
    readonly lease: string;
    readonly request: string;
    /** The count before its first sample. */
    readonly base: number;
    readonly samples: number;
  } | null;
}

export interface ArealPushOptions {
  readonly feed: ArealFeed;
  readonly names: ArealNames;
  /** The model whose version counts. */
  readonly role: string;
  readonly pusher: Pick<Pusher, 'send' | 'drop'>;
  readonly load: () => Promise<ArealSaved | undefined>;
  readonly save: (saved: ArealSaved) => Promise<void>;
  readonly signal: AbortSignal;
  readonly say: (text: string) => void;
  readonly pollMs?: number;
  /** Without a sample loaded for so long, all that is not proven is sent again. */
  readonly resendMs?: number;
}

/** Thrown inside when the count went back: the trainer was started again, and what it had loaded is gone. */
class TrainerRestarted extends Error {}
class Interrupted extends Error {}

/** Steps pushed, when the run is finished or the signal came. */
export async function pushToAreal(options: ArealPushOptions): Promise<number> {
  const { feed, names, role, pusher, load, save, signal, say, pollMs = 500, resendMs = 60_000 } = options;
  const empty: ArealSaved = { seen: 0, trained: 0, line: 0, step: null };
  let saved = (await load()) ?? empty;
  let published = 0;
  let steps = 0;

  for (let first = true; ; first = false) {
    try {
      let step = await resume(first);
      let request = saved.step?.request ?? '';
      for (;;) {
        if (step === null) {
          request = randomUUID();
          step = await feed.lease(request);
        }
        if (step === null) {
          await untilPublished(saved.trained);
          return steps;
        }
        await push(step, request);
        step = null;
        steps++;
      }
    } catch (error) {
      if (error instanceof Interrupted) return steps;
      if (!(error instanceof TrainerRestarted)) throw error;
      say('The trainer was started again: what it had loaded and not trained is sent again.');
    }
  }

  /** The step of a pusher that was killed, if its lease is open; else null, on a line of its own. */
  async function resume(first: boolean): Promise<ArealStep | null> {
    const found = await names.trainingSamples();
    const version = (await names.modelVersion(role)) ?? 0;
    const restarted = found < saved.seen;
    const { step } = saved;
    const feedNow = first && !restarted && step ? await feed.attach(saved.line) : null;
    if (step && feedNow) {
      published = feedNow.version;
      if (feedNow.leases.includes(step.lease)) return feed.lease(step.request);
      // It has ended, and nobody else has its groups, perhaps.
      if (found >= step.base + step.samples) {
        await untilPublished(saved.trained);
        if (await feed.acknowledge(step.lease, saved.trained + 1)) await remember({ trained: saved.trained + 1 });
      } else if (found > step.base) {
        say(`${found - step.base} samples of a lease that ended were loaded: the trainer may train them twice.`);
      }
    }
    // A trainer that lives goes on from what it loaded; one that was started again, from its checkpoint.
    const from = restarted ? Math.min(version, saved.trained) : saved.trained;
    const begun = await feed.rewind(from);
    published = begun.version;
    await remember({ seen: found, trained: from, step: null, line: begun.line });
    // Servers may have later weights, of a line that ended.
    await feed.version(published);
    return null;
  }

  async function push({ lease, samples }: ArealStep, request: string): Promise<void> {
    if (saved.step?.lease !== lease) {
      await remember({ step: { lease, request, base: await count(), samples: samples.length } });
    }
    const base = saved.step!.base;
    let sentTo = '';
    let moved = { at: Date.now(), loaded: 0 };
    let renewed = Date.now();
    for (;;) {
      const pullers = await names.pullers();
      const loaded = (await count()) - base;
      if (loaded >= samples.length) break;
      if (loaded > moved.loaded) moved = { at: Date.now(), loaded };
      if (pullers && (pullers.join() !== sentTo || Date.now() - moved.at > resendMs)) {
        pusher.drop();
        // In one puller's order the first ones are loaded first; of several it is not known which.
        const whole = await sendFrom(pullers, samples, pullers.length === 1 ? loaded : 0);
        sentTo = whole ? pullers.join() : '';
        moved = { at: Date.now(), loaded };
      }
      if (Date.now() - renewed > RENEW_MS) {
        await feed.renew(lease);
        renewed = Date.now();
      }
      await pause();
    }
    await untilPublished(saved.trained);
    if (!(await feed.acknowledge(lease, saved.trained + 1))) {
      throw new UsageError('The trainer has loaded a step whose lease another process ended.', {
        reason: 'no-such-lease',
        fix: 'Feed one trainer from one process; start this one again.',
      });
    }
    await remember({ trained: saved.trained + 1, step: null });
  }

  async function sendFrom(pullers: readonly string[], samples: readonly string[], from: number): Promise<boolean> {
    for (const [rank, address] of pullers.entries()) {
      const own = samples.filter((_, i) => i >= from && i % pullers.length === rank);
      for (let at = 0; at < own.length; at += PER_MESSAGE) {
        const message = Buffer.from(`[${own.slice(at, at + PER_MESSAGE).join(',')}]`);
        const sent = await pusher.send(address, message).then(
          () => true,
          // A puller that is away: it is looked for again.
          () => false,
        );
        if (!sent) return false;
      }
    }
    return true;
  }

  async function untilPublished(version: number): Promise<void> {
    while (published < version) {
      await count();
      const now = (await names.modelVersion(role)) ?? 0;
      for (; published < Math.min(now, version); published++) await feed.version(published + 1);
      if (published < version) await pause();
    }
  }

  async function count(): Promise<number> {
    const found = await names.trainingSamples();
    if (found < saved.seen) throw new TrainerRestarted();
    if (found > saved.seen) await remember({ seen: found });
    return found;
  }

  async function remember(changes: Partial<ArealSaved>): Promise<void> {
    saved = { ...saved, ...changes };
    await save(saved);
  }

  async function pause(): Promise<void> {
    if (signal.aborted) throw new Interrupted();
    await sleep(pollMs, undefined, { signal }).catch(() => {
      throw new Interrupted();
    });
  }
}

const RENEW_MS = 60_000;
/** Samples of one message: AReaL's own pusher sends one rollout's. */
export const PER_MESSAGE = 16;
