// Workers as versions of a deployment, on a real server: rollouts end on the version that began them, all else moves on.

import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Client, Connection } from '@temporalio/client';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { deploymentOf } from '../../../client/temporal/deployment.ts';
import { openNamespace } from '../../support/namespace.ts';
import { type Everturn, openEverturn, type Running } from '../../support/everturn.ts';
import { QUESTION, type TextServer, textServer, SOLUTION } from '../../support/text-server.ts';
import { until } from '../../support/until.ts';

const DEPLOYMENT = 'ml/everturn';
const PINNED = 1;
const AUTO_UPGRADE = 2;

describe('workers as versions of a deployment', { timeout: 600_000 }, () => {
  const namespace = `versions-${process.pid}-${Date.now()}`;
  const cluster = { TEMPORAL_ADDRESS: inject('temporalAddress'), TEMPORAL_NAMESPACE: namespace };
  let client: Client;
  let everturn: Everturn;
  let server: TextServer;
  const running: Running[] = [];
  let release: () => void;

  beforeAll(async () => {
    const connection = await Connection.connect({ address: cluster.TEMPORAL_ADDRESS });
    client = await openNamespace(connection, namespace);
    const held = new Promise<void>((resolve) => (release = resolve));
    server = await textServer(undefined, () => held);
    everturn = openEverturn(cluster);
    const row = (n: number) => JSON.stringify({ query_id: `q${n}`, question: QUESTION, solutions: [SOLUTION] });
    writeFileSync(join(everturn.folder, 'sums.jsonl'), [row(0), row(1)].join('\n'));
  });
  afterAll(async () => {
    for (const { child, ended } of running) {
      child.kill('SIGKILL');
      await ended;
    }
    server.close();
    await everturn.close();
    await client.connection.close();
  });

  const homes: Everturn[] = [];
  afterAll(() => Promise.all(homes.map((one) => one.close())));
  function worker(build: string): Running {
    const version = { TEMPORAL_DEPLOYMENT_NAME: DEPLOYMENT, TEMPORAL_WORKER_BUILD_ID: build };
    const place = openEverturn({ ...cluster, ...version, EVERTURN_RUNS_UNDER: everturn.folder });
    homes.push(place);
    const one = place.start('worker');
    running.push(one);
    return one;
  }
  const makeCurrent = (buildId: string) =>
    until('a current version', () =>
      client.workflowService
        .setWorkerDeploymentCurrentVersion({ namespace, deploymentName: DEPLOYMENT, buildId })
        // Not registered yet, or not with all its queues.
        .then(Boolean, () => undefined),
    );
  async function versionOf(workflowId: string) {
    const { raw } = await client.workflow.getHandle(workflowId).describe();
    const info = raw.workflowExecutionInfo?.versioningInfo;
    return [info?.behavior, info?.deploymentVersion?.buildId];
  }

  test('say when no version is current; rollouts end where they began, and new ones begin on the new version', async () => {
    const one = worker('1.0');
    await until(
      'the report',
      () => one.output().includes('No version of ml/everturn is current: 1.0 gets no work'),
      240_000,
    );
    const command = `set-current-version --namespace ${namespace} --deployment-name ml/everturn --build-id 1.0`;
    expect(one.output()).toContain(command);
    // The command line says so as well, of a run that waits.
    const flags = ['--name', 'moved', '--model', server.model, '--num-turns', '2', '--max-concurrent', '1'];
    const begun = await everturn.run('run', 'sums.jsonl', ...flags, '--detach');
    expect(begun.code, begun.stderr).toBe(0);
    expect(begun.stderr).toContain(command);
    const waiting = await everturn.run('status', 'moved');
    expect(waiting.stdout).toMatch(/^moved: running, and no worker gets its work/);
    expect(waiting.stdout).toContain(command);
    await makeCurrent('1.0');
    await until('the report', () => one.output().includes('Version 1.0 of ml/everturn takes new work.'), 240_000);
    await until('an answer under way', () => server.asked() === 1, 240_000);

    const two = worker('2.0');
    await until(
      'the report',
      () => two.output().includes('Version 1.0 of ml/everturn is current: 2.0 gets only'),
      240_000,
    );
    await makeCurrent('2.0');
    await until('the report', () => two.output().includes('Version 2.0 of ml/everturn takes new work.'), 240_000);
    release();
    const ended = await everturn.run('run', 'sums.jsonl', ...flags);
    expect(ended.code, ended.stderr).toBe(0);
    expect(await versionOf('moved/q0/0')).toEqual([PINNED, '1.0']);
    expect(await versionOf('moved/q1/0')).toEqual([PINNED, '2.0']);
    expect(await versionOf('moved')).toEqual([AUTO_UPGRADE, '2.0']);
    expect(server.left()).toBe(0);
    const checked = await everturn.run('check', 'moved');
    expect(checked.code, checked.stdout + checked.stderr).toBe(0);
  });

  test('are named by both variables or by none, in what Temporal takes', () => {
    expect(deploymentOf({})).toBeUndefined();
    expect(deploymentOf({ TEMPORAL_DEPLOYMENT_NAME: 'a-b', TEMPORAL_WORKER_BUILD_ID: '0.1.0+x' })).toEqual({
      deploymentName: 'a-b',
      buildId: '0.1.0+x',
    });
    // As Temporal's controller for Kubernetes writes it.
    expect(deploymentOf({ TEMPORAL_DEPLOYMENT_NAME: 'ml/everturn', TEMPORAL_WORKER_BUILD_ID: '0-1-0-a8f2' })).toEqual({
      deploymentName: 'ml/everturn',
      buildId: '0-1-0-a8f2',
    });
    for (const [name, build] of [
      ['a', ''],
      ['', 'b'],
      ['a.b', 'b'],
      ['__a', 'b'],
      ['a', 'b:c'],
      ['a', 'x'.repeat(201)],
    ] as const)
      expect(() => deploymentOf({ TEMPORAL_DEPLOYMENT_NAME: name, TEMPORAL_WORKER_BUILD_ID: build })).toThrow(
        /TEMPORAL_(DEPLOYMENT_NAME|WORKER_BUILD_ID) is /,
      );
  });
});
