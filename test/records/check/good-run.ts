// A whole run without a flaw, as files, and the histories that Temporal would keep of it: what the checks' tests do harm to.

import { addResult, noCounts } from '../../../domain/run/progress.ts';
import type { RolloutHistory } from '../../../domain/rollout/rollout-history.ts';
import type { RolloutResult } from '../../../domain/rollout/ending.ts';
import { outputTokens } from '../../../domain/rollout/turn.ts';
import { countedVerdicts } from '../../../domain/rollout/verdict.ts';
import type { Store } from '../../../records/store.ts';
import { openLoose } from '../ended-rig.ts';
import { aQuery, play, putRun, RUN, someSettings } from '../play.ts';

/** Two samples each; query `three/3` has a failed first attempt and a finished second one, `two` cannot be decided. */
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
        await play(store, { query, index, sample, verdicts: ['wrong', 'right', 'wrong'], versions: [0, 0, 1] });
      }
    }
  }
  const { numTurns } = someSettings();
  const counts = noCounts();
  for (const { result } of await historiesOf(store, out)) {
    if (result?.trajectory.attempt === 1) addResult(counts, result, numTurns);
  }
  await store.putResult({ run: RUN, total: 8, cancelled: false, numTurns, counts });
  return store;
}

/** Of every rollout that is in the store. */
export async function historiesOf(store: Store, out: string): Promise<RolloutHistory[]> {
  const histories: RolloutHistory[] = [];
  const run = (await store.getRun())!;
  for await (const id of store.listRollouts()) {
    const trajectory = { out, ...id };
    const begun = (await store.getRollout(id))!;
    const end = (await store.getEnd(id))!.record;
    let tokens = 0;
    const turns = [];
    for (let turn = 1; turn <= end.turns.length; turn++) {
      const { record, hash } = (await store.getTurn(id, turn))!;
      const { verdict, reason } = (await store.getVerdict(id, turn))!.record;
      tokens += outputTokens(record)!;
      const { contextLength: contextTokens, finish, versionStart, versionEnd } = record;
      const facts = { turn, outputTokens: outputTokens(record), contextTokens, finish, versionStart, versionEnd, hash };
      turns.push({
        turn,
        asked: 1,
        tries: 1,
        generated: { noRoom: false, ...facts },
        judged: { verdict, reason },
      } as const);
    }
    const { outcome, stopReason, returns, success, failure } = end;
    const reason = failure?.reason ?? (outcome === 'undecided' ? turns.at(-1)!.judged.reason : null);
    const result: RolloutResult = {
      outcome,
      stopReason,
      returns,
      success,
      tokens,
      reason,
      turns: turns.length,
      verdicts: countedVerdicts(turns.map(({ judged }) => judged)),
      trajectory,
    };
    const records = { run: run.hash, rollout: begun.hash };
    const workflowId = `${RUN}/${id.query}/${id.sample}`;
    histories.push({ workflowId, state: 'completed', out, rollout: trajectory, records, turns, result });
  }
  return histories;
}
