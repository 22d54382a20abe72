// The reference answers of a query: its solutions, or, where an environment of the user's judges, those that its row names.
// Pure.

import { finalValue } from '../text/boxed-answer.ts';
import type { Json } from '../text/json.ts';
import type { Query } from './query.ts';

/** The fields of a row in which a reference is looked for, in this order. */
const FIELDS = ['reference', 'label', 'answer', 'ground_truth', 'solutions'];

export function referencesIn(row: Readonly<Record<string, unknown>>, names: readonly string[] = FIELDS): string[] {
  const reference = names
    .map((name) => row[name] as Json | undefined)
    .find((value) => value !== undefined && value !== null);
  const all = Array.isArray(reference) ? reference : reference === undefined ? [] : [reference];
  return all.filter((one) => one !== null).map((one) => (typeof one === 'string' ? one : JSON.stringify(one)));
}

export const referencesOf = ({ solutions, row }: Pick<Query, 'solutions' | 'row'>): readonly string[] =>
  solutions.length > 0 || row === undefined ? solutions : referencesIn(row);

const MOST_VALUES = 3;
const VALUE_CHARS = 80;

/** Their values for a list: a few, and short. */
export function expectedValues(query: Pick<Query, 'solutions' | 'row'>): string[] {
  const values = referencesOf(query).map((text) => finalValue(text.trim(), VALUE_CHARS));
  return [...new Set(values)].slice(0, MOST_VALUES);
}
