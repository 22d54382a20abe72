// A rollout whose first step comes while its run is being stopped already: the server had its start, and its cancellation
// is still on its way. On a real server; the run cannot end before the test lets it.

import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { CollectionProgress } from '../../domain/run/messages.ts';
import { openFileStore } from '../../records/file-store.ts';
import { SHARED_MS } from '../../client/temporal/stopping.ts';
import { prove, startRun, sums } from '../chaos/rig-run.ts';
import { openRig, type Rig } from '../support/rig.ts';
import { until } from '../support/until.ts';

const RUN = 'late';
/** temporal.api.enums.v1.PendingActivityState. */
const STARTED = 2;
/** An answer would take none of it. */
const WATCHED_MS = 2500;

let rig: Rig;
let letEnd = () => {};
beforeAll(async () => {
  const mayEnd = new Promise<void>((resolve) => (letEnd = resolve));
  rig = await openRig(
    { answer: ({ requestId }) => (requestId.includes('/q0/') ? new Promise<never>(() => {}) : '\\boxed{4}') },
    {
      openStore(out, run) {
        const store = openFileStore(out, run);
        const putEnd: typeof store.putEnd = async (id, record) => {
          if (id.query === 'q0') await mayEnd;
          return store.putEnd(id, record);
        };
        return { ...store, putEnd };
      },
    },
  );
  await rig.startWorker();
});
afterAll(async () => {
  letEnd();
  await rig.close();
});

describe('a rollout that begins while its run is being stopped', () => {
  test('asks the model nothing until its cancellation comes, and ends as cancelled', async () => {
    const collection = await startRun(rig, {
      ...{ run: RUN, rows: sums(2), maxConcurrent: 1, settings: { numTurns: 1 } },
    });
    const asked = (query: string) => rig.backend.requests.filter(({ requestId }) => requestId.includes(`/${query}/`));
    await until('the first is asked for', () => asked('q0').length === 1);
    await collection.executeUpdate('stop');
    // What the server said before the stop is not asked for again so soon.
    await sleep(1.5 * SHARED_MS);

    const late = await rig.client.workflow.start('rollout', {
      ...{ workflowId: `${RUN}/q1/0`, taskQueue: 'everturn' },
      args: [{ run: RUN, out: rig.out, index: 1, sample: 0 }],
    });
    await until('a worker has its generation', async () => {
      const [generation] = (await late.describe()).raw.pendingActivities ?? [];
      return generation?.activityType?.name === 'generate' && generation.state === STARTED;
    });
    await sleep(WATCHED_MS);
    expect(asked('q1')).toEqual([]);
    expect(((await collection.query('progress')) as CollectionProgress).state).toBe('stopping');
    await late.cancel();
    await expect(late.result()).rejects.toThrow();
    expect((await late.describe()).status.name).toBe('CANCELLED');
    letEnd();
    await collection.result();

    expect(asked('q1')).toEqual([]);
    const store = openFileStore(rig.out, RUN);
    for (const query of ['q0', 'q1'])
      expect((await store.getEnd({ run: RUN, query, sample: 0, attempt: 1 }))?.record.outcome).toBe('cancelled');
    expect((await prove(rig, RUN)).histories.closed).toBe(2);
  });
});
