// Asks a server again for the logprobs of its own answer, given as a context, and compares. They are computed in another way
// then (all tokens at once), so logprobs that are not the model's are found, and kernels that disagree. The first answers of
// a run are compared until one agrees, later one in so many; after a disagreement, and where the server came back, the next
// ones again. Nothing is known where a server gives no logprobs of contexts, where they are of another distribution, or weights changed meanwhile.

import { ModelError } from '../../domain/errors/errors.ts';
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
  /** Of the last of `ids`: those of the answer. */
  readonly logprobs: readonly number[];
  /** Of all of them; undefined: the server has no label. */
  readonly version: string | undefined;
}

/** In the server's status. */
export interface Rechecks {
  readonly answers: number;
  readonly tokens: number;
  /** The waits of these answers in sum: they wait beside each other. */
  readonly waitedMs: number;
  readonly differed: number;
}

/**
 * Noise, for each token: a logit that differs by d changes a logprob by (1 - p)·d. 0.15 is the tolerance of canaries: float32
 * differs by 1e-5, bfloat16 by 0.02. Logprobs of 0 differ by 1 or more, halved ones by 0.5 or more.
 */
const LOGIT_NOISE = 0.15;
/** For an answer: one token of few may differ widely. */
const SLACK = 0.25;

/** Runs of which the count of answers is kept; the next answer of a run that is forgotten is compared. */
const RUNS_KEPT = 64;

export class Recheck {
  readonly #every: number;
  /** Answers of each run since its last comparison; of a run that is not here the next one is compared. */
  readonly #since = new Map<string, number>();
  #done: Rechecks = { answers: 0, tokens: 0, waitedMs: 0, differed: 0 };

  /** 0: never. */
  constructor(every: number) {
    this.#every = every;
  }

  get status(): Rechecks {
    return this.#done;
  }

  /** The next answer of each run is compared. */
  beginAnew(): void {
    this.#since.clear();
  }

  /** Throws if the server's two answers differ by more than noise. */
  async of(
    run: string,
    forced: Forced | null,
    ask: (forced: Forced) => Promise<Given | null>,
    url: string,
  ): Promise<void> {
    if (forced === null || this.#every === 0) return;
    const since = (this.#since.get(run) ?? Number.POSITIVE_INFINITY) + 1;
    if (since < this.#every) return this.#count(run, since);
    const startedAt = performance.now();
    const given = await ask(forced).catch((error: unknown) => {
      // Its failure is no answer to the question.
      if (error instanceof ModelError) return null;
      throw error;
    });
    const compared = given && isComparable(forced, given);
    const differs = compared ? difference(forced.logprobs, given.logprobs) : null;
    if (differs === null) this.#count(run, 0);
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

  #count(run: string, since: number): void {
    this.#since.delete(run);
    this.#since.set(run, since);
    if (this.#since.size > RUNS_KEPT) this.#since.delete(this.#since.keys().next().value!);
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
