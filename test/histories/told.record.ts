// Collections that tell of themselves in their memo. `npm run record-histories` plays those that have no file yet.

import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll } from 'vitest';
import { recorder, RIGHT, send } from './recorder.ts';

const { open, close, collection } = recorder();
beforeAll(open);
afterAll(close);

/** At its begin, at each Update, and at the ends of rollouts. */
collection(
  'collection-told-while-steered',
  { queries: 5, maxConcurrent: 1 },
  {
    answer: () => sleep(100, RIGHT),
    async at({ step, query }, handle) {
      if (step !== 'generate' || query !== 'q1') return;
      await send(handle, 'pause');
      await send(handle, 'resume');
      await sleep(6000);
    },
  },
);

/** At every second end of a rollout. */
collection('collection-told-at-every-second-end', { queries: 5, maxConcurrent: 32 });
