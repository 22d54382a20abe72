// Rollouts whose logs are written by their last step alone: ended in each way, steered, and as part of a run.

import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll } from 'vitest';
import { JudgeError, ModelError, StoreError } from '../../domain/errors.ts';
import { type Reached, recorder, RIGHT, type Scenario, send, WRONG } from './recorder.ts';

const { open, close, rollout, collection } = recorder();
beforeAll(open);
afterAll(close);

const always = () => WRONG;
const secondTurn = ({ turn }: Reached) => (turn === 1 ? WRONG : RIGHT);
const code = { task: 'code', input_output: { inputs: ['1'], outputs: ['1'] } };
const three = { settings: { numTurns: 3 } };
const failing = (wanted: Reached['step'], until: number, error: Error): Scenario => ({
  answer: always,
  at({ step, tries }) {
    if (step === wanted && tries < until) throw error;
  },
});
/** Held until the request is in the history. */
const when = (wanted: Reached['step'], nth: number, ...what: ('cancel' | 'stop' | 'pause' | 'resume')[]): Scenario => ({
  answer: always,
  async at({ step, tries, turn }, handle) {
    if (step !== wanted || (turn || tries) !== nth) return;
    for (const one of what) await send(handle, one);
  },
});

rollout('rollout-logged-right', { settings: { numTurns: 1 } });
rollout('rollout-logged-wrong', three, { answer: always });
rollout('rollout-logged-success', { settings: { numTurns: 5, stop: 'success' } }, { answer: secondTurn });
rollout('rollout-logged-many-turns', { settings: { numTurns: 12, turnDiscount: 0.9 } }, { answer: always });
rollout('rollout-logged-undecided', { row: code });
rollout('rollout-logged-versions', { settings: { numTurns: 2, newTokensPerChunk: 4 } }, { version: (n) => n });
rollout('rollout-logged-failed', three, {
  answer: always,
  at({ step, turn }) {
    if (step === 'generate' && turn === 2) throw new ModelError('No such model.', { reason: 'model-not-found' });
  },
});
rollout(
  'rollout-logged-judge-tried-again',
  { settings: { numTurns: 2 } },
  failing('judge', 3, new JudgeError('Busy.', { reason: 'judge-stalled', retryable: true })),
);
rollout(
  'rollout-logged-end-tried-again',
  { settings: { numTurns: 2 } },
  failing('finish', 4, new StoreError('The disk is gone.', { reason: 'io-error', retryable: true })),
);
rollout('rollout-logged-cancelled', three, when('generate', 2, 'cancel'));
rollout('rollout-logged-stopped', three, when('judge', 2, 'stop'));
rollout('rollout-logged-cancelled-judging', three, when('judge', 1, 'cancel'));
rollout('rollout-logged-paused', three, when('judge', 1, 'pause', 'resume'));
rollout('rollout-logged-stopped-at-its-last-judging', { settings: { numTurns: 1 } }, when('judge', 1, 'stop'));
collection('collection-logged', { queries: 4, settings: { numTurns: 2 } }, { answer: () => sleep(50, RIGHT) });
