// Exit codes and error texts: what scripts branch on, and what people read.

import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { errorText, exitCodeOf, exitCodeOfResult, isModelReason } from '../../cli/exit.ts';
import {
  DatasetError,
  JudgeError,
  ModelError,
  SandboxError,
  StoreError,
  TemporalError,
  UsageError,
} from '../../domain/errors.ts';
import { countsOf, resultOf } from './scripted-io.ts';

const details = { reason: 'r' };

test.each([
  [new UsageError('x', details), 2],
  [new TemporalError('x', details), 4],
  [new ModelError('x', details), 5],
  [new DatasetError('x', details), 6],
  [new SandboxError('x', details), 7],
  [new StoreError('x', details), 1],
  [new StoreError('an --out that is a file', { reason: 'not-a-folder' }), 2],
  [new JudgeError('x', details), 1],
  [new TypeError('x'), 1],
  ['a thrown text', 1],
])('%s exits with the code of its class', (error, code) => {
  expect(exitCodeOf(error)).toBe(code);
});

describe('the end of a run', () => {
  const failed = (n: number, reasons: Record<string, number>, complete = 0) =>
    resultOf({ counts: countsOf({ outcomes: { complete, undecided: 0, failed: n, cancelled: 0 }, reasons }) });

  test('is 0 when every rollout reached a verdict', () => {
    expect(exitCodeOfResult(failed(0, {}, 4), 0)).toBe(0);
  });
  test('is 0 up to --max-failed, and 3 beyond', () => {
    expect(exitCodeOfResult(failed(2, { 'disk-full': 2 }, 2), 2)).toBe(0);
    expect(exitCodeOfResult(failed(2, { 'disk-full': 2 }, 2), 1)).toBe(3);
  });
  test('is 0 when a judge could not decide: that is not a failure', () => {
    const undecided = resultOf({
      counts: countsOf({ outcomes: { complete: 3, undecided: 1, failed: 0, cancelled: 0 } }),
    });
    expect(exitCodeOfResult(undecided, 0)).toBe(0);
  });
  test('is 3 when the run was cancelled, whatever was allowed to fail', () => {
    expect(exitCodeOfResult(resultOf({ cancelled: true }), 1000)).toBe(3);
  });
  test('is 5 when every rollout failed because of the model', () => {
    expect(exitCodeOfResult(failed(4, { 'model-not-found': 3, 'no-stop-token': 1 }), 0)).toBe(5);
  });
  test('is 3 when the model failed some, or something else failed too', () => {
    expect(exitCodeOfResult(failed(3, { 'model-not-found': 3 }, 1), 0)).toBe(3);
    expect(exitCodeOfResult(failed(4, { 'model-not-found': 3, 'disk-full': 1 }), 0)).toBe(3);
  });
});

test.each(['model-not-found', 'model-broken', 'no-stop-token', 'vocabulary-mismatch', 'server-error', 'bad-logits'])(
  '%s is the model’s',
  (reason) => expect(isModelReason(reason)).toBe(true),
);

test('no reason of the store, of a judge or of Temporal counts as the model’s', () => {
  const rooms = ['storage', 'environments', 'datasets', 'workflows'].map((room) =>
    join(import.meta.dirname, '../..', room),
  );
  const texts = rooms.flatMap((room) =>
    readdirSync(room, { encoding: 'utf8', recursive: true })
      .filter((name) => name.endsWith('.ts'))
      .map((name) => readFileSync(join(room, name), 'utf8')),
  );
  const reasons = texts.flatMap((text) => [...text.matchAll(/reason: '([a-z-]+)'/g)].map((m) => m[1]!));
  expect(reasons).toContain('record-broken');
  for (const reason of [...reasons, 'disk-full', 'terminated', 'timed-out', 'error', 'generate-timeout']) {
    expect(isModelReason(reason), reason).toBe(false);
  }
});

describe('an error’s text', () => {
  test('says what, why and what would be right, without a stack', () => {
    const error = new UsageError('--x is "1".', { reason: 'x', fix: 'It takes 2.', cause: new Error('deep') });
    expect(errorText(error, false)).toBe('everturn: --x is "1": deep. It takes 2.\n');
  });
  test('shows the stack, and those of its causes, where that was asked for', () => {
    const text = errorText(new UsageError('outer', { reason: 'x', cause: new Error('inner') }), true);
    expect(text).toMatch(/at .*exit\.test\.ts/);
    expect(text).toMatch(/caused by Error: inner/);
  });
  test('says that an error of no known class is unexpected', () => {
    expect(errorText(new TypeError('x is undefined'), false)).toBe(
      'everturn: unexpected error: x is undefined (--verbose shows where)\n',
    );
  });
  test('cannot steer the terminal, whatever is in it', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), fc.boolean(), (message, verbose) => {
        expect(errorText(new UsageError(message, details), verbose)).not.toMatch(
          /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u202a-\u202e]/,
        );
      }),
    );
  });
});
