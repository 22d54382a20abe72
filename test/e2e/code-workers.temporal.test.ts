// Workers that judge code, as processes of their own: killed in the middle of a program, told to stop in the middle of
// one, or not there at all. Whatever happens, no program outlives it, and no verdict is lost or given twice.

import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { proveSandbox } from '../../packages/sandbox/index.ts';
import { openFileStore } from '../../records/file-store.ts';
import { type Cluster, openCluster } from '../support/cluster.ts';
import type { Running } from '../support/everturn.ts';
import { commandOf, descendants, isPidAlive, statOf } from '../support/processes.ts';
import { until } from '../support/until.ts';
import { type TextServer, textServer } from '../support/text-server.ts';
import { describeUnless } from '../support/needs.ts';

const proof = await proveSandbox();

const SLOW = 'import time\nn = int(input())\ntime.sleep(SECONDS)\nprint(n + 1)';
const answering = (seconds: number) => `\`\`\`python\n${SLOW.replace('SECONDS', String(seconds))}\n\`\`\``;
const ROW = {
  query_id: 'slow',
  task: 'code',
  question: 'One more.',
  input_output: { inputs: ['1\n'], outputs: ['2\n'] },
};

describeUnless(proof.ok ? undefined : `no sandbox: ${proof.why}`)(
  'workers that judge code',
  { timeout: 180_000 },
  () => {
    let cluster: Cluster;
    let bare: Cluster;
    let server: TextServer;

    beforeAll(async () => {
      server = await textServer('');
      cluster = await openCluster('code');
      // A workflow is started by hand: its folder is one that the workers were told.
      bare = await openCluster('code-bare', { EVERTURN_RUNS_UNDER: tmpdir() });
      for (const { everturn } of [cluster, bare]) everturn.write('slow.jsonl', [ROW]);
    });
    afterAll(async () => {
      server.close();
      await cluster.close();
      await bare.close();
    });

    const begin = (name: string) => {
      const args = ['--name', name, '--model', server.model, '--num-turns', '1', '--detach'];
      return cluster.everturn.mustCall('run', 'slow.jsonl', ...args);
    };
    /** Those that live. */
    let workers: Running[] = [];
    const verdictOf = async (run: string) =>
      (
        await openFileStore(join(cluster.everturn.folder, 'runs'), run).get(
          'verdict',
          { run, query: 'slow', sample: 0, attempt: 1 },
          1,
        )
      )?.record;
    const untilJudging = (worker: Running) =>
      until('a program at work', () => {
        const pids = descendants(worker.child.pid!);
        return pids.some(isProgram) ? { worker, pids } : undefined;
      });

    test('killed in the middle of a program: it is gone, another judges, and the verdict is one', async () => {
      server.text = answering(5);
      const { everturn, client } = cluster;
      workers = [await cluster.startWorker(), await cluster.startWorker()];
      await begin('killed');
      const { worker, pids } = await Promise.any(workers.map(untilJudging));
      workers = workers.filter((one) => one !== worker);
      worker.child.kill('SIGKILL');
      await until('no process of it is left', () => !pids.some(isPidAlive) || undefined, 10_000);
      expect(await verdictOf('killed')).toBeUndefined();

      await everturn.mustCall('status', 'killed', '--follow');
      expect(await verdictOf('killed')).toMatchObject({ verdict: 'right', reason: 'all-cases' });
      await everturn.mustCall('check', 'killed');
      const { events } = await client.workflow.getHandle('killed/slow/0').fetchHistory();
      const judged = (events ?? []).filter((event) => event.activityTaskStartedEventAttributes);
      // Generation, and a second try of the judgement: the first left nothing but its death.
      expect(judged.map((event) => event.activityTaskStartedEventAttributes?.attempt)).toEqual([1, 2]);
    });

    test('cancelled in the middle of a program: nothing of it is left, and there is no verdict', async () => {
      server.text = answering(60);
      const { everturn } = cluster;
      await begin('cancelled');
      const { worker, pids } = await Promise.any(workers.map(untilJudging));
      const programs = pids.filter(isProgram);
      await everturn.mustCall('cancel', 'cancelled');
      await until('no program is left', () => !programs.some(isPidAlive) || undefined);
      await everturn.call('status', 'cancelled', '--follow');
      expect(await verdictOf('cancelled')).toBeUndefined();
      await everturn.mustCall('check', 'cancelled');
      expect(isPidAlive(worker.child.pid!)).toBe(true);
    });

    test('not there at all: status says what is waited for, also while it follows, and the run goes on when one comes', async () => {
      const here = bare.everturn;
      const plain = bare.keep(bare.openPlace({ PATH: '/nowhere' }).start('worker'));
      await until('a worker without a sandbox', () => plain.output().includes('judges no code') || undefined);
      server.text = answering(0);
      const out = join(here.folder, 'runs');
      const settings = { model: server.model, numTurns: 1 };
      await bare.client.workflow.start('collection', {
        workflowId: 'waiting',
        taskQueue: 'everturn',
        memo: { out },
        args: [{ run: 'waiting', out, dataset: join(here.folder, 'slow.jsonl'), settings }],
      });
      const told = /Programs are waiting, and no worker takes them.*everturn-code.*Start `everturn worker`/;
      await until('a status that says so', async () => told.test(await here.mustCall('status', 'waiting')), 180_000);
      // A worker without a processor answers late, and then the report of the run is shown.
      const status = async () => JSON.parse(await here.mustCall('status', 'waiting', '--json')) as object;
      await expect
        .poll(status, { timeout: 180_000 })
        .toMatchObject({ state: 'running', waitingFor: expect.stringMatching(told) });

      const following = here.start('status', 'waiting', '--follow');
      await until('one that follows and says so', () => told.test(following.output()) || undefined);
      await bare.startWorker();
      expect((await following.ended).code).toBe(0);
      expect(await status()).toMatchObject({ waitingFor: null });
    });
  },
);

/** The harness, and so the program, not what starts it. */
function isProgram(pid: number): boolean {
  return /^\S*python3 .*a2b_base64/.test(commandOf(pid)) && statOf(pid)[0] === 'S';
}
