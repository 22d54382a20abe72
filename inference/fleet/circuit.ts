// The circuit breaker of one server. After failures it gets no requests for a while, then one probe, then one request,
// two, four, so that a recovering server is not overloaded at once. Pauses double, with jitter. A server that answers
// some requests is unreliable, not down: it still gets requests, because every answer counts.

export interface CircuitOptions {
  /** Resolves when the server answers again. Called by one probe at a time. */
  readonly probe: () => Promise<void>;
  /** The server gets requests again, or no longer. */
  readonly onChange: () => void;
  readonly coolDownMs?: number;
  readonly longestCoolDownMs?: number;
  readonly random?: () => number;
}

const FAILURES_IN_A_ROW = 3;
/** A server that answered this recently counts as reachable. */
const ANSWERED_LATELY_MS = 1000;
/** A server that answered a moment ago and refuses a connection may be restarting: it is probed soon. */
const BLINK_MS = 50;
/** After this time a server that recovered counts like the others. */
const FULLY_BACK = 64;

export class Circuit {
  #state: 'up' | 'trying' | 'down' = 'up';
  #failures = 0;
  #allowance = Number.POSITIVE_INFINITY;
  #waitMs: number;
  #nextProbeAt = 0;
  #answeredAt = Number.NEGATIVE_INFINITY;
  #isBlink = false;
  #timer: NodeJS.Timeout | undefined;
  #closed = false;
  readonly #options: Required<CircuitOptions>;

  constructor(options: CircuitOptions) {
    this.#options = { coolDownMs: 1000, longestCoolDownMs: 20_000, random: Math.random, ...options };
    this.#waitMs = this.#options.coolDownMs;
  }

  get state(): 'up' | 'trying' | 'down' {
    return this.#state;
  }

  admits(inFlight: number): boolean {
    return this.#state !== 'down' && inFlight < this.#allowance;
  }

  /** Milliseconds until the next probe; 0 if none is scheduled. */
  get retryInMs(): number {
    return this.#state === 'down' ? Math.max(0, this.#nextProbeAt - performance.now()) : 0;
  }

  succeeded(): void {
    this.#failures = 0;
    this.#answeredAt = performance.now();
    if (this.#state !== 'trying') return;
    this.#allowance *= 2;
    if (this.#allowance < FULLY_BACK) return this.#options.onChange();
    this.#allowance = Number.POSITIVE_INFINITY;
    this.#waitMs = this.#options.coolDownMs;
    this.#become('up');
  }

  /** `gone`: the connection is refused. One such failure is enough, as is any of a server that never answers. */
  failed(gone: boolean): void {
    this.#failures++;
    if (this.#state === 'down') return;
    const answers = performance.now() - this.#answeredAt < ANSWERED_LATELY_MS;
    if (gone) return this.#open(answers && this.#state === 'up');
    if (answers) {
      if (this.#state === 'trying') this.#allowance = Math.max(1, this.#allowance / 2);
      return;
    }
    if (this.#state === 'trying' || this.#failures >= FAILURES_IN_A_ROW) this.open();
  }

  open(): void {
    this.#open(false);
  }

  #open(blink: boolean): void {
    if (this.#closed) return;
    const { random, longestCoolDownMs } = this.#options;
    this.#isBlink = blink;
    const waitMs = (blink ? Math.min(BLINK_MS, this.#waitMs) : this.#waitMs) * (0.5 + random());
    if (!blink) this.#waitMs = Math.min(this.#waitMs * 2, longestCoolDownMs);
    this.#nextProbeAt = performance.now() + waitMs;
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => void this.#probe(), waitMs);
    this.#timer.unref(); // waiting for a server keeps no process alive
    this.#become('down');
  }

  close(): void {
    this.#closed = true;
    clearTimeout(this.#timer);
  }

  async #probe(): Promise<void> {
    try {
      await this.#options.probe();
    } catch {
      return this.open();
    }
    if (this.#closed) return;
    this.#failures = 0;
    // The requests of a moment ago are few: no gradual start is needed.
    if (this.#isBlink) return this.#become('up');
    this.#allowance = 1;
    this.#become('trying');
  }

  #become(state: 'up' | 'trying' | 'down'): void {
    this.#state = state;
    this.#options.onChange();
  }
}
