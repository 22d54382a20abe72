// Temporal's histories of a run's rollouts, held against its folder: each generation, verdict and end that a history has is
// recorded once, with the same content.

import { isDeepStrictEqual } from 'node:util';
import { defaultPayloadConverter } from '@temporalio/common';
import type { RolloutResult } from '../../domain/rollout/ending.ts';
import type { Generated, OpenedRollout, TurnReference } from '../../domain/rollout/rollout-facts.ts';
import type { Verdict } from '../../domain/rollout/verdict.ts';
import type { RolloutId } from '../../domain/names/ids.ts';
import type { Store } from '../../records/store.ts';
import type { Rig } from '../support/rig.ts';
import type { HistoryEvent } from './histories.ts';

/** `told`: how many workflows of rollouts have a history. */
export async function historyProblems(rig: Rig, store: Store, run: string) {
  const problems: string[] = [];
  let told = 0;
  const query = `EverturnRun = '${run}' AND WorkflowType = 'rollout'`;
  for await (const { workflowId, runId } of rig.client.workflow.list({ query })) {
    const { events } = await rig.client.workflow.getHandle(workflowId, runId).fetchHistory();
    told++;
    for (const problem of await problemsOf(store, toldBy(events ?? []))) problems.push(`${workflowId}: ${problem}`);
  }
  return { problems, told };
}

interface Told {
  readonly rollout: RolloutId | undefined;
  /** By turn. */
  readonly asked: Map<number, number>;
  readonly generated: Map<number, Generated>;
  readonly judged: Map<number, Verdict>;
  readonly result: RolloutResult | undefined;
}

function toldBy(events: readonly HistoryEvent[]): Told {
  const asked = new Map<number, number>();
  const generated = new Map<number, Generated>();
  const judged = new Map<number, Verdict>();
  /** Scheduling event → the turn and the kind of activity. */
  const calls = new Map<string, { readonly turn: number; readonly what: string }>();
  let rollout: RolloutId | undefined;
  for (const event of events) {
    const scheduled = event.activityTaskScheduledEventAttributes;
    const what = scheduled?.activityType?.name;
    if (what === 'generate' || what === 'evaluate') {
      const { turn } = first<TurnReference>(scheduled?.input)!;
      calls.set(String(event.eventId), { turn, what });
      if (what === 'generate') asked.set(turn, (asked.get(turn) ?? 0) + 1);
    }
    const completed = event.activityTaskCompletedEventAttributes;
    const call = calls.get(String(completed?.scheduledEventId));
    if (call?.what === 'generate') generated.set(call.turn, first<Generated>(completed?.result)!);
    else if (call) judged.set(call.turn, first<Verdict>(completed?.result)!);
    const marker = event.markerRecordedEventAttributes;
    if (marker?.markerName !== 'core_local_activity' || marker.failure) continue;
    const local = first<{ activity_type: string }>(marker.details?.['data'])?.activity_type;
    const value = first(marker.details?.['result']);
    if (local === 'open') ({ rollout } = value as OpenedRollout);
    // Its input is not in history; it judges the last turn that was generated.
    else if (local === 'evaluate') judged.set(Math.max(0, ...asked.keys()), value as Verdict);
  }
  const result = first<RolloutResult>(events.at(-1)?.workflowExecutionCompletedEventAttributes?.result);
  return { rollout, asked, generated, judged, result };
}

async function problemsOf(store: Store, { rollout, asked, generated, judged, result }: Told): Promise<string[]> {
  if (!rollout) return [];
  const problems: string[] = [];
  for (const [turn, times] of asked) if (times > 1) problems.push(`turn ${turn} was asked for ${times} times`);
  for (const [turn, one] of generated) {
    const hash = (await store.get('turn', rollout, turn))?.hash;
    if (!one.noRoom && one.hash !== hash) problems.push(`turn ${turn} was generated as ${one.hash} and is ${hash}`);
  }
  for (const [turn, { verdict, reason }] of judged) {
    const record = (await store.get('verdict', rollout, turn))?.record;
    if (record?.verdict !== verdict || record.reason !== reason)
      problems.push(`turn ${turn} was judged ${verdict}, ${reason} and is ${record?.verdict}, ${record?.reason}`);
  }
  if (!result) return problems;
  const end = (await store.get('end', rollout))?.record;
  const says = { ...scored(result), turns: result.turns };
  const is = end && { ...scored(end), turns: end.turns.length };
  if (!isDeepStrictEqual(says, is)) problems.push(`ended as ${JSON.stringify(says)} and is ${JSON.stringify(is)}`);
  return problems;
}

const scored = ({
  outcome,
  stopReason,
  returns,
  success,
}: Pick<RolloutResult, 'outcome' | 'stopReason' | 'returns' | 'success'>) => ({
  ...{ outcome, stopReason, returns, success },
});

type Payloads = NonNullable<NonNullable<HistoryEvent['workflowExecutionStartedEventAttributes']>['input']>;

/** The decoded first payload. */
function first<T>(payloads: Payloads | null | undefined): T | undefined {
  const payload = payloads?.payloads?.[0];
  return payload ? defaultPayloadConverter.fromPayload<T>(payload) : undefined;
}
