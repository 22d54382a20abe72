// Weight updates through `update-weights` under a run, against two servers that keep a log of
// their own: which weights made which token. Not one token of the run is said to be of other weights. (They speak as
// vLLM does, where new weights and the word for them are two calls.)

import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { WeightUpdate } from '../../library/update-weights.ts';
import { updateModel } from '../support/weights.ts';
import { openFileStore } from '../../records/file-store.ts';
import { compareWeights } from '../support/compare-weights.ts';
import { type Everturn, openSharedEverturn } from '../support/everturn.ts';
import { type ModelServer, modelServer } from '../support/model-server.ts';

const ROOT = join(import.meta.dirname, '../..');
const DATA = join(ROOT, 'examples/arithmetic.jsonl');
// 20 updates under 80 rollouts, without the command line: inference/fleet-versions.test.ts.
const ROLLOUTS = 24;
const UPDATES = 9;
/** At least so many: some answers of chance end early, and some cannot be judged. */
const REQUESTS = ROLLOUTS * 2.5;
const SHAPE = ['--num-turns', '2', '--max-new-tokens', '24', '--new-tokens-per-chunk', '8', '--temperature', '0.8'];

let everturn: Everturn;
let servers: ModelServer[];
let model: string;
/** No request of the run begins meanwhile, however long an update takes. */
let updating = false;
beforeAll(async () => {
  everturn = openSharedEverturn();
  servers = await Promise.all(
    [1, 2].map(() =>
      modelServer({ kind: 'vllm', meaning: 'policy', msPerToken: 1, length: 2048, held: () => updating }),
    ),
  );
  model = `vllm:${servers.map(({ url }) => url).join(',')}`;
});
afterAll(async () => {
  await everturn.close();
  await Promise.all(servers.map((server) => server.close()));
});

const numberOf = (label: string) => (label === 'default' ? 0 : Number(label.slice('step-'.length)));
const asked = () => servers.reduce((sum, { seen }) => sum + seen.filter(({ body }) => 'request_id' in body).length, 0);

describe('everturn update-weights on a live fleet', () => {
  test(
    `says of no token that other weights made it, under ${UPDATES} updates and ${ROLLOUTS} rollouts`,
    { timeout: 600_000 },
    async () => {
      const settings = ['--model', model, '--tokenizer', join(ROOT, 'models/tiny'), ...SHAPE];
      const size = ['--limit', String(ROLLOUTS), '--max-concurrent', '16'];
      const running = everturn.start('run', DATA, '--name', 'updated', ...settings, ...size);
      let over = false;
      void running.ended.then(() => (over = true));
      let updates = 0;
      while (updates < UPDATES) {
        // As the run gets on, and not by the clock.
        const due = Math.floor(((updates + 0.5) * REQUESTS) / UPDATES);
        while (asked() < due && !over) await sleep(2);
        if (over) break;
        updating = true;
        await update(++updates).finally(() => (updating = false));
      }
      const ended = await running.ended;
      expect(ended.code, ended.stderr).toBe(0);
      await everturn.mustCall('check', 'updated');
      const found = await compareWeights(
        openFileStore(join(everturn.folder, 'runs'), 'updated'),
        servers.map(({ engine }) => engine),
        numberOf,
      );
      process.stdout.write(`${JSON.stringify(found)}\n`);
      expect(found).toMatchObject({ rollouts: ROLLOUTS, wrong: 0, unknown: 0 });
      // A late look at what was asked may find the run over before the last of them.
      expect(updates).toBeGreaterThanOrEqual(UPDATES / 3);
      expect(found.versions).toBeGreaterThanOrEqual(3);
      expect(found.movedTurns).toBeGreaterThan(0);
    },
  );

  test('an update that one server does not take says which, and what to do', { timeout: 60_000 }, async () => {
    await servers[1]!.close();
    const words = ['update-weights', 'updated', '--from', '/checkpoints/step-60', '--weight-version', '60'];
    const ended = await everturn.call(...words);
    expect(ended.code).toBe(5);
    expect(ended.stderr).toContain(`${servers[1]!.url} could not be reached`);
    expect(ended.stderr).toContain('1 of 2 servers have version 60');
    expect(ended.stderr).toContain('repeat the command');
    expect(ended.stdout).toMatch(/60 .*updated/);
  });
});

/** The first and the last as a user gives them; the others by what is behind that command, in this process. */
async function update(n: number): Promise<void> {
  const order = { from: `/checkpoints/step-${n}`, version: `step-${n}` };
  if (n > 1 && n < UPDATES) {
    const done = await updateModel(model, order);
    expect(done.map(({ state }) => state)).toEqual(['updated', 'updated']);
    return;
  }
  const words = ['update-weights', 'updated', '--from', order.from, '--weight-version', order.version, '--json'];
  const told = JSON.parse(await everturn.mustCall(...words)) as WeightUpdate;
  expect(told).toMatchObject({ run: 'updated', weightVersion: order.version, version: n, whole: true });
  expect(told.servers.map(({ now }) => now)).toEqual([order.version, order.version]);
  expect(JSON.parse(await everturn.mustCall(...words))).toMatchObject({
    servers: [{ state: 'already' }, { state: 'already' }],
  });
}
