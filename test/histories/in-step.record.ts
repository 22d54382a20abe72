// Windows of more than 16: few starts at a time wait for their acknowledgement. Here a block is stopped in the middle of
// its starts. `npm run record-histories` plays those that have no file yet.

import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll } from 'vitest';
import { recorder, RIGHT, type Scenario } from './recorder.ts';

const { rig, open, close, scenario, script, start, dataset } = recorder();
beforeAll(open);
afterAll(close);

{
  let asked = 0;
  const played: Scenario = {
    answer: async () => {
      asked++;
      await sleep(30_000);
      return RIGHT;
    },
  };
  const name = 'blocks-in-step-stopped';
  scenario(`${name}-block`, played, async () => {
    script(name, played);
    const root = await start('collection', name, {
      ...{ run: name, dataset: dataset(name, 1000), settings: { numTurns: 1 }, maxConcurrent: 1000, maxWindow: 200 },
    });
    while (asked < 20) await sleep(20);
    // At once, without its root.
    const order = { paused: false, stopping: true, limit: 200 };
    await rig().client.workflow.getHandle(`${name}~0-0`).signal('order', order);
    await root.executeUpdate('stop');
    await root.result();
    await sleep(500);
    return rig().client.workflow.getHandle(`${name}~0-0`);
  });
}
