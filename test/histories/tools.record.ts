// Rollouts whose model calls tools: several at once, one after the other, in the sandbox, none that can be run; and calls
// that fail or are stopped.

import { afterAll, beforeAll } from 'vitest';
import { ToolError } from '../../domain/errors.ts';
import type { RolloutInput } from '../../domain/messages.ts';
import { callText } from '../support/tool-chat.ts';
import { type Reached, recorder, RIGHT, send, TOOLS } from './recorder.ts';

const { open, close, rollout } = recorder();
beforeAll(open);
afterAll(close);

const game: Partial<RolloutInput> = { settings: { numTurns: 1, tools: TOOLS } };
const call = (name: string) => callText(name, {});
const says = [call('look') + call('look') + call('send'), call('run'), RIGHT];
const answer = ({ turn }: Reached) => says[turn - 1]!;
rollout('rollout-tools', game, { answer });
rollout('rollout-tools-refused', game, { answer: ({ turn }) => [call('none'), RIGHT][turn - 1]! });
rollout('rollout-tools-failed', game, {
  answer,
  at({ step }) {
    if (step === 'call') throw new ToolError('Broken.', { reason: 'tool-mismatch' });
  },
});
rollout('rollout-tools-cancelled-in-call', game, {
  answer,
  async at({ step, tries }, handle) {
    if (step === 'call' && tries === 1) await send(handle, 'cancel');
  },
});
