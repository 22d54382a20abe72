// Workers that judge code, as processes of their own: killed in the middle of a program, told to stop in the middle of
// one, or not there at all. Whatever happens, no program outlives it, and no verdict is lost or given twice.

import { readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Client, Connection } from '@temporalio/client';
import { afterAll, beforeAll, expect, inject, test } from 'vitest';
import { proveSandbox } from '../../environments/code/canary.ts';
import { openFileStore } from '../../records/file-store.ts';
import { openNamespace } from '../support/namespace.ts';
import { type Everturn, openEverturn, type Running } from '../support/everturn.ts';
import { descendants, isPidAlive } from '../support/processes.ts';
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
    const namespace = `code-${process.pid}-${Date.now()}`;
    const cluster = { TEMPORAL_ADDRESS: inject('temporalAddress'), TEMPORAL_NAMESPACE: namespace };
    let connection: Connection;
    let client: Client;
    let everturn: Everturn;
    let server: TextServer;
    const open: (Everturn | Running)[] = [];

    beforeAll(async () => {
      connection = await Connection.connect({ address: cluster.TEMPORAL_ADDRESS });
      client = await openNamespace(connection, namespace);
      server = await textServer('');
      everturn = openEverturn(cluster);
      writeFileSync(join(everturn.folder, 'slow.jsonl'), JSON.stringify(ROW));
    });
    afterAll(async () => {
      server.close();
      for (const one of open) await ('child' in one ? one.child.kill('SIGKILL') : one.close());
      await everturn.close();
      await client.connection.close();
    });

    async function startWorker(from: Everturn = everturn): Promise<Running> {
      const worker = from.start('worker');
      open.push(worker);
      // Each of its pollers says so when it polls.
      await until('a worker that polls', () => (worker.output().match(/RUNNING/g) ?? []).length >= 2 || undefined);
      return worker;
    }

    const begin = (name: string) =>
      everturn.run('run', 'slow.jsonl', '--name', name, '--model', server.model, '--num-turns', '1', '--detach');
    const verdictOf = async (run: string) =>
      (
        await openFileStore(join(everturn.folder, 'runs'), run).getVerdict(
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
      const workers = [await startWorker(), await startWorker()];
      const begun = await begin('killed');
      expect(begun.code, begun.stderr).toBe(0);
      const { worker, pids } = await Promise.any(workers.map(untilJudging));
      worker.child.kill('SIGKILL');
      await until('no process of it is left', () => !pids.some(isPidAlive) || undefined, 10_000);
      expect(await verdictOf('killed')).toBeUndefined();

      expect((await everturn.run('status', 'killed', '--follow')).code).toBe(0);
      expect(await verdictOf('killed')).toMatchObject({ verdict: 'right', reason: 'all-cases' });
      expect((await everturn.run('check', 'killed')).code).toBe(0);
      const { events } = await client.workflow.getHandle('killed/slow/0').fetchHistory();
      const judged = (events ?? []).filter((event) => event.activityTaskStartedEventAttributes);
      // Generation, and a second try of the judgement: the first left nothing but its death.
      expect(judged.map((event) => event.activityTaskStartedEventAttributes?.attempt)).toEqual([1, 2]);
    });

    test('cancelled in the middle of a program: nothing of it is left, and there is no verdict', async () => {
      server.text = answering(60);
      const worker = await startWorker();
      expect((await begin('cancelled')).code).toBe(0);
      const workers = open.filter((one): one is Running => 'child' in one && one.child.exitCode === null);
      const { pids } = await Promise.any(workers.map(untilJudging));
      const programs = pids.filter(isProgram);
      expect((await everturn.run('cancel', 'cancelled')).code).toBe(0);
      await until('no program is left', () => !programs.some(isPidAlive) || undefined);
      await everturn.run('status', 'cancelled', '--follow');
      expect(await verdictOf('cancelled')).toBeUndefined();
      expect((await everturn.run('check', 'cancelled')).code).toBe(0);
      expect(isPidAlive(worker.child.pid!)).toBe(true);
    });

    test('not there at all: status says what is waited for, also while it follows, and the run goes on when one comes', async () => {
      const bare = `${namespace}-bare`;
      const inBare = await openNamespace(connection, bare);
      // The workflow is started by hand: its folder is one that the workers were told.
      const operated = { ...cluster, TEMPORAL_NAMESPACE: bare, EVERTURN_RUNS_UNDER: tmpdir() };
      const here = openEverturn(operated);
      const sandboxless = openEverturn({ ...operated, PATH: '/nowhere' });
      open.push(here, sandboxless);
      const plain = sandboxless.start('worker');
      open.push(plain);
      await until('a worker without a sandbox', () => plain.output().includes('judges no code') || undefined);
      server.text = answering(0);
      writeFileSync(join(here.folder, 'slow.jsonl'), JSON.stringify(ROW));
      await inBare.workflow.start('collection', {
        workflowId: 'waiting',
        taskQueue: 'everturn',
        memo: { out: join(here.folder, 'runs') },
        args: [
          {
            run: 'waiting',
            out: join(here.folder, 'runs'),
            dataset: join(here.folder, 'slow.jsonl'),
            settings: { model: server.model, numTurns: 1 },
          },
        ],
      });
      const told = /Programs are waiting, and no worker takes them.*everturn-code.*Start `everturn worker`/;
      await until(
        'a status that says so',
        async () => told.test((await here.run('status', 'waiting')).stdout) || undefined,
        180_000,
      );
      // A worker without a processor answers late, and then the report of the run is shown.
      const status = async () => JSON.parse((await here.run('status', 'waiting', '--json')).stdout) as object;
      await expect
        .poll(status, { timeout: 180_000 })
        .toMatchObject({ state: 'running', waitingFor: expect.stringMatching(told) });

      const following = here.start('status', 'waiting', '--follow');
      await until('one that follows and says so', () => told.test(following.output()) || undefined);
      await startWorker(here);
      expect((await following.ended).code).toBe(0);
      expect(JSON.parse((await here.run('status', 'waiting', '--json')).stdout)).toMatchObject({ waitingFor: null });
    });
  },
);

/** The harness, and so the program, not what starts it. */
function isProgram(pid: number): boolean {
  return /^\S*python3 .*a2b_base64/.test(commandOf(pid)) && statusOf(pid) === 'S';
}

function commandOf(pid: number): string {
  return fileOf(pid, 'cmdline').replaceAll('\0', ' ');
}

function statusOf(pid: number): string | undefined {
  return fileOf(pid, 'stat').split(') ')[1]?.[0];
}

function fileOf(pid: number, name: string): string {
  try {
    return readFileSync(`/proc/${pid}/${name}`, 'latin1');
  } catch {
    return '';
  }
}
