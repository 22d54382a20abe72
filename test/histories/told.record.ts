// Collections that tell of themselves in their memo. `npm run record-histories` plays those that have no file yet.

import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll } from 'vitest';
import { recorder, RIGHT, send } from './recorder.ts';

const { open, close, collection } = recorder();
beforeAll(open);
afterAll(close);

/** At its begin, at each word of somebody, and at an end after 5 s without. */
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

/** By the ends of rollouts: at each of the first run, at every second of the other. */
collection('collection-told-at-each-end', { queries: 4, maxConcurrent: 2 });
collection('collection-told-at-every-second-end', { queries: 5, maxConcurrent: 32 });
