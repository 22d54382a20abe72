// What a real server keeps of a run, compared with the run's folder as `everturn check` does.

import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Session } from '../../client/temporal/connection.ts';
import { ModelError } from '../../domain/errors/errors.ts';
import { collectionHistory, rolloutHistories } from '../../client/temporal/histories.ts';
import { checkHistories } from '../../records/check/histories.ts';
import { openFileStore } from '../../records/file-store.ts';
import type { Breach } from '../../records/store.ts';
import { asFiles } from '../records/ended-rig.ts';
import { openRig, type Rig } from '../support/rig.ts';

const ROLLOUTS = 12;
let rig: Rig;
let failing = 3;

beforeAll(async () => {
  rig = await openRig({
    answer(request) {
      const [, query, , turn] = request.requestId.split('/');
      if (query === 'q1' && turn === '2' && failing-- > 0) {
        throw new ModelError('The server is away.', { reason: 'server-unreachable', retryable: true });
      }
      if (query === 'q2' && turn === '3')
        throw new ModelError('There is no such model.', { reason: 'model-not-found' });
      return `\\boxed{${query === 'q0' ? 4 : 5}}`;
    },
  });
  await rig.startWorker();
  const dataset = join(rig.out, 'data.jsonl');
  const rows = Array.from({ length: ROLLOUTS }, (_, i) => ({ id: `q${i}`, question: `Is ${i}?`, answer: '4' }));
  writeFileSync(dataset, rows.map((row) => JSON.stringify(row)).join('\n'));
  await rig.client.workflow.execute('collection', {
    workflowId: 'told',
    taskQueue: 'everturn',
    args: [{ run: 'told', out: rig.out, dataset, settings: { numTurns: 3 } }],
  });
});
afterAll(() => rig.close());

beforeAll(() => asFiles(rig.out, 'told'));

async function compared(run = 'told', out = rig.out) {
  const session: Session = { client: rig.client, address: '', namespace: rig.namespace, close: async () => {} };
  const breaches: Breach[] = [];
  const told = { rollouts: rolloutHistories(session, run), collection: await collectionHistory(session, run) };
  const summary = await checkHistories(openFileStore(rig.out, run), out, told, (breach) => breaches.push(breach));
  return { breaches, summary };
}

describe('the histories of a run', () => {
  test('the histories of a run agree with its folder, and tell what was tried again', async () => {
    const { breaches, summary } = await compared();
    expect(breaches).toEqual([]);
    expect(summary).toEqual({ compared: ROLLOUTS, closed: ROLLOUTS, elsewhere: 0, triedAgain: 3 });
  });

  test('histories of a run of the same name elsewhere are told apart', async () => {
    const { breaches, summary } = await compared('told', '/somewhere/else');
    expect(breaches).toEqual([]);
    expect(summary).toMatchObject({ compared: 0, elsewhere: ROLLOUTS });
  });
});
