import { DefaultFailureConverter, defaultPayloadConverter } from '@temporalio/common';
import { describe, expect, test } from 'vitest';
import { failureOf } from '../../workflows/failure.ts';

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
  test('names what an activity failed of', () => {
    expect(failureOf(thrown(busy))).toEqual({ boundary: 'model', reason: 'server-busy', message: 'Busy.' });
  });

  test('names what the last try failed of when the time for tries is up', () => {
    expect(failureOf(thrown(timeout(busy)))).toEqual({ boundary: 'model', reason: 'server-busy', message: 'Busy.' });
  });

  test('names the activity whose time is up when no try said why', () => {
    expect(failureOf(thrown(timeout()))).toEqual({
      boundary: 'temporal',
      reason: 'generate-timeout',
      message: 'Time is up.',
    });
    const beat = { message: 'No heartbeat.', timeoutFailureInfo: { timeoutType: 4 } };
    expect(failureOf(thrown(timeout(beat)))).toEqual({
      boundary: 'temporal',
      reason: 'generate-timeout',
      message: 'No heartbeat.',
    });
  });

  test('takes the boundary from the failure, also from that of the last try', () => {
    const stored = withBoundary('store');
    expect(failureOf(thrown(stored))).toEqual({ boundary: 'store', reason: 'server-busy', message: 'Busy.' });
    expect(failureOf(thrown(timeout(stored)))).toEqual({ boundary: 'store', reason: 'server-busy', message: 'Busy.' });
  });

  test('calls a failure ours where neither its details nor the lists of reasons name a boundary', () => {
    const odd = ['nowhere', 'toString', 7, null, { model: true }].map((what) => withBoundary(what, 'TypeError'));
    const unreadable = {
      message: 'Busy.',
      applicationFailureInfo: { type: 'TypeError', details: { payloads: [{ metadata: {}, data: Buffer.of(1) }] } },
    };
    for (const cause of [...odd, unreadable]) {
      expect(failureOf(thrown(timeout(cause)))).toMatchObject({ boundary: 'everturn', reason: 'TypeError' });
    }
    for (const cause of odd) expect(failureOf(thrown(cause))).toMatchObject({ boundary: 'everturn' });
  });

  test('is nothing for an error of the workflow itself', () => {
    expect(failureOf(new TypeError('a bug'))).toBeUndefined();
  });
});
