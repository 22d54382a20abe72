// The identity of a model, by its behaviour: paths differ between machines with the same model, and whole families
// share a vocabulary size. Names the differences of two models, with both values; compares only facts that both report.

import { HASH, mapOf, maybe, NUMBER, objectOf, oneOf, orNull, TEXT, type TypeOf } from '../schema/fields.ts';

/** Logprobs of a fixed probe: `<place>:<id>` for given ids, `top:<id>` for the most probable next ones. */
const CANARY = objectOf({
  /** The server's own name for its weights; null if it reports none. */
  version: orNull(TEXT),
  values: mapOf(NUMBER),
});
export type Canary = TypeOf<typeof CANARY>;

export const MODEL = objectOf({
  /** The served name; null if that is only the path of a folder. */
  name: orNull(TEXT),
  /** SHA-256 of everything that decides a text's ids. */
  tokenizer: orNull(HASH),
  /** SHA-256 of the chat template. */
  template: orNull(HASH),
  /** SHA-256 of the weights' files; of embedded models. */
  weights: orNull(HASH),
  canary: orNull(CANARY),
  /** A mixture of experts; absent: it is none, or its config.json was not found. */
  hasExperts: maybe(oneOf(true)),
  /** All servers say to which of them each token went. */
  givesExperts: maybe(oneOf(true)),
});
export type ModelIdentity = TypeOf<typeof MODEL>;

/**
 * Servers without a configured name report the folder that they were started with; SGLang, whatever its name was, the
 * folder of the weights that it loaded last.
 */
export function isFolder(name: string): boolean {
  return /^(?:[/~.]|[A-Za-z]:[\\/])/.test(name);
}

/**
 * Mean difference of the canary's logprobs up to which two servers have the same weights, in nats. Measured: two servers
 * in float32 1e-6; the shipped model against itself in bfloat16 0.016, int8 0.024, FP8 weights 0.08, int4 0.36; another
 * model 3.2 (docs/servers.md).
 */
export const CANARY_TOLERANCE = 0.15;

const TRAITS = ['name', 'tokenizer', 'template', 'weights'] as const;

/** `name: "qwen" at http://a, "llama" at http://b`; null if no fact that both report differs. Canaries are apart. */
export function differingTraits(a: Named, b: Named): string | null {
  const differences = TRAITS.flatMap((trait) => {
    const [one, other] = [a.identity[trait] ?? null, b.identity[trait] ?? null];
    if (one === null || other === null || one === other) return [];
    const short = (value: string) => (trait === 'name' ? JSON.stringify(value) : value.slice(0, 12));
    return [`${LABELS[trait]}: ${short(one)} at ${a.who}, ${short(other)} at ${b.who}`];
  });
  return differences.length > 0 ? differences.join('; ') : null;
}

const LABELS: Readonly<Record<(typeof TRAITS)[number], string>> = {
  name: 'name',
  tokenizer: 'tokenizer (hash)',
  template: 'chat template (hash)',
  weights: 'weights (hash)',
};

export interface Named {
  readonly who: string;
  readonly identity: ModelIdentity;
}

/** Null if they agree within noise, are of different versions, or have nothing in common. */
export function differingCanaries(a: Named, b: Named): string | null {
  const [one, other] = [a.identity.canary, b.identity.canary];
  if (!one || !other || one.version !== other.version) return null;
  const distance = canaryDistance(one, other);
  if (distance === null || distance <= CANARY_TOLERANCE) return null;
  const at = one.version === null ? '' : ` at version ${JSON.stringify(one.version)}`;
  const widest = widestGap(one, other);
  const values = widest
    ? ` (${widest[0].toFixed(3)} at ${a.who}, ${widest[1].toFixed(3)} at ${b.who} for the widest)`
    : '';
  return `canary's logprobs${at}: apart by ${distance.toFixed(3)} on average, ${CANARY_TOLERANCE} are noise${values}`;
}

/** Mean difference, in nats; null if nothing can be compared. */
export function canaryDistance(a: Canary, b: Canary): number | null {
  const distances = pairs(a, b).map(([one, other]) => Math.abs(one - other));
  if (distances.length > 0) return mean(distances);
  const top = [...topGaps(a, b), ...topGaps(b, a)];
  return top.length > 0 ? mean(top) : null;
}

const TOP = 'top:';
/** Noise first replaces the less probable of the most probable tokens, so only the best count. */
const BEST = 8;

function pairs(a: Canary, b: Canary): [number, number][] {
  return Object.entries(a.values).flatMap(([key, value]) =>
    key.startsWith(TOP) || b.values[key] === undefined ? [] : [[value, b.values[key]]],
  );
}

/** The distances of `a`'s best tokens in `b`. A token that `b` does not list has at most its least listed logprob. */
function topGaps(a: Canary, b: Canary): number[] {
  const best = Object.entries(a.values)
    .filter(([key]) => key.startsWith(TOP))
    .toSorted(([, one], [, other]) => other - one)
    .slice(0, BEST);
  const named = Object.entries(b.values).flatMap(([key, value]) => (key.startsWith(TOP) ? [value] : []));
  if (named.length === 0) return [];
  const least = Math.min(...named);
  return best.map(([key, value]) => {
    const otherValue = b.values[key];
    return otherValue === undefined ? Math.max(0, value - least) : Math.abs(value - otherValue);
  });
}

function widestGap(a: Canary, b: Canary): [number, number] | undefined {
  const both = Object.entries(a.values).flatMap(([key, value]): [number, number][] =>
    b.values[key] === undefined ? [] : [[value, b.values[key]]],
  );
  return both.toSorted(([a1, b1], [a2, b2]) => Math.abs(a2 - b2) - Math.abs(a1 - b1))[0];
}

function mean(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}
