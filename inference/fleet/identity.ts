// Identifies a server's model: its name, the files of its tokenizer, and its behaviour, the logprobs of a canary.

import { type Canary, isFolder, type ModelIdentity } from '../../domain/weights/model-identity.ts';
import type { Peek } from './logprob-canary.ts';
import { tokenizerHashes } from '../tokenizer/model-files.ts';
import type { ServedTokenizer } from '../tokenizer/server-tokenizer.ts';

/** Ordinary words of several kinds, with a range of probabilities. */
const CANARY_TEXT =
  'The capital of France is Paris, and 17 + 25 = 42. def add(a, b):\n    return a + b\nEs war einmal ein König, der ' +
  'hatte drei Töchter. Давным-давно жил старик. 从前有一个国王。 If x^2 = 9, then x = 3 or x = -3. \\frac{1}{2} \\boxed{7} ' +
  'To be, or not to be: that is the question. SELECT name FROM users WHERE id = 1; Water boils at 100 °C.';
const CANARY_TOKENS = 96;

interface Question {
  /** The name under which it is served. */
  readonly name: string;
  readonly served: ServedTokenizer;
  /** The length of the model's context. */
  readonly contextLength: number;
  /** Logprobs of these ids, and of possible next tokens. Null if the server returns none. */
  readonly canary: (ids: readonly number[]) => Promise<Canary | null>;
}

export async function serverIdentity({ name, served, contextLength, canary }: Question): Promise<ModelIdentity> {
  const all = await served.tokenizer.encodeRendered(CANARY_TEXT);
  const ids = all.slice(0, Math.min(CANARY_TOKENS, Math.max(0, contextLength - 2)));
  return {
    name: isFolder(name) ? null : name,
    ...(await tokenizerHashes(served.folder)),
    weights: null,
    canary: ids.length > 0 ? await canary(ids) : null,
    ...(served.hasExperts && { hasExperts: true }),
  };
}

/** Four digits exceed the noise, and take little space. */
export function serverCanary(
  given: readonly (readonly [id: number, logprob: number | null])[],
  peek: Peek | null,
  version: string | null,
): Canary | null {
  const round = (logprob: number) => Math.round(logprob * 1e4) / 1e4;
  const values: Record<string, number> = {};
  for (const [place, [id, logprob]] of given.entries()) if (logprob !== null) values[`${place}:${id}`] = round(logprob);
  for (const [id, logprob] of peek?.byId ?? []) values[`top:${id}`] = round(logprob);
  return Object.keys(values).length > 0 ? { version, values } : null;
}
