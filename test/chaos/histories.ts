// What Temporal wrote down of a run's rollouts: the witness beside the folder and the model server.

import { idOf, type RunOptions, type Workload } from './workload.ts';

type Which = Pick<RunOptions, 'name' | 'rollouts'>;
type History = Awaited<ReturnType<ReturnType<Workload['session']['client']['workflow']['getHandle']>['fetchHistory']>>;
export type HistoryEvent = NonNullable<History['events']>[number];

/** The events of every rollout, by its workflow's id. */
export async function* histories({ session }: Pick<Workload, 'session'>, { name, rollouts }: Which) {
  for (let i = 0; i < rollouts; i += 20) {
    const ids = Array.from({ length: Math.min(20, rollouts - i) }, (_, n) => `${name}/${idOf(i + n)}/0`);
    yield* await Promise.all(
      ids.map(async (id) => {
        const { events } = await session.client.workflow.getHandle(id).fetchHistory();
        return { id, events: events ?? [] };
      }),
    );
  }
}

/** Scheduled generations by event id, in order of turns. */
export function generations(events: readonly HistoryEvent[]): string[] {
  return events.flatMap(({ eventId, activityTaskScheduledEventAttributes: a }) =>
    a?.activityType?.name === 'generate' ? [String(eventId)] : [],
  );
}

/** Of each turn that took more than one attempt: what the last failed attempt failed of. */
export async function lastFailures(workload: Workload, which: Which): Promise<{ key: string; reason: string }[]> {
  const failures: { key: string; reason: string }[] = [];
  for await (const { id, events } of histories(workload, which)) {
    const turns = generations(events);
    for (const { activityTaskStartedEventAttributes: started } of events) {
      const turn = turns.indexOf(String(started?.scheduledEventId)) + 1;
      if (turn === 0 || !started?.lastFailure) continue;
      const { applicationFailureInfo: application, timeoutFailureInfo: timeout, message } = started.lastFailure;
      const reason = application?.type ?? (timeout ? 'timeout' : (message ?? 'unknown'));
      failures.push({ key: `${id}/${turn}`, reason });
    }
  }
  return failures;
}
