// Rollouts, each ended, failed or steered in another way. `npm run record-histories` plays those that have
// no file yet.

import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll } from 'vitest';
import { ModelError, StoreError } from '../../domain/errors/errors.ts';
import { type Reached, recorder, type Scenario, send, WRONG } from './recorder.ts';

const { open, close, rollout, scenario, script, start } = recorder();
beforeAll(open);
afterAll(close);

const always = () => WRONG;
const never = () => new Promise<string>(() => {});
const gone = (retryable: boolean) => new StoreError('The disk is gone.', { reason: 'io-error', retryable });
const code = { task: 'code', input_output: { inputs: ['1'], outputs: ['1'] } };

// What ends it.
rollout('rollout-right-at-once', { settings: { numTurns: 3 } });
rollout('rollout-chunks-over-versions', { settings: { numTurns: 2, newTokensPerChunk: 4 } }, { version: (n) => n });

// A person's message, sent twice while the first answer is generated.
rollout(
  'rollout-said',
  { settings: { numTurns: 3 } },
  {
    answer: always,
    async at({ step, turn }, handle) {
      if (step !== 'generate' || turn !== 1) return;
      const args: [object] = [{ text: 'Check the sign.', by: 'anna' }];
      for (let i = 0; i < 2; i++) handle.executeUpdate<unknown, [object]>('say', { args }).catch(() => {});
      await sleep(300);
    },
  },
);

// What fails.
const refused = new ModelError('No such model.', { reason: 'model-not-found' });
rollout('rollout-failed-no-such-row', { row: { question: 7 } });
// How people steer it: in each of its steps.
const when = (wanted: Reached['step'], turn: number, ...what: Parameters<typeof send>[1][]): Scenario => ({
  answer: always,
  async at({ step, ...at }, handle) {
    if (step === wanted && Math.max(at.turn, at.tries) === turn) for (const one of what) await send(handle, one);
  },
});
const hanging = (what: Parameters<typeof send>[1]): Scenario => ({ ...when('generate', 1, what), answer: never });
rollout('rollout-cancelled-in-finishing', { settings: { numTurns: 1 } }, when('finish', 1, 'cancel'));
rollout('rollout-stopped-in-opening', {}, when('open', 1, 'stop'));

/** Paused in a step, then, a while later, this. */
const paused = (name: string, step: Reached['step'], turn: number, ...then: Parameters<typeof send>[1][]) =>
  scenario(name, when(step, turn, 'pause'), async () => {
    const handle = await start('rollout', `recorded/${name}/0`, {
      run: 'recorded',
      row: { query_id: name, question: 'What is 2 + 2?', answer: '4' },
      settings: { numTurns: 3 },
    });
    while (!(await handle.query<{ paused: boolean }>('progress')).paused) await sleep(200);
    await sleep(1000);
    for (const one of then) await send(handle, one);
    await handle.result().catch(() => {});
    return handle;
  });
paused('rollout-paused-in-opening', 'open', 1, 'resume');

// Asked to end, work fails before it hears of that.
const refusing = (wanted: Reached['step'], what: Parameters<typeof send>[1]): Scenario => ({
  async at({ step }, handle) {
    if (step !== wanted) return;
    await send(handle, what);
    throw wanted === 'generate' ? refused : gone(false);
  },
});
rollout('rollout-cancelled-while-judging-fails', { row: code }, refusing('judge', 'cancel'));
/** Started again over a folder that keeps its end. */
scenario('rollout-ended-before', hanging('cancel'), async () => {
  const name = 'rollout-ended-before';
  const row = { query_id: name, question: 'What is 2 + 2?', answer: '4' };
  const input = { run: 'recorded', row, settings: { numTurns: 1 } };
  await (await start('rollout', `recorded/${name}/0`, input)).result().catch(() => {});
  script(name, {});
  const handle = await start('rollout', `recorded/${name}/0`, input);
  await handle.result().catch(() => {});
  return handle;
});
