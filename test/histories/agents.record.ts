// Rollouts that an agent's program plays: calls one after another and side by side, a call that fails, a program that is
// stopped, and one whose first calls an earlier workflow played.

import { afterAll, beforeAll } from 'vitest';
import { ModelError } from '../../domain/errors/errors.ts';
import { recorder, RIGHT, send } from './recorder.ts';
import { PROGRAM } from './scripted-agents.ts';

const { open, close, rollout, scenario, start } = recorder();
beforeAll(open);
afterAll(close);

const settings = { numTurns: 1, program: PROGRAM };
const row = (name: string) => ({ query_id: name, question: 'What is 2 + 2?', answer: '4' });
const aborted = (signal: AbortSignal) =>
  new Promise<never>((_, reject) => signal.addEventListener('abort', () => reject(signal.reason as Error)));

rollout(
  'rollout-agent',
  { settings },
  {
    async agent(ask) {
      await ask('What is 2?');
      await Promise.all([ask('What is 1?'), ask('What is 3?')]);
      return { answer: RIGHT };
    },
  },
);

rollout(
  'rollout-agent-call-fails',
  { settings },
  {
    answer() {
      throw new ModelError('Refused.', { reason: 'request-refused' });
    },
    agent: async (ask) => ({ answer: await ask('What is 2 + 2?') }),
  },
);

rollout(
  'rollout-agent-stopped',
  { settings },
  {
    async at({ step }, handle) {
      if (step === 'generate') await send(handle, 'stop');
    },
    agent: async (ask, { signal }) => {
      await ask('What is 2 + 2?').catch(() => undefined);
      return aborted(signal);
    },
  },
);

let attempts = 0;
scenario(
  'rollout-agent-read-back',
  {
    async agent(ask, { signal }) {
      await ask('What is 2?');
      if (attempts === 0) await aborted(signal);
      return { answer: await ask('What is 2 + 2?'), reward: 0.5 };
    },
  },
  async () => {
    const name = 'rollout-agent-read-back';
    const input = { run: 'recorded', row: row(name), settings };
    const first = await start('rollout', `recorded/${name}/0`, input);
    for (;;) {
      const { turns } = await first.query<{ turns: readonly unknown[] }>('progress').catch(() => ({ turns: [] }));
      if (turns.length > 0) break;
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
    await first.terminate();
    attempts++;
    const second = await start('rollout', `recorded/${name}/0`, input);
    await second.result();
    return second;
  },
);
