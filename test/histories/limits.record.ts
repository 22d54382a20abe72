// What ends at a limit of hours, recorded with workflows whose limits are seconds: a replay compares what is
// asked for, not for how long. `npm run record-histories` plays those that have no file yet.

import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll } from 'vitest';
import { ModelError } from '../../domain/errors/errors.ts';
import { alteredBundle } from '../support/altered-bundle.ts';
import { type Reached, recorder, type Scenario } from './recorder.ts';

const shorter = (from: string, limit: string, seconds: string) => ({
  file: 'workflows/steps.ts',
  from,
  to: from.replace(limit, seconds),
});

const { open, close, rollout, collection } = recorder(async () => {
  const code = await alteredBundle([
    shorter("'24 hours',\n  localRetryThreshold", '24 hours', '3 seconds'),
    shorter("'24 hours',\n    heartbeatTimeout", '24 hours', '3 seconds'),
    shorter("GENERATE_QUEUE, '2 hours'", '2 hours', '10 seconds'),
    shorter("'1 minute'", '1 minute', '1 second'),
    shorter("CODE_QUEUE, '30 minutes'", '30 minutes', '1 second'),
    shorter("ENVIRONMENT_QUEUE, '30 minutes'", '30 minutes', '1 second'),
    {
      file: 'workflows/children.ts',
      from: 'taskQueue: TASK_QUEUE,',
      to: "taskQueue: TASK_QUEUE, workflowExecutionTimeout: '2 seconds',",
    },
  ]);
  const bundle = join(mkdtempSync(join(tmpdir(), 'everturn-limits-')), 'workflow-bundle.js');
  writeFileSync(bundle, code);
  return bundle;
});
beforeAll(open);
afterAll(close);

/** Longer than any limit here, and not for ever: a worker waits for its local activities when it ends. */
const never = () => sleep(20_000);
const at = (wanted: Reached['step'], turn: number, act: () => unknown): Scenario => ({
  at: ({ step, ...reached }) => (step === wanted && Math.max(reached.turn, reached.tries) >= turn ? act() : undefined),
});
const busy = () => {
  throw new ModelError('Busy.', { reason: 'server-busy', retryable: true });
};
const code = { task: 'code', input_output: { inputs: ['1'], outputs: ['1'] } };

const busyThenHanging: Scenario = {
  at: ({ step, tries }) => (step !== 'generate' ? undefined : tries < 3 ? busy() : never()),
};
/** The last try's failure is the cause of the limit's, which the SDK leaves undecoded. */
rollout('rollout-busy-then-hanging-to-the-limit-with-its-boundary', {}, busyThenHanging);
rollout('rollout-timed-out-in-judging-of-code', { row: code }, at('judge', 1, never));
collection(
  'collection-rollout-timed-out',
  { queries: 2 },
  {
    at: ({ step, query }) => (step === 'generate' && query === 'q1' ? never() : undefined),
  },
);
