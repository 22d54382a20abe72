// The wrong answers of a run, in data set order: rollouts that have ended with a last judged answer that is wrong, the last attempt
// of each. Those with a person's message in their context are left out, as in every number. Memory: some hundred bytes of each.

import { unusable } from '../domain/errors/unusable.ts';
import { isOfCategory, type RolloutRow } from '../domain/rollout/rollout-row.ts';
import { oneLine } from '../domain/text/foreign-text.ts';
import { rolloutFolder } from '../records/format/layout.ts';
import type { Breach, Store } from '../records/store.ts';

export interface WrongAnswer extends Pick<RolloutRow, 'query' | 'sample' | 'attempt' | 'title' | 'categories'> {
  /** 1-based. */
  readonly turn: number;
  /** The verdict's reason: `different`, `no-answer`, … */
  readonly reason: string;
  /** The final answer that the judge found; null: none. Text of a model. */
  readonly extracted: string | null;
  /** The first reference solution; null: the row has none. */
  readonly reference: string | null;
  /** A limit on tokens ended the answer. */
  readonly isCut: boolean;
}

/**
 * `broken`: rollouts with damaged records, which may be wrong too. `category`: those alone that it names, by any of its
 * kinds; throws a UsageError where no query has it.
 */
export async function wrongAnswers(
  store: Store,
  category?: string,
): Promise<{ readonly wrong: readonly WrongAnswer[]; readonly broken: readonly Breach[] }> {
  const last = new Map<string, RolloutRow>();
  for await (const row of store.listRows({ inFlight: true })) {
    const key = JSON.stringify([row.query, row.sample]);
    if ((last.get(key)?.attempt ?? 0) < row.attempt) last.set(key, row);
  }
  const place = ({ index }: RolloutRow) => index ?? Infinity;
  const rows = category === undefined ? [...last.values()] : ofCategory([...last.values()], category);
  const wrong = rows
    .filter(({ state, success, steered }) => state !== 'open' && !steered && success.findLast((s) => s !== null) === 0)
    .sort((a, b) => (place(a) === place(b) ? 0 : place(a) - place(b)) || a.sample - b.sample)
    .map(wrongAnswer);
  const broken = rows.flatMap((row): Breach[] =>
    row.flaw === undefined ? [] : [{ path: rolloutFolder(row), problem: `has a damaged record: ${row.flaw}` }],
  );
  return { wrong, broken };
}

const MOST_NAMED = 40;

function ofCategory(rows: readonly RolloutRow[], category: string): RolloutRow[] {
  const named = rows.filter((row) => isOfCategory(row, category));
  if (named.length > 0) return named;
  const there = [...new Set(rows.flatMap(({ categories }) => Object.values(categories ?? {})))].sort();
  const some = there.slice(0, MOST_NAMED).map((one) => oneLine(one));
  throw unusable(
    `No query is of the category ${JSON.stringify(oneLine(category))}.`,
    there.length === 0 ? 'The rows of this run have none.' : `There are: ${some.join(', ')}.`,
  );
}

function wrongAnswer({ query, sample, attempt, title, categories, success, expected, turns }: RolloutRow): WrongAnswer {
  const answer = success.findLastIndex((s) => s !== null);
  const turn = turns.answers?.[answer] ?? answer;
  return {
    ...{ query, sample, attempt, title, ...(categories && { categories }), turn: turn + 1 },
    reason: turns.reasons[turn] ?? '',
    extracted: turns.extracted,
    reference: expected?.[0] ?? null,
    isCut: turns.finish[turn] === 'l',
  };
}
