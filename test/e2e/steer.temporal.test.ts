// The sentences of pause, tune, resume and cancel, on a real Temporal server: what a worker answers, what it said last where it is
// too busy for a query, and that no counts are known before the first. Needs dist/ (npm run build).

import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import type { CollectionProgress } from '../../domain/run/messages.ts';
import { openFileStore } from '../../records/file-store.ts';
import { startRun, sums } from '../chaos/rig-run.ts';
import { aQuery, putRun } from '../records/play.ts';
import { type Everturn, openEverturn } from '../support/everturn.ts';
import { type LossyRelay, openLossyRelay } from '../support/lossy-relay.ts';
import { openRig, type Rig } from '../support/rig.ts';
import { until } from '../support/until.ts';

let rig: Rig;
let relay: LossyRelay;
let letAccept = () => {};
/** The command line; `busy`: its queries are lost, as where workers have time for orders alone. */
let everturn: Everturn;
let busy: Everturn;
/** With a home of its own, and no cluster. */
let alone: Everturn;

beforeAll(async () => {
  const mayAccept = new Promise<void>((resolve) => (letAccept = resolve));
  rig = await openRig(
    { answer: () => new Promise<never>(() => {}) },
    {
      openStore(out, run) {
        const store = openFileStore(out, run);
        if (run !== 'early') return store;
        return { ...store, get: (kind, ...name) => mayAccept.then(() => store.get(kind, ...name)) };
      },
    },
  );
  await rig.startWorker();
  const address = inject('temporalAddress');
  relay = await openLossyRelay(address, 'QueryWorkflow');
  everturn = openEverturn({ TEMPORAL_ADDRESS: address, TEMPORAL_NAMESPACE: rig.namespace });
  alone = openEverturn();
  busy = openEverturn({ TEMPORAL_ADDRESS: relay.address, TEMPORAL_NAMESPACE: rig.namespace });
});
afterAll(async () => {
  letAccept();
  await Promise.all([everturn.close(), busy.close(), alone.close()]);
  await rig.close();
  relay.close();
});

const rows = sums(6);
/** What a command prints that does as it was asked. */
async function said(by: Everturn, ...args: string[]): Promise<string> {
  return by.mustCall(...args, '--out', rig.out);
}

describe('pause, tune and resume say how the run is', () => {
  test('as a worker answers, and where its workers answer no query, as the order itself left it', async () => {
    const handle = await startRun(rig, { run: 'held', rows, maxConcurrent: 2, settings: { numTurns: 1 } });
    const inFlight = async () => ((await handle.query('progress')) as CollectionProgress).inFlight;
    await until('two are in flight', async () => (await inFlight()) === 2);
    const flight = (most: number) => `0 of 6 done, 2 rollouts in flight, at most ${most} at once.\n`;
    expect(await said(everturn, 'pause', 'held')).toBe(`Run "held" is paused: ${flight(2)}`);
    expect(relay.lost()).toBe(0);
    expect(await said(busy, 'tune', 'held', '--max-concurrent', '3')).toBe(`Run "held" is paused: ${flight(3)}`);
    expect(relay.lost()).toBeGreaterThan(0);
    await handle.executeUpdate('stop');
    await handle.result();
  });

  test('without counts where none were ever known, and never that it is done', async () => {
    const handle = await startRun(rig, { run: 'early', rows, settings: { numTurns: 1 } });
    const unknown = 'its counts are not known yet.\n';
    expect(await said(busy, 'pause', 'early')).toBe(`Run "early" is paused; ${unknown}`);
    expect(await said(busy, 'tune', 'early', '--max-concurrent', '1')).toBe(
      `Run "early" has at most 1 rollout in flight from now on; ${unknown}`,
    );
    expect(JSON.parse(await said(busy, 'resume', 'early', '--json'))).toEqual({ run: 'early', state: null });
    await handle.terminate('the test is over');
  });
});

describe('an order to a run that the server does not play', () => {
  const ORDERS: string[][] = [['pause'], ['resume'], ['cancel'], ['tune', '--max-concurrent', '2']];
  let home: string;
  beforeAll(() => void (home = join(alone.folder, 'home')));
  const refused = async (by: Everturn, [verb, ...flags]: readonly string[], run: string, out: string) => {
    const { code, stdout, stderr } = await by.call(verb!, run, ...flags, '--out', out);
    expect(stdout).toBe('');
    return { code, stderr };
  };

  test.each(ORDERS)('is refused with the server that was asked: %s', async (...order) => {
    await putRun(openFileStore(rig.out, 'away'), [aQuery('q')], { run: 'away' });
    expect(await refused(everturn, order, 'away', rig.out)).toEqual({
      code: 4,
      stderr: expect.stringContaining(`"away" is not known to the server at ${inject('temporalAddress')}`),
    });
    expect(await refused(alone, order, 'away', rig.out)).toEqual({
      code: 4,
      stderr: expect.stringContaining(`"away" is not known to the local service of ${home}`),
    });
    expect(existsSync(home)).toBe(false);
  });

  test('never reaches another run of its name', async () => {
    const handle = await startRun(rig, { run: 'twin', rows, settings: { numTurns: 1 } });
    const out = join(rig.out, 'other');
    await putRun(openFileStore(out, 'twin'), [aQuery('q')], { run: 'twin' });
    expect(await refused(everturn, ['cancel'], 'twin', out)).toEqual({
      code: 2,
      stderr: expect.stringContaining(`A run named "twin" is running in ${rig.out}`),
    });
    await handle.terminate('the test is over');
  });
});
