import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { explain, ModelError, StoreError, UsageError } from '../../domain/errors/errors.ts';

describe('an error', () => {
  test('an error says what, why and what would be right, in one text', () => {
    const cause = new Error('ENOSPC: no space left on device');
    const error = new StoreError('cannot write turn 3', { reason: 'disk-full', cause, fix: 'Free some space.' });
    expect(explain(error)).toBe('cannot write turn 3: ENOSPC: no space left on device. Free some space.');
  });

  test('an error keeps its kind, its reason, its cause and whether trying again helps', () => {
    const cause = new Error('x');
    const error = new ModelError('m', { reason: 'server-busy', retryable: true, cause });
    expect(error).toMatchObject({ name: 'ModelError', reason: 'server-busy', retryable: true, fix: undefined });
    expect(error.cause).toBe(cause);
    expect(new UsageError('u', { reason: 'bad-value' }).retryable).toBe(false);
  });

  test('a refused connection is named, though Node gives it as an aggregate without a message', () => {
    const refused = new AggregateError([new Error('connect ECONNREFUSED ::1:7233'), new Error('other')]);
    expect(explain(new TypeError('fetch failed', { cause: refused }))).toBe(
      'fetch failed: connect ECONNREFUSED ::1:7233',
    );
  });

  test('whatever was thrown can be explained', () => {
    fc.assert(
      fc.property(fc.anything({ withNullPrototype: true, withDate: true, withMap: true }), (thrown) => {
        expect(typeof explain(thrown)).toBe('string');
        expect(typeof explain(new Error('e', { cause: thrown }))).toBe('string');
      }),
    );
  });
});
