// Workers as versions of a deployment, on a real server: rollouts end on the version that began them, all else moves on.

import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { deploymentOf } from '../../../client/temporal/deployment.ts';
import { type Cluster, openCluster } from '../../support/cluster.ts';
import { sums, type TextServer, textServer } from '../../support/text-server.ts';
import { until } from '../../support/until.ts';

const DEPLOYMENT = 'ml/everturn';
const PINNED = 1;
const AUTO_UPGRADE = 2;

describe('workers as versions of a deployment', { timeout: 600_000 }, () => {
  let cluster: Cluster;
  let server: TextServer;
  let release: () => void;

  beforeAll(async () => {
    cluster = await openCluster('versions');
    const held = new Promise<void>((resolve) => (release = resolve));
    server = await textServer(undefined, () => held);
    cluster.everturn.write('sums.jsonl', sums(2));
  });
  afterAll(async () => {
    server.close();
    await cluster.close();
  });

  function worker(build: string) {
    const version = { TEMPORAL_DEPLOYMENT_NAME: DEPLOYMENT, TEMPORAL_WORKER_BUILD_ID: build };
    const place = cluster.openPlace({ ...version, EVERTURN_RUNS_UNDER: cluster.everturn.folder });
    const one = cluster.keep(place.start('worker'));
    return { says: (text: string) => until(text, () => one.output().includes(text), 240_000), output: one.output };
  }
  const makeCurrent = (buildId: string) =>
    until('a current version', () =>
      cluster.client.workflowService
        .setWorkerDeploymentCurrentVersion({ namespace: cluster.namespace, deploymentName: DEPLOYMENT, buildId })
        // Not registered yet, or not with all its queues.
        .then(Boolean, () => undefined),
    );
  async function versionOf(workflowId: string) {
    const { raw } = await cluster.client.workflow.getHandle(workflowId).describe();
    const info = raw.workflowExecutionInfo?.versioningInfo;
    return [info?.behavior, info?.deploymentVersion?.buildId];
  }

  test('say when no version is current; rollouts end where they began, and new ones begin on the new version', async () => {
    const { everturn, namespace } = cluster;
    const one = worker('1.0');
    await one.says('No version of ml/everturn is current: 1.0 gets no work');
    const command = `set-current-version --namespace ${namespace} --deployment-name ml/everturn --build-id 1.0`;
    expect(one.output()).toContain(command);
    // The command line says so as well, of a run that waits.
    const flags = ['--name', 'moved', '--model', server.model, '--num-turns', '2', '--max-concurrent', '1'];
    const begun = await everturn.call('run', 'sums.jsonl', ...flags, '--detach');
    expect(begun.stderr).toContain(command);
    const waiting = await everturn.mustCall('status', 'moved');
    expect(waiting).toMatch(/^moved: running, and no worker gets its work/);
    expect(waiting).toContain(command);
    await makeCurrent('1.0');
    await one.says('Version 1.0 of ml/everturn takes new work.');
    await until('an answer under way', () => server.asked() === 1, 240_000);

    const two = worker('2.0');
    await two.says('Version 1.0 of ml/everturn is current: 2.0 gets only');
    await makeCurrent('2.0');
    await two.says('Version 2.0 of ml/everturn takes new work.');
    release();
    await everturn.mustCall('run', 'sums.jsonl', ...flags);
    expect(await versionOf('moved/q0/0')).toEqual([PINNED, '1.0']);
    expect(await versionOf('moved/q1/0')).toEqual([PINNED, '2.0']);
    expect(await versionOf('moved')).toEqual([AUTO_UPGRADE, '2.0']);
    expect(server.left()).toBe(0);
    await everturn.mustCall('check', 'moved');
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
