import type { ApplicationFailure } from '@temporalio/common';
import { describe, expect, test } from 'vitest';
import { asFailure } from '../../activities/failures.ts';
import { ModelError } from '../../domain/errors/errors.ts';

const failure = (details: ConstructorParameters<typeof ModelError>[1]) =>
  asFailure(new ModelError('What', details)) as ApplicationFailure;

describe('a failure of an activity', () => {
  test('a failure keeps its reason, and whether another try can help', () => {
    expect(failure({ reason: 'server-busy', retryable: true })).toMatchObject({
      type: 'server-busy',
      nonRetryable: false,
    });
    expect(failure({ reason: 'server-auth', fix: 'Ask.' })).toMatchObject({
      type: 'server-auth',
      nonRetryable: true,
      message: 'What. Ask.',
    });
  });

  test('a failure keeps its boundary, which the workflow reads', () => {
    expect(failure({ reason: 'server-busy' }).details).toEqual([{ boundary: 'model' }]);
  });

  test('a server that says when to come back is not asked before that', () => {
    expect(failure({ reason: 'server-busy', retryable: true, retryAfterMs: 7000 }).nextRetryDelay).toBe(7000);
    expect(failure({ reason: 'server-busy', retryable: true }).nextRetryDelay).toBeUndefined();
    expect(failure({ reason: 'server-busy', retryable: true, retryAfterMs: 0 }).nextRetryDelay).toBeUndefined();
  });

  test('what is no error of ours passes as it is', () => {
    const other = new TypeError('a bug');
    expect(asFailure(other)).toBe(other);
  });
});
