import { DefaultFailureConverter, defaultPayloadConverter } from '@temporalio/common';
import { describe, expect, test } from 'vitest';
import { failureFacts } from '../../workflows/failure.ts';

/** As asFailure writes it, and the server keeps it. */
const withBoundary = (boundary: unknown, type = 'server-busy') => ({
  message: 'Busy.',
  applicationFailureInfo: { type, details: { payloads: [defaultPayloadConverter.toPayload({ boundary })] } },
});
/** From before boundaries. */
const busy = { message: 'Busy.', applicationFailureInfo: { type: 'server-busy' } };
/** As a workflow gets it: decoded from what the server writes into the history. */
const thrown = (cause: object) =>
  new DefaultFailureConverter().failureToError(
    { message: 'Activity task failed', activityFailureInfo: { activityType: { name: 'generate' } }, cause },
    defaultPayloadConverter,
  );
const timeout = (cause?: object) => ({
  message: 'Time is up.',
  timeoutFailureInfo: { timeoutType: 3 },
  ...(cause && { cause }),
});

describe('the failure of an activity, as a workflow names it', () => {
  const BUSY = { boundary: 'model', reason: 'server-busy', message: 'Busy.' };
  const stored = withBoundary('store');
  const beat = { message: 'No heartbeat.', timeoutFailureInfo: { timeoutType: 4 } };
  const late = { boundary: 'temporal', reason: 'generate-timeout' };
  test.each([
    ['what it failed of', busy, BUSY],
    ['what the last try failed of when the time for tries is up', timeout(busy), BUSY],
    ['the activity whose time is up when no try said why', timeout(), { ...late, message: 'Time is up.' }],
    ['the activity whose heartbeat is missing', timeout(beat), { ...late, message: 'No heartbeat.' }],
    ['the boundary that the failure carries', stored, { ...BUSY, boundary: 'store' }],
    ['the boundary that the last try carries', timeout(stored), { ...BUSY, boundary: 'store' }],
  ])('is %s', (_, cause, wanted) => expect(failureFacts(thrown(cause))).toEqual(wanted));

  test('is ours where neither its details nor the lists of reasons name a boundary', () => {
    const odd = ['nowhere', 'toString', 7, null, { model: true }].map((what) => withBoundary(what, 'TypeError'));
    const unreadable = {
      message: 'Busy.',
      applicationFailureInfo: { type: 'TypeError', details: { payloads: [{ metadata: {}, data: Buffer.of(1) }] } },
    };
    for (const cause of [...odd, unreadable])
      expect(failureFacts(thrown(timeout(cause)))).toMatchObject({ boundary: 'everturn', reason: 'TypeError' });
    for (const cause of odd) expect(failureFacts(thrown(cause))).toMatchObject({ boundary: 'everturn' });
  });

  test('is nothing for an error of the workflow itself', () => {
    expect(failureFacts(new TypeError('a bug'))).toBeUndefined();
  });
});
