// A feed behind a lost one, whose versions are evaluated on held-out rows: by the feed before, by nobody yet, in this moment
// by another workflow, and not at all, because the rows are gone.

import { rmSync } from 'node:fs';
import { afterAll, beforeAll } from 'vitest';
import { feedWorkflowId } from '../../domain/run/ids.ts';
import { evaluationPlace } from '../../run/evaluations.ts';
import { openFileStore } from '../../records/file-store.ts';
import { until } from '../support/until.ts';
import { feedRecorder, train } from './feed-recorder.ts';
import { recorder } from './recorder.ts';

const recording = recorder();
const { open, close, rig } = recording;
const feed = feedRecorder(recording, []);
beforeAll(open);
afterAll(close);

feed('feed-evaluates', { queries: 6, heldOut: { queries: 2, every: 1 } }, async (trainer) => {
  const [{ client, out }, { run }] = [rig(), trainer];
  const at = (version: number) => {
    const place = evaluationPlace({ run, out, version, line: 0 });
    return { ...place, store: openFileStore(place.out, place.run) };
  };
  const ends = (version: number) =>
    until('it is evaluated', async () => (await at(version).store.getResult()) !== undefined, 60_000);
  const start = (workflowId: string, input: object) =>
    client.workflow.start('feed', { workflowId, taskQueue: 'everturn', args: [{ out, ...input }] as [object] });
  await ends(0);
  await trainer.feed.terminate();
  const { workflowId, firstExecutionRunId: runId } = await start(feedWorkflowId(run), { run, idleMs: 300 });
  await train(trainer, 1, 1);
  await ends(1);
  const other = await start(at(2).run, { run: 'nobody' });
  await train(trainer, 2, 2);
  await until('its run is made', async () => (await at(2).store.getRun()) !== undefined, 60_000);
  rmSync(at(0).store.folder, { recursive: true });
  await train(trainer, 3, 3);
  await trainer.ends();
  await other.terminate();
  return { workflowId, runId };
});
