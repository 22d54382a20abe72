// May a server be asked? After failures it is left alone for a while, then tried by one probe, then by one
// request, two, four: whoever comes back is not met by everybody at once. Waits double, and are jittered. A server
// that answers others meanwhile is bad, not down: it goes on being asked, since every answer that comes counts.

export interface CircuitOptions {
  /** Resolves when the server is well again. Called by one probe at a time. */
  readonly probe: () => Promise<void>;
  /** The server may be asked again, or no longer. */
  readonly onChange: () => void;
  readonly coolDownMs?: number;
  readonly longestCoolDownMs?: number;
  readonly random?: () => number;
}

const FAILURES_IN_A_ROW = 3;
/** A server that answered this recently counts as reachable. */
const ANSWERED_LATELY_MS = 1000;
/** A server that answered a moment ago and takes no connection may only be starting again: looked at soon. */
const BLINK_MS = 50;
/** From here on a server that came back is one like the others. */
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

  /** Until the next probe; 0 where none is due. */
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

  /** `gone`: nobody is there. One such failure is enough, as is any of a server that answers nobody. */
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
    // Those who asked a moment ago are no herd.
    if (this.#isBlink) return this.#become('up');
    this.#allowance = 1;
    this.#become('trying');
  }

  #become(state: 'up' | 'trying' | 'down'): void {
    this.#state = state;
    this.#options.onChange();
  }
}
