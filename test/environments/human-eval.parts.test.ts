// Fifty replies to ten rows of HumanEval, a fifth of them hostile, against the verdicts of its authors' checker, which
// test/real/judge/human_eval_replies.py recorded. It runs answer and tests in one process; three attacks pass there.

import { afterAll, describe, expect, test } from 'vitest';
import { createCodeEnvironment } from '../../environments/code/code-environment.ts';
import { queryFromRow } from '../../formats/datasets/row.ts';
import { rowsOf } from '../support/rows.ts';
import { hasSandbox, needsSandbox } from '../../packages/sandbox/test/rig.ts';

needsSandbox();

const environment = hasSandbox ? await createCodeEnvironment({ limits: { cpuSeconds: 2 } }) : undefined;
afterAll(() => environment?.close());

interface Task {
  readonly task_id: string;
  readonly replies: readonly { readonly reply: string; readonly passed: boolean }[];
}
const TASKS = rowsOf<Task>('./human-eval-replies.jsonl', import.meta.url);

/** The last reply of these: `math.fabs` of its own, a text and an object that are equal to everything. */
const FOOLED = ['HumanEval/32', 'HumanEval/38', 'HumanEval/75'];

describe.concurrent('HumanEval is judged as its authors judge it', () => {
  test.each(TASKS)('$task_id', async ({ replies, ...row }) => {
    const read = queryFromRow(row, '1');
    if (!read.ok) throw new Error(read.problem);
    for (const [i, { reply, passed }] of replies.entries()) {
      const { signal } = new AbortController();
      const { verdict } = await environment!.judge(read.query, reply, { signal });
      const isFooled = i === replies.length - 1 && FOOLED.includes(row.task_id);
      expect(verdict, reply).toBe(passed && !isFooled ? 'right' : 'wrong');
      expect(passed || !isFooled).toBe(true);
    }
  });
});
