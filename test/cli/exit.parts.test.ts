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
import type { CollectionResult } from '../../domain/run/messages.ts';
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
  const ended = (outcomes: object, reasons: Record<string, number> = {}) => {
    const boundaries: Partial<Record<Boundary, number>> = {};
    for (const [reason, times] of Object.entries(reasons)) {
      const boundary = boundaryOfReason(reason)!;
      boundaries[boundary] = (boundaries[boundary] ?? 0) + times;
    }
    const none = { complete: 0, undecided: 0, failed: 0, cancelled: 0 };
    return resultOf({ counts: countsOf({ outcomes: { ...none, ...outcomes }, reasons, boundaries }) });
  };

  test.each<[name: string, code: number, result: CollectionResult, maxFailed: number]>([
    ['every rollout reached a verdict', 0, ended({ complete: 4 }), 0],
    ['up to --max-failed failed', 0, ended({ complete: 2, failed: 2 }, { 'disk-full': 2 }), 2],
    ['more than --max-failed failed', 3, ended({ complete: 2, failed: 2 }, { 'disk-full': 2 }), 1],
    ['a judge could not decide, which is no failure', 0, ended({ complete: 3, undecided: 1 }), 0],
    ['nothing was decided', 3, ended({ undecided: 1 }), 1000],
    ['none is complete, though all might fail', 3, ended({ failed: 3 }, { 'disk-full': 3 }), 3],
    ['there was nothing to play', 0, ended({}), 0],
    ['it was cancelled, whatever might fail', 3, resultOf({ cancelled: true }), 1000],
    ['the model failed all', 5, ended({ failed: 4 }, { 'model-not-found': 3, 'no-stop-token': 1 }), 0],
    ['the model failed some', 3, ended({ complete: 1, failed: 3 }, { 'model-not-found': 3 }), 0],
    ['something else failed too', 3, ended({ failed: 4 }, { 'model-not-found': 3, 'disk-full': 1 }), 0],
  ])('where %s is %i', (_, code, result, maxFailed) => {
    expect(exitCodeOfResult(result, maxFailed)).toBe(code);
  });

  test('follows the boundary of each failure, whatever its reason is called', () => {
    const codeOf = (...failures: readonly (readonly [string, Boundary])[]) => {
      const counts = noCounts();
      for (const [reason, boundary] of failures) addResult(counts, aFailed({ reason, boundary }), 1);
      return exitCodeOfResult(resultOf({ counts }), 0);
    };
    expect(codeOf(['of-a-later-version', 'model'], ['prompt-too-long', 'model'])).toBe(5);
    expect(codeOf(['server-error', 'temporal'])).toBe(3);
    expect(codeOf(['server-error', 'model'], ['disk-full', 'store'])).toBe(3);
    expect(codeOf(['model-of-mine', 'everturn'])).toBe(3);
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
    expect(text).toMatch(/at .*exit\.parts\.test\.ts/);
    expect(text).toMatch(/caused by Error: inner/);
  });
  test('says that an error of no known class is unexpected', () => {
    expect(errorText(new TypeError('x is undefined'), false)).toBe(
      'everturn: unexpected error: x is undefined (--verbose shows where)\n',
    );
  });
});
