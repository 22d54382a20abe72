// Collections that start with what an earlier history carried. `npm run record-histories` plays those that have no
// file yet.

import { setTimeout as sleep } from 'node:timers/promises';
import { WithStartWorkflowOperation } from '@temporalio/client';
import { afterAll, beforeAll } from 'vitest';
import { openWindow } from '../../domain/run/window.ts';
import { recorder, send } from './recorder.ts';

const { rig, open, close, scenario, start, dataset } = recorder();
beforeAll(open);
afterAll(close);

/** What a history that continues hears in its first task. */
scenario('collection-continued-and-steered-early', {}, async () => {
  const name = 'collection-continued-and-steered-early';
  const all = { run: name, dataset: dataset(name, 4), settings: { numTurns: 1 }, maxConcurrent: 2 };
  await (await start('collection', name, all)).result();
  const carried = openWindow({ queries: 4, samples: 1, numTurns: 1 }, 2, Date.now());
  const again = new WithStartWorkflowOperation('collection', {
    ...{ workflowId: name, taskQueue: 'everturn', workflowIdConflictPolicy: 'FAIL' },
    args: [{ out: rig().out, ...all, carried }],
  });
  await rig().client.workflow.executeUpdateWithStart('pause', { startWorkflowOperation: again });
  const handle = await again.workflowHandle();
  await sleep(500);
  await send(handle, 'resume');
  await handle.result();
  return handle;
});
