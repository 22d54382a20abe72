// Packed rollouts as rows of a list. A pack holds a rollout as a whole, so its turns are known at once.

import { firstWords } from '../domain/foreign-text.ts';
import { questionOf } from '../domain/query.ts';
import type { RolloutRecord } from '../domain/trajectory.ts';
import { ROLLOUT_FILE } from '../storage/record/layout.ts';
import type { Store } from '../storage/store.ts';
import { filesOfPack } from '../storage/summaries.ts';
import { factsOf } from './glance.ts';
import type { RowPlace } from './model/messages.ts';
import type { Row } from './model/row.ts';

export type Named = Pick<Row, 'index' | 'title'>;
export const TITLE_CHARS = 120;

/** By query. */
export async function packedRollouts(store: Store): Promise<Map<string, RowPlace[]>> {
  const all = new Map<string, RowPlace[]>();
  for await (const { query, sample, attempt } of store.listPacked()) {
    const places = all.get(query);
    if (places) places.push({ query, sample, attempt });
    else all.set(query, [{ query, sample, attempt }]);
  }
  return all;
}

/** Undefined if it is packed no more. `named`: its place and title, where the data set has them. */
export async function packedRow(store: Store, id: RowPlace, named: Named | undefined): Promise<Row | undefined> {
  const packed = await store.packedFiles({ run: '', ...id });
  const facts = packed && factsOf(filesOfPack(packed), id, 'turns');
  if (!facts) return undefined;
  const { index, title } = named ?? { index: null, title: titleIn(packed.get(ROLLOUT_FILE)) };
  return { index, title, ...id, ...facts };
}

function titleIn(text: string | undefined): string {
  try {
    return firstWords(questionOf((JSON.parse(text ?? '') as RolloutRecord).query), TITLE_CHARS);
  } catch {
    // Torn: `check` names it.
    return '';
  }
}
