import { DefaultFailureConverter, defaultPayloadConverter } from '@temporalio/common';
import { expect, test } from 'vitest';
import { failureOf } from '../../workflows/failure.ts';

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

test('names what an activity failed of', () => {
  expect(failureOf(thrown(busy))).toEqual({ reason: 'server-busy', message: 'Busy.' });
});

test('names what the last try failed of when the time for tries is up', () => {
  expect(failureOf(thrown(timeout(busy)))).toEqual({ reason: 'server-busy', message: 'Busy.' });
});

test('names the activity whose time is up when no try said why', () => {
  expect(failureOf(thrown(timeout()))).toEqual({ reason: 'generate-timeout', message: 'Time is up.' });
  const beat = { message: 'No heartbeat.', timeoutFailureInfo: { timeoutType: 4 } };
  expect(failureOf(thrown(timeout(beat)))).toEqual({ reason: 'generate-timeout', message: 'No heartbeat.' });
});

test('is nothing for an error of the workflow itself', () => {
  expect(failureOf(new TypeError('a bug'))).toBeUndefined();
});
