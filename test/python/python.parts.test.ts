// The package everturn, and the Python of examples/train that needs no framework: its own unit tests, with a plain python3 (EVERTURN_TEST_PYTHON can
// name one). Where none is, the tests say so and are skipped. The training step itself needs torch: npm run test:trainers.

import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { PYTHON } from '../support/needs.ts';
import { noCounts } from '../../domain/run/progress.ts';
import { openFileStore } from '../../records/file-store.ts';
import { someRun } from '../formats/exports/some-run.ts';
import { RUN } from '../records/play.ts';
import { scratchFolder } from '../support/scratch-folder.ts';

const folder = scratchFolder();
const PACKAGE = {
  ...process.env,
  PYTHONPATH: join(import.meta.dirname, '../../python'),
  EVERTURN_HOME: join(folder, '.home'),
  EVERTURN_TEST_RUNS: join(folder, 'runs'),
  EVERTURN_TEST_COMMAND: JSON.stringify([process.execPath, join(import.meta.dirname, '../../dist/cli/index.js')]),
};
beforeAll(async () => {
  const store = openFileStore(join(folder, 'runs'), RUN);
  await someRun(store);
  await store.put('result', null, { run: RUN, total: 13, cancelled: false, numTurns: 3, counts: noCounts() });
});
const SKIPPED = 'The Python package is not tested: there is no python3 (EVERTURN_TEST_PYTHON can name one)';

const PROMISES = [
  ['the client of the feed repeats what was lost under one request id, and no refusal', 'feed_client_test.py', 22],
  ['an agent’s program gives rewards to its calls, and says which are trained', 'agents_test.py', 3],
  ['runs are read, measured, exported and proved by one process in lines of JSON', 'run_test.py', 8],
  ['logprobs over kept sets are those by hand, with torch', 'kept_test.py', 2],
  ['the experts of a row are one array over its tokens, from its files and from a feed', 'experts_test.py', 3],
  ['every adapter of rows keeps what its trainer checks', 'rows_test.py', 14],
  ['the package leases ahead, renews and serves every rank', 'package_test.py', 10],
  [
    'the drop-in classes take steps as TRL, SkyRL, slime, verl, OpenRLHF and AReaL ask for them',
    'integrations_test.py',
    9,
  ],
  [
    'the surviving line of a log holds what the last checkpoint holds, and is compared with the ledger',
    'surviving_test.py',
    9,
  ],
  [
    'rows become the files of verifiers, NeMo-Gym, tinker and prime-rl, with the recorded values',
    'exports_test.py',
    16,
  ],
  [
    'the pusher to AReaL sends the bytes of its own, and has every sample trained once, whoever is killed',
    'areal_push_test.py',
    7,
  ],
  [
    'the feeder of prime-rl has every group trained once, in the step of the ledger, whoever is killed',
    'prime_rl_feed_test.py',
    3,
  ],
] as const;

describe('the package everturn and examples/train in plain Python', () => {
  test.for(PROMISES)('%s', { timeout: 120_000 }, ([, file, tests], context) => {
    if (!PYTHON) {
      console.warn(SKIPPED);
      return context.skip(SKIPPED);
    }
    const { status, stderr } = spawnSync(PYTHON, [join(import.meta.dirname, file)], { encoding: 'utf8', env: PACKAGE });
    const ran = new RegExp(`Ran ${tests} tests[\\s\\S]*\\nOK`);
    expect({ status, stderr }).toEqual({ status: 0, stderr: expect.stringMatching(ran) });
  });
});
