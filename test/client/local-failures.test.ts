// The local activity that a workflow retries, as its history says: from events as a server answers them, newest first.

import { defaultPayloadConverter } from '@temporalio/common';
import { describe, expect, test } from 'vitest';
import type { Session } from '../../client/temporal/connection.ts';
import { localFailureOf } from '../../client/temporal/pending.ts';

const [SCHEDULED, STARTED, COMPLETED, TIMER_STARTED, TIMER_FIRED, ACTIVITY_DONE, MARKER] = [5, 6, 7, 17, 18, 12, 25];
const event = (eventType: number) => ({ eventType });

function marker(failure: object | null, data: unknown = { activity_type: 'open', attempt: 9 }) {
  const details = { data: { payloads: [defaultPayloadConverter.toPayload(data)] } };
  return { eventType: MARKER, markerRecordedEventAttributes: { markerName: 'core_local_activity', details, failure } };
}
const denied = { message: 'cannot write x: permission denied', applicationFailureInfo: { type: 'no-permission' } };

function ends(...newestFirst: readonly object[]): Session {
  const workflowService = { getWorkflowExecutionHistoryReverse: async () => ({ history: { events: newestFirst } }) };
  const client = { withDeadline: async (_: number, call: () => Promise<unknown>) => call(), workflowService };
  return { client, namespace: 'default', address: '', close: async () => {} } as unknown as Session;
}

describe('a local activity that fails', () => {
  test.each([
    ['before its timer', [event(TIMER_STARTED), marker(denied)]],
    [
      'while it is tried again',
      [event(STARTED), event(SCHEDULED), event(TIMER_FIRED), event(TIMER_STARTED), marker(denied)],
    ],
    ['after its task was completed', [event(TIMER_STARTED), marker(denied), event(COMPLETED)]],
  ])('is named with its reason %s', async (_, events) => {
    expect(await localFailureOf(ends(...events), 'r/q/0')).toEqual({
      type: 'open',
      attempt: 9,
      message: 'cannot write x: permission denied',
      reason: 'no-permission',
    });
  });

  test.each([
    ['has succeeded since', [event(SCHEDULED), marker(null), event(COMPLETED), marker(denied)]],
    ['was followed by another step', [event(SCHEDULED), event(ACTIVITY_DONE), marker(denied)]],
    ['has not failed', [event(STARTED), event(SCHEDULED)]],
  ])('is not named where it %s', async (_, events) => {
    expect(await localFailureOf(ends(...events), 'r/q/0')).toBeUndefined();
  });

  test('is named without its facts where the marker has another form', async () => {
    expect(await localFailureOf(ends(marker({ message: 'x' }, 'odd')), 'r')).toMatchObject({
      message: 'x',
      attempt: 1,
    });
    expect(await localFailureOf(ends(marker({ message: 'x' }, null)), 'r')).toMatchObject({ type: 'an activity' });
  });
});
