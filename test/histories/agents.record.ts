// A rollout that an agent's program plays: calls one after another and side by side.

import { afterAll, beforeAll } from 'vitest';
import { recorder, RIGHT } from './recorder.ts';
import { PROGRAM } from './scripted-agents.ts';

const { open, close, rollout } = recorder();
beforeAll(open);
afterAll(close);

rollout(
  'rollout-agent',
  { settings: { numTurns: 1, program: PROGRAM } },
  {
    async agent(ask) {
      await ask('What is 2?');
      await Promise.all([ask('What is 1?'), ask('What is 3?')]);
      return { answer: RIGHT };
    },
  },
);
