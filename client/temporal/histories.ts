// Temporal's histories of a run, for the check that compares them with its folder: every execution of its rollouts that
// the server still has, and the result of its collection. Reads only.

import type { Client, WorkflowExecutionInfo, WorkflowHandle } from '@temporalio/client';
import { defaultPayloadConverter } from '@temporalio/common';
import { calling, type Session } from './connection.ts';
import { TemporalError } from '../../domain/errors/errors.ts';
import type { Generated, OpenedRollout, TurnReference } from '../../domain/rollout/rollout-facts.ts';
import type { Verdict } from '../../domain/rollout/verdict.ts';
import type { RolloutHistory, TurnHistory } from '../../domain/rollout/rollout-history.ts';
import type { RolloutResult } from '../../domain/rollout/ending.ts';
import type { CollectionInput, CollectionResult, RolloutInput } from '../../domain/run/messages.ts';

const AT_ONCE = 8;
/** Statuses of closed workflows that need no distinction, except these. */
const STATES: Readonly<Record<string, string>> = { RUNNING: 'running', PAUSED: 'running', COMPLETED: 'completed' };

/** Every execution of this run's rollouts that the server has, each with its whole history. */
export async function* rolloutHistories({ client }: Session, run: string): AsyncGenerator<RolloutHistory> {
  const query = `EverturnRun = '${run}' AND WorkflowType = 'rollout'`;
  let group: Promise<RolloutHistory | undefined>[] = [];
  for await (const { workflowId, runId, status } of listed(client, query)) {
    group.push(readHistory(client, workflowId, runId, STATES[status.name] ?? status.name.toLowerCase()));
    if (group.length < AT_ONCE) continue;
    yield* (await Promise.all(group)).filter((history) => history !== undefined);
    group = [];
  }
  yield* (await Promise.all(group)).filter((history) => history !== undefined);
}

async function* listed(client: Client, query: string): AsyncGenerator<WorkflowExecutionInfo> {
  try {
    yield* client.workflow.list({ query });
  } catch (cause) {
    throw new TemporalError('Temporal could not list the workflows of the run.', { reason: 'temporal-call', cause });
  }
}

/** The result of the run's last collection and its folder of runs; undefined if none completed. */
export async function collectionHistory(
  { client }: Session,
  run: string,
): Promise<{ readonly out: string; readonly result: CollectionResult } | undefined> {
  const query = `WorkflowId = '${run}' AND WorkflowType = 'collection' AND ExecutionStatus = 'Completed'`;
  for await (const { runId } of listed(client, query)) {
    const events = await eventsOf(client, run, runId);
    const input = first<CollectionInput>(events?.[0]?.workflowExecutionStartedEventAttributes?.input);
    const result = first<CollectionResult>(events?.at(-1)?.workflowExecutionCompletedEventAttributes?.result);
    if (input && result) return { out: input.out, result };
  }
  return undefined;
}

async function readHistory(
  client: Client,
  workflowId: string,
  runId: string,
  state: string,
): Promise<RolloutHistory | undefined> {
  const events = await eventsOf(client, workflowId, runId);
  // It closed between the two reads: the later status counts.
  const closed = events?.at(-1)?.workflowExecutionCompletedEventAttributes ? 'completed' : state;
  return events && historyOf(workflowId, closed, events);
}

type Events = NonNullable<Awaited<ReturnType<WorkflowHandle['fetchHistory']>>['events']>;

/** Undefined if the server has deleted it meanwhile. */
async function eventsOf(client: Client, workflowId: string, runId: string): Promise<Events | undefined> {
  return calling(`read the history of "${workflowId}"`, async () => {
    const { events } = await client.workflow.getHandle(workflowId, runId).fetchHistory();
    return events?.length ? events : undefined;
  });
}

/** Scheduling event → the turn and the kind of activity. */
type Asked = Map<string, { readonly turn: number; readonly what: 'generate' | 'evaluate' }>;

function historyOf(workflowId: string, state: string, events: Events): RolloutHistory {
  const input = first<RolloutInput>(events[0]?.workflowExecutionStartedEventAttributes?.input);
  const turns = new Map<number, TurnHistory>();
  const asked: Asked = new Map();
  let opened: OpenedRollout | undefined;
  let result: RolloutResult | undefined;

  const note = (turn: number, more: Partial<TurnHistory>) =>
    turns.set(turn, { ...(turns.get(turn) ?? { turn, asked: 0, tries: 0 }), ...more });
  const answered = (scheduled: unknown, value: unknown) => {
    const call = asked.get(String(scheduled));
    if (call?.what === 'generate') note(call.turn, { generated: value as Generated });
    else if (call) note(call.turn, { judged: value as Verdict });
  };

  for (const event of events) {
    const scheduled = event.activityTaskScheduledEventAttributes;
    const what = scheduled?.activityType?.name;
    if (what === 'generate' || what === 'evaluate') {
      const turn = first<TurnReference>(scheduled?.input)?.turn ?? 0;
      asked.set(String(event.eventId), { turn, what });
      if (what === 'generate') note(turn, { asked: (turns.get(turn)?.asked ?? 0) + 1 });
    }
    const started = event.activityTaskStartedEventAttributes;
    const call = started && asked.get(String(started.scheduledEventId));
    if (call?.what === 'generate') note(call.turn, { tries: started?.attempt ?? 1 });
    const completed = event.activityTaskCompletedEventAttributes;
    if (completed) answered(completed.scheduledEventId, first(completed.result));

    const marker = event.markerRecordedEventAttributes;
    if (marker?.markerName === 'core_local_activity' && !marker.failure) {
      const local = first<{ activity_type: string }>(marker.details?.['data'])?.activity_type;
      const value = first(marker.details?.['result']);
      if (local === 'open') opened = value as OpenedRollout;
      // Its input is not in history; it judges the last turn that was generated.
      else if (local === 'evaluate') note(Math.max(0, ...turns.keys()), { judged: value as Verdict });
    }
    const ended = event.workflowExecutionCompletedEventAttributes;
    if (ended) result = first<RolloutResult>(ended.result);
  }
  return {
    workflowId,
    state,
    out: input?.out ?? null,
    turns: [...turns.values()],
    ...(opened ? { rollout: opened.rollout, records: opened.records } : {}),
    ...(result ? { result } : {}),
  };
}

type Payloads = NonNullable<NonNullable<Events[number]['workflowExecutionStartedEventAttributes']>['input']>;

/** The decoded first payload. */
function first<T>(payloads: Payloads | null | undefined): T | undefined {
  const payload = payloads?.payloads?.[0];
  return payload ? defaultPayloadConverter.fromPayload<T>(payload) : undefined;
}
