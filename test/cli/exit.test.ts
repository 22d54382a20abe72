// Exit codes and error texts: what scripts branch on, and what people read.

import { describe, expect, test } from 'vitest';
import { errorText, exitCodeOf, exitCodeOfResult } from '../../cli/exit.ts';
import {
  DatasetError,
  InternalError,
  JudgeError,
  ModelError,
  SandboxError,
  StoreError,
  TemporalError,
  UsageError,
} from '../../domain/errors/errors.ts';
import { addResult, noCounts } from '../../domain/run/progress.ts';
import { type Boundary, boundaryOfReason } from '../../domain/errors/reasons.ts';
import type { RolloutResult } from '../../domain/rollout/ending.ts';
import { main } from '../../cli/main.ts';
import { countsOf, resultOf, scriptedIo } from './scripted-io.ts';

describe('an exit code', () => {
  test.each([
    [new UsageError('x', { reason: 'bad-value' }), 2],
    [new TemporalError('x', { reason: 'temporal-call' }), 4],
    [new ModelError('x', { reason: 'server-error' }), 5],
    [new DatasetError('x', { reason: 'bad-row' }), 6],
    [new SandboxError('x', { reason: 'no-sandbox' }), 7],
    [new StoreError('x', { reason: 'record-broken' }), 1],
    [new StoreError('x', { reason: 'other-version' }), 2],
    [new StoreError('an --out that is a file', { reason: 'not-a-folder' }), 2],
    [new StoreError('a bucket without conditional writes', { reason: 'bucket-unsafe' }), 2],
    [new StoreError('a bucket that is away', { reason: 'bucket-away' }), 1],
    [new JudgeError('x', { reason: 'judge-killed' }), 1],
    [new InternalError('x', { reason: 'workflow-failed' }), 1],
    [new TypeError('x'), 1],
    ['a thrown text', 1],
  ])('%s exits with the code of its class', (error, code) => {
    expect(exitCodeOf(error)).toBe(code);
  });
});

describe('an error of a command with --json', () => {
  test.each([
    [['show', '--from-nowhere'], 'usage', 'unknown-option', 2],
    [['fly'], 'usage', 'unknown-command', 2],
    [['show'], 'usage', 'bad-arguments', 2],
    [['judge', '/nowhere\u001b[2J.jsonl'], 'dataset', 'dataset-missing', 6],
  ])('%j ends stderr with its boundary and reason as one line, and prints nothing else', async (args, ...wanted) => {
    const io = scriptedIo();
    const code = await main(io, [...args, '--json']);
    const { error } = JSON.parse(io.text.err.trimEnd().split('\n').at(-1)!);
    expect([error.boundary, error.reason, error.exitCode, code]).toEqual([...wanted, wanted.at(-1)]);
    expect(error.message).not.toBe('');
    expect(io.text.err).not.toContain('\u001b');
    expect(io.text.out).toBe('');
  });

  test('is none without --json', async () => {
    const io = scriptedIo();
    await main(io, ['judge', '/nowhere.jsonl']);
    expect(io.text.err).not.toContain('{');
  });
});

describe('the end of a run', () => {
  const failed = (n: number, reasons: Record<string, number>, complete = 0) => {
    const boundaries: Partial<Record<Boundary, number>> = {};
    for (const [reason, times] of Object.entries(reasons)) {
      const boundary = boundaryOfReason(reason)!;
      boundaries[boundary] = (boundaries[boundary] ?? 0) + times;
    }
    const outcomes = { complete, undecided: 0, failed: n, cancelled: 0 };
    return resultOf({ counts: countsOf({ outcomes, reasons, boundaries }) });
  };

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
  test.each([
    [{ undecided: 3 }, 0],
    [{ undecided: 1 }, 1000],
    [{ undecided: 2, failed: 1 }, 1],
    [{ failed: 3 }, 3],
  ])('is 3 when no rollout is complete, whatever was allowed to fail: %j', (outcomes, maxFailed) => {
    const none = { complete: 0, undecided: 0, failed: 0, cancelled: 0 };
    const reasons = { 'disk-full': 3 };
    const end = (given: object) => resultOf({ counts: countsOf({ outcomes: { ...none, ...given }, reasons }) });
    expect(exitCodeOfResult(end(outcomes), maxFailed)).toBe(3);
    expect(exitCodeOfResult(end({ ...outcomes, complete: 1 }), maxFailed)).toBe(0);
    expect(exitCodeOfResult(end({}), maxFailed)).toBe(0);
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

describe('a run whose every rollout failed', () => {
  const codeOf = (...results: RolloutResult[]) => {
    const counts = noCounts();
    for (const result of results) addResult(counts, result, 1);
    return exitCodeOfResult(resultOf({ counts }), 0);
  };
  const one = (reason: string, boundary?: Boundary) => aFailed({ reason, ...(boundary && { boundary }) });

  test('exits with 5 where the boundary is the model’s, whatever the reason is called', () => {
    expect(codeOf(one('of-a-later-version', 'model'), one('prompt-too-long', 'model'))).toBe(5);
  });
  test('exits with 3 where one boundary is another, whatever its reason is called', () => {
    expect(codeOf(one('server-error', 'temporal'))).toBe(3);
    expect(codeOf(one('server-error', 'model'), one('disk-full', 'store'))).toBe(3);
    expect(codeOf(one('model-of-mine', 'everturn'))).toBe(3);
  });
});

const aFailed = (more: Partial<RolloutResult>): RolloutResult => ({
  outcome: 'failed',
  stopReason: 'failed',
  turns: 0,
  returns: [],
  success: [],
  tokens: 0,
  reason: null,
  trajectory: { out: 'runs', run: 'r', query: 'q', sample: 0, attempt: 1 },
  ...more,
});

describe('an error’s text', () => {
  test('shows the stack, and those of its causes, where that was asked for', () => {
    const text = errorText(new UsageError('outer', { reason: 'bad-value', cause: new Error('inner') }), true);
    expect(text).toMatch(/at .*exit\.test\.ts/);
    expect(text).toMatch(/caused by Error: inner/);
  });
  test('says that an error of no known class is unexpected', () => {
    expect(errorText(new TypeError('x is undefined'), false)).toBe(
      'everturn: unexpected error: x is undefined (--verbose shows where)\n',
    );
  });
});
