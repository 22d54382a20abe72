// Rollouts of a user's own environment: it fails to end one.

import { afterAll, beforeAll } from 'vitest';
import { EnvironmentError } from '../../domain/errors/errors.ts';
import type { RolloutInput } from '../../domain/run/messages.ts';
import { GAME, type Reached, recorder, type Scenario } from './recorder.ts';

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
rollout('rollout-environment-not-ended', game, failing('end'));
