// `everturn pack` asks Temporal which rollouts are over: one whose workflow is open stays loose, however old its end is.

import { cpSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Client, Connection } from '@temporalio/client';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { rolloutWorkflowId } from '../../domain/ids.ts';
import { checkRun } from '../../proof/check.ts';
import { openFileStore } from '../../storage/files.ts';
import type { Breach } from '../../storage/store.ts';
import { ensureSearchAttributes } from '../../temporal/search-attributes.ts';
import { playGoodRun } from '../proof/good-run.ts';
import { RUN } from '../storage/play.ts';
import { openNamespace } from '../support/namespace.ts';
import { type Everturn, openEverturn } from '../support/everturn.ts';
import { until } from '../support/until.ts';

describe('packing a run that Temporal knows', () => {
  const namespace = `pack-${process.pid}-${Date.now()}`;
  const cluster = { TEMPORAL_ADDRESS: inject('temporalAddress'), TEMPORAL_NAMESPACE: namespace };
  const root = mkdtempSync(join(tmpdir(), 'everturn-pack-e2e-'));
  let client: Client;
  let everturn: Everturn;

  beforeAll(async () => {
    const connection = await Connection.connect({ address: cluster.TEMPORAL_ADDRESS });
    client = await openNamespace(connection, namespace);
    await ensureSearchAttributes(connection, namespace);
    everturn = openEverturn(cluster);
    await playGoodRun(root);
    mkdirSync(join(everturn.folder, 'runs'));
    cpSync(join(root, RUN), join(everturn.folder, 'runs', RUN), { recursive: true });
  });
  afterAll(async () => {
    rmSync(root, { recursive: true });
    await everturn.close();
    await client.connection.close();
  });

  const pack = async () => {
    const { code, stdout, stderr } = await everturn.run('pack', RUN, '--older-than', '0', '--json');
    expect(code, stderr).toBe(0);
    return JSON.parse(stdout) as { rollouts: number; notEnded: number };
  };

  test('leaves a rollout loose while its workflow is open, and packs it once that is closed', async () => {
    const handle = await client.workflow.start('rollout', {
      taskQueue: 'without-workers',
      workflowId: rolloutWorkflowId({ run: RUN, query: 'one', sample: 0, attempt: 1 }),
      searchAttributes: { EverturnRun: [RUN] },
    });
    await until(
      'the open workflow in the list',
      async () => (await client.workflow.count(`EverturnRun = '${RUN}'`)).count === 1,
    );
    expect(await pack()).toMatchObject({ rollouts: 8, notEnded: 1 });
    await handle.terminate();
    await until('it is closed in the list', async () => {
      const query = `EverturnRun = '${RUN}' AND ExecutionStatus = 'Running'`;
      return (await client.workflow.count(query)).count === 0;
    });
    expect(await pack()).toMatchObject({ rollouts: 1, notEnded: 0 });
    const breaches: Breach[] = [];
    await checkRun(openFileStore(join(everturn.folder, 'runs'), RUN), (breach) => breaches.push(breach));
    expect(breaches).toEqual([]);
  });
});
