// Code through the whole workflow: on its own queue, in the real sandbox, right, wrong and undecided as three
// things. Where this machine has no sandbox, the tests that need one are skipped, and say so by name.

import { cpSync, existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { CODE_QUEUE } from '../../domain/names/queues.ts';
import type { Verdict } from '../../domain/rollout/verdict.ts';
import { proveSandbox } from '../../packages/sandbox/index.ts';
import { createCodeEnvironment } from '../../environments/code/code-environment.ts';
import { UNSAFE_VARIABLE } from '../../environments/code/consent.ts';
import { createEnvironments } from '../../environments/index.ts';
import { checkRun } from '../../records/check/check.ts';
import { openFileStore } from '../../records/file-store.ts';
import { type Everturn, openEverturn, openSharedEverturn } from '../support/everturn.ts';
import { openRig, type Rig } from '../support/rig.ts';
import { describeUnless } from '../support/needs.ts';

const proof = await proveSandbox();
const lack = proof.ok ? undefined : `no sandbox: ${proof.why}`;

const EXAMPLES = join(import.meta.dirname, '../../examples/code.jsonl');
const fenced = (program: string) => `Here it is.\n\n\`\`\`python\n${program}\n\`\`\`\n`;
const SUM = 'a, b = map(int, input().split())\nprint(a + b)';
const WORDS = 'import sys\nprint(len(set(sys.stdin.read().lower().split())))';
const TWO_SUM = `def two_sum(numbers, target):
    for i, a in enumerate(numbers):
        for j in range(i + 1, len(numbers)):
            if a + numbers[j] == target:
                return [i, j]`;

describeUnless(lack)('code in a workflow', () => {
  let rig: Rig;
  beforeAll(async () => {
    const answer = (context: string): string => {
      const again = context.includes('Unfortunately');
      if (context.includes('different words')) return again ? fenced(WORDS) : fenced(WORDS.replace('.lower()', ''));
      if (context.includes('def add')) return again ? '    return a + b\n' : '    return a - b\n';
      if (context.includes('two_sum')) return again ? fenced(TWO_SUM) : 'I would rather not write any code.';
      return again ? fenced(SUM) : fenced(`import os\n${SUM}\nos._exit(3)`);
    };
    const environments = createEnvironments({ code: await createCodeEnvironment() });
    rig = await openRig({ answer: (_, context) => answer(context) }, { environments });
    await rig.startWorker();
  });
  afterAll(() => rig.close());

  async function play(row: unknown, query: string) {
    const workflowId = `code/${query}/0`;
    const settings = { numTurns: 3, stop: 'success' };
    const result: unknown = await rig.client.workflow.execute('rollout', {
      workflowId,
      taskQueue: 'everturn',
      args: [{ run: 'code', out: rig.out, row, settings }],
    });
    const store = openFileStore(rig.out, 'code');
    const verdicts: Pick<Verdict, 'verdict' | 'reason'>[] = [];
    for (let turn = 1; ; turn++) {
      const stored = await store.get('verdict', { run: 'code', query, sample: 0, attempt: 1 }, turn);
      if (!stored) break;
      verdicts.push({ verdict: stored.record.verdict, reason: stored.record.reason });
    }
    return { workflowId, result, verdicts };
  }

  const rows = readFileSync(EXAMPLES, 'utf8')
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as { query_id: string });
  rows.push({
    query_id: 'human-eval',
    prompt: 'def add(a, b):\n    """ The sum. """\n',
    entry_point: 'add',
    test: 'def check(candidate):\n    assert candidate(2, 3) == 5\n',
  } as { query_id: string });

  test.each([
    ['code-sum', 'runtime-error'],
    ['code-words', 'different'],
    ['code-two-sum', 'no-code'],
    ['human-eval', 'different'],
  ])('the problem %s of the examples is wrong at first, and right in the end', async (query, reason) => {
    const { result, verdicts, workflowId } = await play(
      rows.find((row) => row.query_id === query),
      query,
    );
    expect(result).toMatchObject({ outcome: 'complete', stopReason: 'success', success: [0, 1], returns: [0, 1] });
    expect(verdicts).toEqual([
      { verdict: 'wrong', reason },
      { verdict: 'right', reason: 'all-cases' },
    ]);
    const { events } = await rig.client.workflow.getHandle(workflowId).fetchHistory();
    const queues = (events ?? []).map((event) => event.activityTaskScheduledEventAttributes);
    expect(queues.filter((at) => at?.activityType?.name === 'evaluate').map((at) => at?.taskQueue?.name)).toEqual([
      CODE_QUEUE,
      CODE_QUEUE,
    ]);
  });

  test('a case that the data set got wrong leaves a good program undecided, without a reward', async () => {
    const cases = { inputs: ['1 2\n', { not: 'a text' }], outputs: ['3\n', '3\n'] };
    const row = { query_id: 'bad', task: 'code', question: 'Sum.', input_output: cases };
    const right = `Sum. Unfortunately`;
    const { result, verdicts } = await play({ ...row, question: right }, 'bad');
    expect(result).toMatchObject({ outcome: 'undecided', success: [null], returns: [] });
    expect(verdicts).toMatchObject([{ verdict: 'undecided' }]);
  });

  test('what the run left is sound', async () => {
    const { turns } = await checkRun(openFileStore(rig.out, 'code'), (breach) => expect.fail(JSON.stringify(breach)));
    expect(turns).toBe(9);
  });
});

describe('the command line', () => {
  const play = ['run', 'code.jsonl', '--name', 'c', '--num-turns', '1', '--max-new-tokens', '8'];
  const open = (env: Readonly<Record<string, string>>) => withExamples(openEverturn(env));
  const withExamples = (everturn: Everturn) => {
    cpSync(EXAMPLES, join(everturn.folder, 'code.jsonl'));
    return everturn;
  };

  test('refuses code without a sandbox before anything starts', { timeout: 120_000 }, async () => {
    const everturn = open({ PATH: '/nowhere' });
    const { code, stderr } = await everturn.run(...play);
    expect(code, stderr).toBe(7);
    expect(stderr).toContain('Install bubblewrap');
    expect(everturn.service()).toBeUndefined();
    expect(existsSync(join(everturn.folder, 'runs'))).toBe(false);
    await everturn.close();
  });

  test('refuses code where no worker of the cluster takes it', { timeout: 120_000 }, async () => {
    const everturn = open({ TEMPORAL_ADDRESS: inject('temporalAddress') });
    const { code, stderr } = await everturn.call(...play);
    expect(code, stderr).toBe(7);
    expect(stderr).toContain(CODE_QUEUE);
    await everturn.close();
  });

  const playAndJudge = async (everturn: Everturn) => {
    try {
      await everturn.mustRun(...play);
      const shown = await everturn.mustCall('show', 'c', 'code-sum', '--json');
      const { turns } = JSON.parse(shown) as { turns: { verdict: unknown }[] };
      // The shipped model writes no code.
      expect(turns.map(({ verdict }) => verdict)).toMatchObject([
        { verdict: 'wrong', reason: expect.stringMatching(/^(?:no-code|cut-off)$/) },
      ]);
      const judged = await everturn.mustRun('judge', '--run', 'c', '--json');
      expect(JSON.parse(judged.stdout)).toMatchObject({ turns: 3, changed: 0 });
    } finally {
      await everturn.close();
    }
  };

  test('plays and judges code without one only where the user says so', { timeout: 240_000 }, () =>
    playAndJudge(open({ PATH: '/nowhere', [UNSAFE_VARIABLE]: '1' })),
  );

  test('plays code with the local service', { timeout: 240_000 }, ({ skip }) => {
    skip(lack !== undefined, lack);
    return playAndJudge(withExamples(openSharedEverturn()));
  });
});
