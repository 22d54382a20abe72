// Is it still the server that was met? Asked again after every connection that broke, and when a new version of the
// weights is seen. An answer counts when one process was there from before it was asked for until it came, or when
// whoever is there afterwards is the right one. Retries nothing.

import { setTimeout as sleep } from 'node:timers/promises';

import { ModelError } from '../../domain/errors.ts';
import { CANARY_TOLERANCE, canaryDistance, type ModelIdentity } from '../../domain/model-identity.ts';
import type { VersionSpan } from '../../domain/turn.ts';
import type { Kind, Kinds } from '../backend.ts';
import type { ServerBackend } from './server-backend.ts';

/** What a fleet makes of an identity: throws where it is another model's, says how a canary differs, or null. */
export type Judge = (url: string, identity: ModelIdentity) => string | null | Promise<string | null>;

/** A server that closes every connection would be asked before each request, and after it. */
const LATELY_MS = 1000;
/** Weights that are just being replaced can be new under their old word for a moment. */
const LOOKS_AFTER_MS = [200, 1000];

export class Acquaintance<K extends Kind> {
  readonly #server: ServerBackend<K>;
  readonly #judge: Judge;
  #vouched: () => boolean = () => false;
  #knownAt = Number.NEGATIVE_INFINITY;
  readonly #versions = new Set<string>();
  #running: Promise<void> | null = null;
  #next: Promise<void> | null = null;

  constructor(server: ServerBackend<K>, judge: Judge) {
    this.#server = server;
    this.#judge = judge;
  }

  /** With what was found when it was met. */
  async begin(): Promise<void> {
    const { identity } = this.#server.facts;
    if (!identity) return;
    await this.#hold(identity);
    if (this.#server.connections?.lost() === 0) this.#vouched = this.#server.connections.vouch();
  }

  /** An answer that was surely given by the server that was met. */
  async ask(work: () => Promise<Kinds[K]['reply']>, signal: AbortSignal): Promise<Kinds[K]['reply']> {
    const { connections, identify } = this.#server;
    if (!connections || !identify) return work();
    if (!this.#vouched() && performance.now() - this.#knownAt > LATELY_MS) await abortable(this.#look(), signal);
    const vouched = this.#vouched;
    const result = await work();
    await connections.settle();
    if (this.#vouched !== vouched || !vouched()) await abortable(this.#look(), signal);
    await abortable(this.#ofVersion(result), signal);
    return result;
  }

  /** The canary of weights that were not seen here before. */
  async #ofVersion(reply: Kinds[K]['reply']): Promise<void> {
    const word = latestVersion(reply)?.versionLabel;
    if (word === undefined || this.#versions.has(word)) return;
    try {
      await this.#look();
      this.#versions.add(word); // gone again already, if its canary was not asked now
    } catch (error) {
      // Who it is stands; what its weights say is asked with the next answer.
      if (!(error instanceof ModelError) || !error.retryable || !this.#vouched()) throw error;
    }
  }

  /** One at a time, and never one that began before it was asked for. */
  #look(): Promise<void> {
    if (this.#next) return this.#next;
    const begin = () => {
      this.#next = null;
      this.#running = this.#lookNow().finally(() => {
        this.#running = null;
      });
      return this.#running;
    };
    if (!this.#running) return begin();
    this.#next = this.#running.then(begin, begin);
    return this.#next;
  }

  async #lookNow(): Promise<void> {
    const { connections, identify } = this.#server;
    const lost = connections!.lost();
    await this.#hold(await identify!());
    await connections!.settle();
    this.#vouched = connections!.lost() === lost ? connections!.vouch() : () => false;
    this.#knownAt = performance.now();
  }

  async #hold(first: ModelIdentity): Promise<void> {
    let identity = first;
    let differs = await this.#judge(this.#server.url, identity);
    for (const pause of LOOKS_AFTER_MS) {
      if (differs === null || !this.#server.identify) break;
      await sleep(pause);
      const before = identity;
      identity = await this.#server.identify();
      if (unlikeItself(before, identity)) return;
      differs = await this.#judge(this.#server.url, identity);
    }
    if (differs !== null) throw otherModel(this.#server.url, differs);
    const version = identity.canary?.version;
    if (version != null) this.#versions.add(version);
  }
}

/** Of the weights that sampled the reply's last token; undefined where a reply has no tokens. */
export function latestVersion(reply: Kinds[Kind]['reply']): VersionSpan | undefined {
  return 'versions' in reply ? reply.versions.at(-1) : undefined;
}

/** A server whose canary says something else each time cannot be held against others. */
function unlikeItself({ canary: a }: ModelIdentity, { canary: b }: ModelIdentity): boolean {
  return a !== null && b !== null && a.version === b.version && (canaryDistance(a, b) ?? 0) > CANARY_TOLERANCE;
}

export const OTHER_MODEL = 'other-model';

export function otherModel(url: string, differs: string): ModelError {
  return new ModelError(`${url} is another model than this run's: ${differs}`, {
    reason: OTHER_MODEL,
    fix: 'Start the same model there, or leave that server out; weights that change need another version’s word.',
  });
}

async function abortable<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  signal.throwIfAborted();
  let onAbort = () => {};
  const aborted = new Promise<never>((_, reject) => {
    onAbort = () => reject(signal.reason as Error);
    signal.addEventListener('abort', onAbort, { once: true });
  });
  try {
    return await Promise.race([work, aborted]);
  } finally {
    signal.removeEventListener('abort', onAbort);
    work.catch(() => undefined);
  }
}
