// Verifies that an address still has the run's model: after every broken connection, and when a new weight version
// appears. An answer counts if one process held the address from before the request until the answer, or if the
// identity check afterwards succeeds. Retries nothing.

import { setTimeout as sleep } from 'node:timers/promises';

import { ModelError } from '../../domain/errors/errors.ts';
import { short } from '../../domain/text/foreign-text.ts';
import { CANARY_TOLERANCE, canaryDistance, type ModelIdentity } from '../../domain/weights/model-identity.ts';
import type { VersionSpan } from '../../domain/rollout/turn.ts';
import type { Kind, Kinds } from '../backend.ts';
import { badReply } from '../http/http-errors.ts';
import { LABEL_CHARS } from '../servers/version-spans.ts';
import type { ServerBackend } from './server-backend.ts';

/** Compares an identity with the run's: throws for another model, returns the difference of a canary, or null. */
export type Judge = (url: string, identity: ModelIdentity) => string | null | Promise<string | null>;

/** A server that closes every connection would be checked before and after each request. */
const LATELY_MS = 1000;
/** During an update, new weights may briefly have the old label. */
const LOOKS_AFTER_MS = [200, 1000];

export class Acquaintance<K extends Kind> {
  readonly #server: ServerBackend<K>;
  readonly #judge: Judge;
  #vouched: () => boolean = () => false;
  #knownAt = Number.NEGATIVE_INFINITY;
  readonly #versions = new Set<string>();
  /** The version that the server gave with its latest canary. */
  #version: string | null = null;
  #running: Promise<void> | null = null;
  #next: Promise<void> | null = null;

  constructor(server: ServerBackend<K>, judge: Judge) {
    this.#server = server;
    this.#judge = judge;
  }

  /** Starts with the identity of the first contact. */
  async begin(): Promise<void> {
    const { identity } = this.#server.facts;
    if (!identity) return;
    await this.#hold(identity);
    if (this.#server.connections?.lost() === 0) this.#vouched = this.#server.connections.vouch();
  }

  /** An answer that certainly came from the verified server. */
  async ask(work: () => Promise<Kinds[K]['reply']>, signal: AbortSignal): Promise<Kinds[K]['reply']> {
    const { connections, identify } = this.#server;
    if (!connections || !identify) return work();
    const before = this.#version;
    if (!this.#vouched() && performance.now() - this.#knownAt > LATELY_MS) await abortable(this.#look(), signal);
    const vouched = this.#vouched;
    const result = await work();
    await connections.settle();
    if (this.#vouched !== vouched || !vouched()) await abortable(this.#look(), signal);
    await abortable(this.#ofVersion(result, before), signal);
    return result;
  }

  /** The canary of weights that are new here. */
  async #ofVersion(reply: Kinds[K]['reply'], before: string | null): Promise<void> {
    const word = latestVersion(reply)?.versionLabel;
    if (word === undefined || this.#versions.has(word)) return;
    try {
      await this.#look();
      if (before !== null && this.#version === before && word !== before.slice(0, LABEL_CHARS))
        throw otherVersion(this.#server.url, word, before);
      this.#versions.add(word); // gone again already, if its canary was not asked now
    } catch (error) {
      // The identity is verified; the next answer triggers the canary of its weights.
      const retryable = error instanceof ModelError && error.retryable && error.flaw !== OTHER_VERSION;
      if (!retryable || !this.#vouched()) throw error;
    }
  }

  /** One check at a time; a caller never gets a check that began before its call. */
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
    if (version == null) return;
    this.#versions.add(version.slice(0, LABEL_CHARS));
    this.#version = version;
  }
}

/** The version of the weights that sampled the reply's last token; undefined for a reply without tokens. */
export function latestVersion(reply: Kinds[Kind]['reply']): VersionSpan | undefined {
  return 'versions' in reply ? reply.versions.at(-1) : undefined;
}

/** A server whose canary varies cannot be compared with others. */
function unlikeItself({ canary: a }: ModelIdentity, { canary: b }: ModelIdentity): boolean {
  return a !== null && b !== null && a.version === b.version && (canaryDistance(a, b) ?? 0) > CANARY_TOLERANCE;
}

const OTHER_VERSION = 'a weight version that the server does not have';

/** The server had this version before the request and has it after the reply. */
function otherVersion(url: string, said: string, is: string): ModelError {
  const [one, other] = [said, is].map((label) => short(JSON.stringify(label), 100));
  const what = `says that its weights are ${one}; the server says ${other}, before and after`;
  return badReply(what, { url, path: '', secret: null }, { flaw: OTHER_VERSION });
}

export const OTHER_MODEL = 'other-model';

export function otherModel(url: string, differs: string): ModelError {
  return new ModelError(`${url} is another model than this run's: ${differs}`, {
    reason: OTHER_MODEL,
    fix: 'Start the same model there, or leave that server out; weights that change need another version’s word.',
  });
}

export async function abortable<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
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
