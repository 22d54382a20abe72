// Weights that went back within a run, from the times and versions of its turns alone.

import { describe, expect, test } from 'vitest';
import { versionNumber } from '../../../domain/weights/weight-version.ts';
import { openFalls, type Served } from '../../../records/check/falls.ts';

const turn = (versionLabel: string, startedAt: number, server: string | null = 'http://a'): Served => ({
  server,
  startedAt,
  finishedAt: startedAt + 10,
  version: versionNumber(versionLabel),
  versionLabel,
});
const falls = (...turns: readonly Served[]) => {
  const check = openFalls(5);
  check.add(turns);
  return check.all();
};

describe('weights that go back', () => {
  test('are named by their server, in whatever order its turns are read', () => {
    const turns = [turn('step-4', 0), turn('step-5', 100), turn('default', 200), turn('default', 300)];
    const fall = [{ server: 'http://a', before: 'step-5', now: 'default', at: 300 }];
    expect(falls(...turns)).toEqual(fall);
    expect(falls(...turns.toReversed())).toEqual(fall);
    expect(falls(...turns, turn('step-6', 400))).toEqual(fall);
  });

  test.each([
    ['that only rise', [turn('default', 0), turn('step-1', 100), turn('step-2', 200)]],
    ['of turns beside each other', [turn('step-5', 0), turn('step-4', 9)]],
    ['within the skew of clocks', [turn('step-5', 0), turn('step-4', 14)]],
    ['of another server', [turn('step-5', 0), turn('step-4', 100, 'http://b')]],
    ['of a rewind', [turn('line0:v5', 0), turn('line1:v3', 100)]],
    ['of an embedded model', [turn('step-5', 0, null), turn('step-4', 100, null)]],
    ['without a number', [turn('a word', 0), turn('step-4', 100)]],
  ])('are none %s', (_, turns) => {
    expect(falls(...turns)).toEqual([]);
  });
});
