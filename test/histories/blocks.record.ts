// A large run: a root that outgrows one workflow, and a block whose root is gone. A workflow may have 6 in flight here, not
// 1,000. `npm run record-histories` plays those that have no file yet.

import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll } from 'vitest';
import { recorder, RIGHT } from './recorder.ts';

const { rig, open, close, scenario, start, dataset, script } = recorder();
beforeAll(open);
afterAll(close);

/** Answers wait until it is opened. */
function gated() {
  let openGate = () => {};
  let asked = 0;
  const gate = new Promise<void>((resolve) => (openGate = resolve));
  const answer = () => {
    asked++;
    return gate.then(() => RIGHT);
  };
  async function untilAsked(n: number): Promise<void> {
    while (asked < n) await sleep(100);
    // The starts are acknowledged, and the first reports sent.
    await sleep(3000);
  }
  return { answer, openGate, untilAsked };
}
const startRoot = (run: string, maxConcurrent: number) =>
  start('collection', run, {
    ...{ run, dataset: dataset(run, 40), settings: { numTurns: 1 }, maxConcurrent, maxWindow: 6 },
  });

const outgrown = gated();
scenario('blocks-outgrown', outgrown, async () => {
  const name = 'blocks-outgrown';
  const handle = await startRoot(name, 5);
  await outgrown.untilAsked(5);
  await handle.executeUpdate('tune', { args: [{ maxConcurrent: 15 }] });
  await outgrown.untilAsked(13);
  outgrown.openGate();
  await handle.result().catch(() => {});
  await sleep(1000);
  const found = [];
  for await (const one of rig().client.workflow.list({ query: `WorkflowId = "${name}"` })) found.push(one);
  return found.sort((a, b) => a.startTime.getTime() - b.startTime.getTime())[0]!;
});

// What is in flight ends, and nothing more begins.
const left = gated();
scenario('blocks-left-alone-block', left, async () => {
  const name = 'blocks-left-alone';
  script(name, left);
  const root = await startRoot(name, 15);
  await left.untilAsked(15);
  await root.terminate('the root alone');
  left.openGate();
  const block = rig().client.workflow.getHandle(`${name}~0-0`);
  await block.result().catch(() => {});
  return block;
});
