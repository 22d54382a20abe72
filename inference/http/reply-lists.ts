// Lists in a server's answer, one entry per token: checked by hand, since zod takes ten times as long for each entry,
// and copies it. Only the fields that are read are checked.

import { z } from 'zod';

type Loose = Readonly<Record<string, unknown>> | null | undefined;

const isNumber = (value: unknown): boolean => Number.isFinite(value);
const isNumberOrNull = (value: unknown): boolean => value === null || Number.isFinite(value);

function list<T>(what: string, isEntry: (entry: unknown) => boolean) {
  return z.custom<readonly T[]>((value) => Array.isArray(value) && value.every(isEntry), `expected a list of ${what}`);
}

export const numbers = list<number>('numbers', isNumber);
export const numbersOrNull = list<number | null>('numbers', isNumberOrNull);
export const strings = list<string>('texts', (entry) => typeof entry === 'string');

export const numbersByToken = list<readonly number[]>(
  'lists of numbers',
  (entry) => Array.isArray(entry) && entry.every(isNumber),
);

/** SGLang's [logprob, id, text]. */
type LogprobTriple = readonly [logprob: number | null, id: number, ...rest: unknown[]];
const isTriple = (entry: unknown) => Array.isArray(entry) && isNumberOrNull(entry[0]) && isNumber(entry[1]);
export const triples = list<LogprobTriple>('[logprob, token id]', isTriple);
export const triplesByToken = list<readonly LogprobTriple[] | null>(
  'lists of [logprob, token id]',
  (entry) => entry === null || (Array.isArray(entry) && entry.every(isTriple)),
);

/** vLLM's, of one token. */
interface TokenLogprob {
  readonly token_id?: unknown;
  readonly logprob: number | null;
  readonly top_logprobs?: readonly { readonly token_id: number; readonly logprob: number | null }[] | null;
}
export const tokenLogprobs = list<TokenLogprob>('logprobs', (entry) => {
  const { logprob, top_logprobs: top } = (entry as Loose) ?? {};
  return isNumberOrNull(logprob) && (top == null || (Array.isArray(top) && top.every(isTop)));
});
const isTop = (entry: unknown) =>
  isNumber((entry as Loose)?.['token_id']) && isNumberOrNull((entry as Loose)!['logprob']);
