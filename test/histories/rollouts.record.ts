// Rollouts: one that ends by itself, and those that are paused or cancelled. `npm run record-histories` plays those that have
// no file yet.

import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll } from 'vitest';
import { StoreError } from '../../domain/errors/errors.ts';
import { recorder, send, WRONG } from './recorder.ts';

const { open, close, rollout, scenario, start } = recorder();
beforeAll(open);
afterAll(close);

rollout('rollout-right-at-once', { settings: { numTurns: 3 } });

rollout(
  'rollout-cancelled-in-finishing',
  { settings: { numTurns: 1 } },
  {
    answer: () => WRONG,
    at: ({ step, tries }, handle) => (step === 'finish' && tries === 1 ? send(handle, 'cancel') : undefined),
  },
);

// Asked to end, its judging fails before it hears of that.
rollout(
  'rollout-cancelled-while-judging-fails',
  { row: { task: 'code', input_output: { inputs: ['1'], outputs: ['1'] } } },
  {
    async at({ step }, handle) {
      if (step !== 'judge') return;
      await send(handle, 'cancel');
      throw new StoreError('The disk is gone.', { reason: 'io-error', retryable: false });
    },
  },
);

const PAUSED = 'rollout-paused-in-opening';
scenario(
  PAUSED,
  {
    answer: () => WRONG,
    at: ({ step, tries }, handle) => (step === 'open' && tries === 1 ? send(handle, 'pause') : undefined),
  },
  async () => {
    const row = { query_id: PAUSED, question: 'What is 2 + 2?', answer: '4' };
    const handle = await start('rollout', `recorded/${PAUSED}/0`, { run: 'recorded', row, settings: { numTurns: 3 } });
    while (!(await handle.query<{ paused: boolean }>('progress')).paused) await sleep(200);
    await sleep(1000);
    await send(handle, 'resume');
    await handle.result().catch(() => {});
    return handle;
  },
);
