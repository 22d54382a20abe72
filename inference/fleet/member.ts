// One server of a fleet: its connection, its health, and its counters.

import type { GenerateOptions, Kind, Kinds, LateServers } from '../backend.ts';
import type { ServerStatus } from '../../domain/run/server-status.ts';
import { ModelError } from '../../domain/errors/errors.ts';
import { short } from '../../domain/text/foreign-text.ts';
import type { VersionSpan } from '../../domain/rollout/turn.ts';
import { closedError } from '../http/http-errors.ts';
import { lacksAdapter, type ServerBackend } from './server-backend.ts';
import { abortable, type Forced, Recheck } from './recheck.ts';
import type { FleetRules } from './rules.ts';
import { OTHER_MODEL } from './same-model.ts';
import type { NamedAdapter } from '../../domain/weights/adapter.ts';
import { isOlder } from '../../domain/weights/weight-version.ts';
import type { Circuit } from './circuit.ts';
import type { Leases } from './leases.ts';
import type { RankedServer } from './policies.ts';

const LATENCIES_KEPT = 128;
const BUSY_MS = 1000;

/** Failures that say nothing about a server's health. */
const NOT_ITS_FAULT = new Set(['backend-closed', 'server-aborted', 'version-moved', 'server-busy']);
/** After this many consecutive unreadable answers, to any rollout, other servers are preferred. */
const MALFORMED_IN_A_ROW = 3;
export const OLD_WEIGHTS = 'old-weights';
/** Reasons of a server that has not the run's model, or not yet. */
const STRANGE = new Set([OTHER_MODEL, OLD_WEIGHTS, 'other-tokenizer', 'mixed-fleet', 'no-tokenizer']);
export const isStrange = (error: unknown) => error instanceof ModelError && STRANGE.has(error.reason);
const GONE = new Set(['server-unreachable']);

interface MemberParts<K extends Kind> extends Pick<Member<K>, 'url' | 'weight' | 'limit'> {
  readonly rules: FleetRules<K>;
  /** One answer in so many is asked again; 0: none. */
  readonly recheckEvery: number;
  readonly log: (line: string) => void;
  readonly late: LateServers | undefined;
}

type Version = Pick<VersionSpan, 'version' | 'versionLabel'>;

export class Member<K extends Kind> implements RankedServer {
  readonly url: string;
  readonly weight: number;
  /** Requests in flight at most; null: no limit. */
  readonly limit: number | null;
  /** Null until the first contact. */
  backend: ServerBackend<K> | null = null;
  /** The reason why the server at this address gets no requests: it has another model. */
  stranger: ModelError | null = null;
  circuit!: Circuit;
  leases: Leases | null = null;
  inFlight = 0;
  tokens = 0;
  credit = 0;
  requests = 0;
  readonly #users = new Map<ServerBackend<K>, number>();
  #failures = 0;
  readonly #failuresBy = new Map<string, number>();
  #busyUntil = 0; // in the time of performance.now(), which is never set back
  #malformed = 0;
  #latenciesMs: number[] = [];
  #version: Version | null = null;
  /** The weights from which it went back, until it has them again. */
  #fellFrom: Version | null = null;
  #lastFailure: string | null = null;
  #closed = false;

  readonly #rules: FleetRules<K>;
  readonly #recheck: Recheck;
  readonly #log: (line: string) => void;
  readonly #late: LateServers | undefined;

  constructor({ url, rules, recheckEvery, weight, limit, log, late }: MemberParts<K>) {
    this.#log = log;
    this.#late = late;
    this.#recheck = new Recheck(recheckEvery);
    this.url = url;
    this.#rules = rules;
    this.weight = weight;
    this.limit = limit;
  }

  /** Avoided while there are others: it asked for a pause, or its recent answers were unreadable. */
  get busy(): boolean {
    return performance.now() < this.#busyUntil || this.#malformed >= MALFORMED_IN_A_ROW;
  }

  /** The version that gave the latest answer; null before the first. */
  get version(): number | null {
    return this.#version?.version ?? null;
  }

  /** Takes a place; the returned function gives it back. */
  begin(tokens: number): () => void {
    this.inFlight++;
    this.tokens += tokens;
    return () => {
      this.inFlight--;
      this.tokens -= tokens;
    };
  }

  /** Replaces the backend; the previous one is closed after its last request. Throws if the fleet has been closed. */
  meet(fresh: ServerBackend<K>): void {
    if (this.#closed) throw closedError(this.url);
    const old = this.backend;
    this.backend = fresh;
    this.stranger = null;
    this.#recheck.beginAnew();
    if (old && !this.#users.has(old)) void old.close();
  }

  async ask(request: Kinds[K]['request'], options: GenerateOptions): Promise<Kinds[K]['reply']> {
    const backend = this.backend!;
    this.requests++;
    this.#users.set(backend, (this.#users.get(backend) ?? 0) + 1);
    const startedAt = performance.now();
    const adapter = 'adapter' in request ? request.adapter : undefined;
    // An answer ends with the adapter with which it began: it is no return to older weights.
    const before = adapter ? null : (this.#fellFrom ?? this.#version);
    try {
      const result = await backend.generate(request, options);
      const tookMs = performance.now() - startedAt;
      const version = latestVersion(result);
      // It may have been started again, and nobody saw it go.
      const label = version?.versionLabel ?? null;
      if (label !== null && label !== this.#version?.versionLabel) await refuseLate(this.url, label, this.#late);
      this.#rules.mustFit(request, result, this.url);
      const forced = backend.given ? this.#rules.forcedOf(request, result, backend.facts) : null;
      const again = ({ ids, logprobs }: Forced) => backend.given!(ids, ids.length - logprobs.length, adapter);
      const [run] = request.requestId.split('/');
      await abortable(this.#recheck.of(run!, forced, again, this.url), options.signal);
      this.#answered(version, tookMs, before);
      return result;
    } catch (failure) {
      const error = adapter && lacksAdapter(failure) ? withoutAdapter(this.url, adapter, this.#late) : failure;
      if (!options.signal.aborted) this.#failed(error);
      throw error;
    } finally {
      const left = this.#users.get(backend)! - 1;
      if (left > 0) this.#users.set(backend, left);
      else this.#users.delete(backend);
      if (left === 0 && backend !== this.backend) void backend.close();
    }
  }

  async close(): Promise<void> {
    this.#closed = true;
    this.circuit.close();
    const backends = new Set([...this.#users.keys(), ...(this.backend ? [this.backend] : [])]);
    await Promise.allSettled([...[...backends].map((backend) => backend.close()), this.leases?.close()]);
  }

  /** `before`: the version that was known when the request was sent. */
  #answered(version: Version | undefined, tookMs: number, before: Version | null): void {
    this.#latenciesMs.push(tookMs);
    if (this.#latenciesMs.length > LATENCIES_KEPT) this.#latenciesMs.shift();
    if (version) this.#meetVersion(version, before);
    this.#malformed = 0;
    this.circuit.succeeded();
  }

  #meetVersion(version: Version, before: Version | null): void {
    this.#version = version;
    const fell = before !== null && isOlder(version, before);
    if (fell && !this.#fellFrom)
      this.#log(`${this.url} went back from the weights ${wordOf(before)} to ${wordOf(version)}: was it restarted?`);
    this.#fellFrom = fell ? before : null;
  }

  #failed(error: unknown): void {
    this.#failures++;
    this.note(error);
    const reason = error instanceof ModelError ? error.reason : 'unknown';
    this.#failuresBy.set(reason, (this.#failuresBy.get(reason) ?? 0) + 1);
    if (!(error instanceof ModelError)) return;
    if (error.reason === 'server-busy') this.#busyUntil = performance.now() + (error.retryAfterMs ?? BUSY_MS);
    if (isStrange(error)) return this.refuse(error);
    // It answers, so the fault may lie in this request alone.
    if (NOT_ITS_FAULT.has(error.reason)) return;
    if (error.flaw !== undefined) this.#malformed++;
    else if (error.retryable) this.circuit.failed(GONE.has(error.reason));
  }

  /** Sends no more requests to this address until the right model is back. */
  refuse(error: ModelError): void {
    this.stranger = error;
    this.circuit.open();
  }

  note(error: unknown): void {
    this.#lastFailure = error instanceof Error ? error.message : String(error);
  }

  status(): ServerStatus {
    const sorted = this.#latenciesMs.toSorted((a, b) => a - b);
    return {
      url: this.url,
      state: this.circuit.state,
      requests: this.requests,
      failures: this.#failures,
      failuresBy: Object.fromEntries(this.#failuresBy),
      inFlight: this.inFlight,
      latencyP50Ms: sorted[Math.floor((sorted.length - 1) / 2)] ?? null,
      version: this.version,
      versionLabel: this.#version?.versionLabel ?? null,
      fellFrom: this.#fellFrom && wordOf(this.#fellFrom),
      lastFailure: this.#lastFailure,
      rechecks: this.#recheck.status,
    };
  }
}

/** The version of the weights that sampled the reply's last token; undefined for a reply without tokens. */
const latestVersion = (reply: Kinds[Kind]['reply']): VersionSpan | undefined =>
  'versions' in reply ? reply.versions.at(-1) : undefined;

const wordOf = ({ version, versionLabel }: Version): string => short(versionLabel ?? String(version), 100);

/** Throws if the server lacks the adapter in force: one that was restarted does. */
export async function mustHaveAdapter(
  { url, names }: ServerBackend<Kind>,
  late: LateServers | undefined,
): Promise<void> {
  const adapter = await late?.adapter();
  if (adapter && names && !(await names()).includes(adapter.name)) throw withoutAdapter(url, adapter, late);
}

function withoutAdapter(url: string, { name, label }: NamedAdapter, late: LateServers | undefined): ModelError {
  late?.update();
  return new ModelError(`${url} lacks the adapter ${name}, and the run is at ${JSON.stringify(label)}`, {
    reason: OLD_WEIGHTS,
    fix: 'It is given that, and asked again then; `everturn status` shows what keeps it.',
    retryable: true,
    retryAfterMs: 1000,
  });
}

/**
 * Throws if the server must get other weights first: one that was restarted has those that it was started with, and a workflow gives it
 * the run's. Without a label that cannot be detected.
 */
export async function refuseLate(url: string, label: string | null, late: LateServers | undefined): Promise<void> {
  const wanted = (await late?.wanted(label)) ?? null;
  if (wanted === null) return;
  late!.update();
  throw new ModelError(`${url} has weights ${JSON.stringify(label)}, and the run is at ${JSON.stringify(wanted)}`, {
    reason: OLD_WEIGHTS,
    fix: 'It is given those of the run, and asked again then; `everturn status` shows what keeps it.',
    retryable: true,
    retryAfterMs: 1000,
  });
}
