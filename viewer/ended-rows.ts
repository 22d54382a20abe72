// Ended rollouts as rows of a list: from the index, how they ended; from their line, their turns too.

import { firstWords } from '../domain/text/foreign-text.ts';
import { questionOf } from '../domain/run/query.ts';
import type { RolloutRecord } from '../domain/rollout/trajectory.ts';
import { ROLLOUT_FILE } from '../records/record/layout.ts';
import type { EndedEntry, Store } from '../records/store.ts';
import { factsOf, rowFacts } from './glance.ts';
import type { RowPlace } from './model/messages.ts';
import type { Row } from './model/row.ts';

export type Named = Pick<Row, 'index' | 'title'>;
export const TITLE_CHARS = 120;

/** Undefined if it has no line. `named`: its place and title, where the data set has them. */
export async function endedRow(store: Store, id: RowPlace, named: Named | undefined): Promise<Row | undefined> {
  const { query, sample, attempt } = id;
  const records = await store.recordsOf({ run: '', query, sample, attempt });
  const facts = records && factsOf(records, { query, sample, attempt }, 'turns');
  if (!facts) return undefined;
  const { index, title } = named ?? { index: null, title: titleIn(records.text(ROLLOUT_FILE)) };
  return { index, title, query, sample, attempt, ...facts };
}

/** Without its turns; undefined where only its line can say it. */
export function listedRow({ query, sample, attempt, facts }: EndedEntry, named: Named | undefined): Row | undefined {
  if (!facts || !named) return undefined;
  const { index, title } = named;
  const id = { query, sample, attempt };
  return { index, title, ...id, ...rowFacts({ ...id, index, ...facts, turns: [] }, false) };
}

function titleIn(text: string | undefined): string {
  try {
    return firstWords(questionOf((JSON.parse(text ?? '') as RolloutRecord).query), TITLE_CHARS);
  } catch {
    // Torn: `check` names it.
    return '';
  }
}
