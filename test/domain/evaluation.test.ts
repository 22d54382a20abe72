// The names and folders of held-out evaluations.

import { describe, expect, test } from 'vitest';
import { lineOfVersion } from '../../domain/feed/line.ts';
import { evaluationName, evaluationsFolder, evaluationsNamed, trainedIn } from '../../domain/run/evaluation.ts';

describe('an evaluation', () => {
  test('leads to the folder of its training run by its own, and no other run does', () => {
    for (const run of ['first', 'a-eval', 'a-eval-v1'])
      for (const line of [0, 3]) {
        const name = evaluationName(run, line, 5);
        expect(trainedIn(`${evaluationsFolder(`/runs/${run}`)}/${name}`)).toBe(`/runs/${run}`);
        expect(evaluationsNamed(name)).toBe(`${run}-eval`);
      }
    for (const folder of ['/runs/first', '/my-eval/first', '/runs/first-eval/second-eval-v5', '/-eval/-eval-v5'])
      expect(trainedIn(folder)).toBeNull();
    expect(evaluationsNamed('first-eval')).toBeNull();
  });

  test('is of the line that made its version: that of the last rewind below it', () => {
    expect(lineOfVersion(5, [])).toBe(0);
    const floors = [
      { line: 0, version: 0 },
      { line: 3, version: 4 },
    ];
    expect([0, 1, 4, 5].map((version) => lineOfVersion(version, floors))).toEqual([0, 1, 1, 4]);
  });
});
