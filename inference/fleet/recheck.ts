// Asks a server again for the logprobs of its own answer, given as a context, and compares both. The server computes them in
// another way then, for all tokens at once, so the comparison finds logprobs that are not the model's, and kernels that
// disagree. Every answer of a run is compared until ten in a row agree, and one in so many after that; a disagreement, and a
// server that came back, begin with ten again. Nothing is compared where a server gives no logprobs of contexts, gives those
// of another distribution, or got other weights meanwhile.

import { ModelError } from '../../domain/errors/errors.ts';
import { NO_RECHECKS, type Rechecks } from '../../domain/run/server-status.ts';
import { badReply } from '../http/http-errors.ts';

/** The logprobs that a server gives the last tokens of a context. */
export interface Given {
  readonly logprobs: readonly (number | null)[];
  /** The server's label of the weights that gave them; null: it has none. */
  readonly version: string | null;
}

/** An answer as a context. */
export interface Forced {
  readonly ids: readonly number[];
  /** One for each id of the answer, which are the last of `ids`. */
  readonly logprobs: readonly number[];
  /** The label of the weights that gave them; undefined: the server has none. */
  readonly version: string | undefined;
}

/**
 * Noise, for each token: a logit that differs by d changes a logprob by (1 - p)·d. 0.15 is the tolerance of canaries: float32
 * differs by 1e-5, bfloat16 by 0.02. Logprobs of 0 differ by 1 or more, halved ones by 0.5 or more.
 */
const LOGIT_NOISE = 0.15;
/** Added for a whole answer, because one token of few may differ widely. */
const SLACK = 0.25;

/** Answers of a run that agree one after the other, before only one in so many is compared. */
const FIRST = 10;
/** A run that is forgotten begins again. */
const RUNS_KEPT = 64;

interface Trust {
  readonly agreed: number;
  /** Answers since the last comparison. */
  readonly since: number;
}
const NONE: Trust = { agreed: 0, since: 0 };

export class Recheck {
  readonly #every: number;
  readonly #trust = new Map<string, Trust>();
  #done = NO_RECHECKS;

  /** 0: never. */
  constructor(every: number) {
    this.#every = every;
  }

  get status(): Rechecks {
    return this.#done;
  }

  /** Trusts no run's answers. */
  beginAnew(): void {
    this.#trust.clear();
  }

  /** Throws if the server's two answers differ by more than noise. */
  async of(
    run: string,
    forced: Forced | null,
    ask: (forced: Forced) => Promise<Given | null>,
    url: string,
  ): Promise<void> {
    if (forced === null || this.#every === 0) return;
    const { agreed, since } = this.#trust.get(run) ?? NONE;
    if (agreed >= FIRST && since + 1 < this.#every) return this.#keep(run, { agreed, since: since + 1 });
    const startedAt = performance.now();
    const given = await ask(forced).catch((error: unknown) => {
      // Its failure is no answer to the question.
      if (error instanceof ModelError) return null;
      throw error;
    });
    const compared = given && isComparable(forced, given);
    const differs = compared ? difference(forced.logprobs, given.logprobs) : null;
    // An answer that cannot be compared is not asked for more often.
    if (differs === null) this.#keep(run, { agreed: (this.#trust.get(run) ?? NONE).agreed + 1, since: 0 });
    else this.beginAnew();
    this.#done = {
      answers: this.#done.answers + (compared ? 1 : 0),
      tokens: this.#done.tokens + forced.ids.length,
      waitedMs: this.#done.waitedMs + (compared ? performance.now() - startedAt : 0),
      differed: this.#done.differed + (differs === null ? 0 : 1),
    };
    if (differs === null) return;
    throw badReply(`gives its own answer other logprobs when it is asked again: ${differs}`, place(url), {
      reason: 'bad-logprobs',
      flaw: 'logprobs that the server does not repeat',
    });
  }

  #keep(run: string, trust: Trust): void {
    this.#trust.delete(run);
    this.#trust.set(run, trust);
    if (this.#trust.size > RUNS_KEPT) this.#trust.delete(this.#trust.keys().next().value!);
  }
}

const place = (url: string) => ({ url, path: '', secret: null });

function isComparable({ version }: Forced, given: Given): boolean {
  const moved = version !== undefined && given.version !== null && version !== given.version;
  return !moved && given.logprobs.length > 0 && !given.logprobs.includes(null);
}

/** Null if they agree within noise. */
function difference(said: readonly number[], given: readonly (number | null)[]): string | null {
  // A context that is full leaves out the last.
  const pairs = given.map((logprob, i) => [said[i]!, logprob!] as const);
  const distance = pairs.reduce((sum, [one, other]) => sum + Math.abs(one - other), 0);
  const unsure = pairs.reduce((sum, [, other]) => sum + 1 - Math.exp(Math.min(other, 0)), 0);
  const noise = LOGIT_NOISE * unsure + SLACK;
  if (distance <= noise) return null;
  const [one, other] = pairs.toSorted((a, b) => Math.abs(b[0] - b[1]) - Math.abs(a[0] - a[1]))[0]!;
  return `${distance.toFixed(2)} nats apart over ${pairs.length} tokens, ${noise.toFixed(2)} are noise (${one.toFixed(3)} and ${other.toFixed(3)} at the widest)`;
}

/** Waits for `work`, but no longer than the signal allows: nobody waits for the comparison then. */
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
