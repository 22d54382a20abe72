// Rollouts of a user's own environment: it begins them, ends them, or fails to.

import { afterAll, beforeAll } from 'vitest';
import { EnvironmentError } from '../../domain/errors/errors.ts';
import type { RolloutInput } from '../../domain/run/messages.ts';
import { GAME, type Reached, recorder, type Scenario, send } from './recorder.ts';

const { open, close, rollout } = recorder();
beforeAll(open);
afterAll(close);

const settings = { numTurns: 5, environments: [GAME] };
const game: Partial<RolloutInput> = { settings };
const broken = new EnvironmentError('Broken.', { reason: 'environment-broken' });
const failing = (wanted: Reached['step']): Scenario => ({
  at({ step }) {
    if (step === wanted) throw broken;
  },
});
const cancelledIn = (wanted: Reached['step'], what: 'cancel' | 'stop'): Scenario => ({
  async at({ step, tries }, handle) {
    if (step === wanted && tries === 1) await send(handle, what);
  },
});

rollout('rollout-environment', game);
rollout('rollout-environment-plain', {
  settings: { numTurns: 5, environments: [{ ...GAME, begins: false, ends: false }] },
});
rollout('rollout-environment-not-begun', game, failing('begin'));
rollout('rollout-environment-not-ended', game, failing('end'));
rollout('rollout-environment-broken', game, failing('judge'));
rollout('rollout-environment-cancelled-in-beginning', game, cancelledIn('begin', 'cancel'));
rollout('rollout-environment-cancelled-in-replying', game, cancelledIn('judge', 'cancel'));
rollout('rollout-environment-stopped-in-beginning', game, cancelledIn('begin', 'stop'));
