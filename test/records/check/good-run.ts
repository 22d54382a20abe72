// A whole run without a flaw, as files: what the checks' tests damage.

import { readEndedResult } from '../../../activities/recorded.ts';
import { addResult, noCounts } from '../../../domain/run/progress.ts';
import type { Store } from '../../../records/store.ts';
import { openLoose } from '../ended-rig.ts';
import { aQuery, play, putRun, RUN, someSettings } from '../play.ts';

/** An answer that ended before its first token. */
const EMPTY = { outputIds: [], logprobs: [], outputText: '', answer: '', versions: [{ version: 0, start: 0, end: 0 }] };

/**
 * Two samples each; query `three/3` has a failed first attempt and a finished second one, `two` cannot be decided, and `FOUR`
 * begins with an empty answer.
 */
export const queries = ['one', 'two', 'three/3', 'FOUR'].map((id) => aQuery(id));

export async function playGoodRun(out: string): Promise<Store> {
  const store = openLoose(out);
  await putRun(store, queries, { samples: 2 });
  for (const [index, query] of queries.entries()) {
    for (const sample of [0, 1]) {
      if (index === 2 && sample === 0) {
        await play(store, { query, index, sample, verdicts: ['wrong'], stop: 'failed', unjudged: 1 });
        await play(store, { query, index, sample, attempt: 2, verdicts: ['wrong', 'wrong', 'right'] });
      } else if (index === 1) {
        await play(store, { query, index, sample, verdicts: ['wrong', 'undecided'], stop: 'undecided' });
      } else {
        await play(store, {
          query,
          index,
          sample,
          verdicts: ['wrong', 'right', 'wrong'],
          versions: [0, 0, 1],
          turn: (turn) => (index === 3 && turn === 1 ? EMPTY : {}),
        });
      }
    }
  }
  const { numTurns } = someSettings();
  const counts = noCounts();
  for await (const id of store.listRollouts())
    if (id.attempt === 1) addResult(counts, (await readEndedResult(store, { out, ...id }))!, numTurns);
  await store.put('result', null, { run: RUN, total: 8, cancelled: false, numTurns, counts });
  return store;
}
