// Which workers get the work of runs, where workers are versions of a deployment: from what a server answers.

import { describe, expect, test } from 'vitest';
import type { Session } from '../../client/temporal/connection.ts';
import type { DescribedWorkflow } from '../../client/temporal/in-flight.ts';
import { misrouted, stranded } from '../../client/temporal/routing.ts';

type Build = string | null;
const versionOf = (build: Build) => (build === null ? null : { deploymentName: 'everturn', buildId: build });

/** Workers that polled some seconds ago, by build; null has no version. */
type Pollers = readonly (readonly [build: Build, agoS: number])[];
function server(
  pollers: Pollers,
  { current = null, ramping, namespace = 'default' }: { current?: Build; ramping?: Build; namespace?: string } = {},
): Session {
  const answer = {
    pollers: pollers.map(([build, ago]) => ({
      lastAccessTime: { seconds: Math.floor(Date.now() / 1000) - ago },
      deploymentOptions: build === null ? null : { ...versionOf(build), workerVersioningMode: 2 },
    })),
    versioningInfo: {
      currentDeploymentVersion: versionOf(current),
      ...(ramping === undefined ? {} : { rampingDeploymentVersion: versionOf(ramping), rampingVersionPercentage: 10 }),
    },
  };
  const client = {
    withDeadline: async (_: number, call: () => Promise<unknown>) => call(),
    workflowService: { describeTaskQueue: async () => answer },
  };
  return { client, namespace, address: '', close: async () => {} } as unknown as Session;
}

const pinnedTo = (build: Build, behavior = 1): DescribedWorkflow =>
  ({
    workflowId: 'r/q/0',
    raw: { workflowExecutionInfo: { versioningInfo: { behavior, deploymentVersion: versionOf(build) } } },
  }) as unknown as DescribedWorkflow;

describe('new work', () => {
  test.each<[string, Parameters<typeof server>]>([
    ['workers without versions, where none is current', [[[null, 1]]]],
    ['workers of the current version', [[['1', 1]], { current: '1' }]],
    ['workers of the version that is being tried', [[['2', 1]], { current: '1', ramping: '2' }]],
    [
      'workers without a version, where a version leaves a part to them',
      [[[null, 1]], { current: '1', ramping: null }],
    ],
    ['nobody, for nobody is up', [[['1', 1000]], { current: '2' }]],
  ])('goes to %s, and nothing is said', async (_, asked) => {
    expect(await misrouted(server(...asked))).toBeUndefined();
  });

  test('goes to nobody while no version is current, and the command that mends it is said', async () => {
    const two: Pollers = [
      ['1.0', 30],
      ['2.0', 1],
    ];
    const said = await misrouted(server(two, { namespace: 'ml' }));
    expect(said).toMatch(
      /^New work goes to workers without a version, and those that are up have one \(2\.0 of everturn, 1\.0/,
    );
    expect(said).toContain(
      'temporal worker deployment set-current-version --namespace ml --deployment-name everturn --build-id 2.0.',
    );
  });

  test('goes to nobody while no worker of the current version is up', async () => {
    const said = await misrouted(server([['2', 1]], { current: '1' }));
    expect(said).toContain('New work goes to version 1 of everturn, and no worker of it is up: nothing is played.');
    expect(said).toContain('--build-id 2.');
    const plain = await misrouted(server([[null, 1]], { current: '1' }));
    expect(plain).toContain('set-current-version --deployment-name everturn --unversioned.');
  });
});

describe('a rollout that is pinned to a version', () => {
  test('waits for ever where no worker of that is up, and both ways out are said', async () => {
    const said = await stranded(server([['2', 1]], { current: '2' }), 'r', [pinnedTo('2'), pinnedTo('1')]);
    expect(said).toContain('Rollouts began on version 1 of everturn, and no worker of it is up');
    expect(said).toContain(
      `--query 'EverturnRun = "r" AND ExecutionStatus = "Running" AND TemporalWorkerDeploymentVersion = "everturn:1"'`,
    );
  });

  test('is played where one is; so is one that may move, or has no version', async () => {
    const all = [
      pinnedTo('1'),
      pinnedTo('9', 2),
      pinnedTo(null),
      { workflowId: 'x', raw: {} } as unknown as DescribedWorkflow,
    ];
    const two: Pollers = [
      ['2', 1],
      ['1', 9],
    ];
    expect(await stranded(server(two, { current: '2' }), 'r', all)).toBeUndefined();
  });
});
