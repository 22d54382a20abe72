// The reply to a turn that called tools, when all of its calls have been run: made of their records by domain/rollout/calls.ts.

import { calledVerdict, callResult } from '../domain/rollout/calls.ts';
import { StoreError } from '../domain/errors/errors.ts';
import type { TrajectoryReference } from '../domain/names/ids.ts';
import type { EarlierTurn } from '../domain/context/new-context.ts';
import type { ToolSettings } from '../domain/tools/tool.ts';
import type { VerdictRecord } from '../domain/rollout/trajectory.ts';
import type { TurnRecord } from '../domain/rollout/turn.ts';
import type { Store } from '../records/store.ts';
import type { Tools } from '../environments/tools/tool.ts';

export async function replyToCalls(
  store: Store,
  id: TrajectoryReference,
  record: TurnRecord,
  hash: string,
  before: readonly EarlierTurn[],
  own: ToolSettings,
  tools: Tools,
): Promise<VerdictRecord> {
  const { turn, calls = [] } = record;
  const results = await Promise.all(
    calls.map(async (call, i) => {
      const stored = call.error === undefined ? await store.getCall(id, turn, i + 1) : undefined;
      if (call.error === undefined && !stored) throw missing(store, id, turn, i + 1);
      return callResult(call, stored, own);
    }),
  );
  const earlier = before.map((one) => one.turn);
  return calledVerdict(record, hash, results, earlier, own, tools);
}

function missing(store: Store, id: TrajectoryReference, turn: number, call: number): StoreError {
  return new StoreError(
    `Query "${id.query}", sample ${id.sample}: the record of call ${call} of turn ${turn} is not in ${store.folder}.`,
    { reason: 'record-missing', fix: 'Every worker of a run must reach the same folder; was a file removed?' },
  );
}
